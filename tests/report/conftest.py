import pytest

from kronbench_suite.runner.plans import load_plan
from tests.helpers import merged


@pytest.fixture
def plan(tmp_path, monkeypatch):
    """The smoke scale, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return load_plan(merged("smoke"))
