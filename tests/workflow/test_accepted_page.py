"""The page of the accepted smoke run, drawn in a fresh checkout by the program of today."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kronbench.runner.items import load_plan
from tests.helpers import merged

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.workflow
PLAN = load_plan(merged("smoke"))


def test_the_accepted_smoke_run_is_drawn_without_data(tmp_path):
    """Two papers, since the smoke run draws every item."""
    if not any((ROOT / PLAN.accepted).glob("*/tables")):
        pytest.skip("no smoke run was accepted with its tables")
    papers = ("bach", "stock")
    folder = tmp_path / PLAN.accepted
    folder.mkdir(parents=True)
    for name in (*papers, "items.json", "machine.json", "verdicts.csv"):
        (folder / name).symlink_to(ROOT / PLAN.accepted / name)
    run = subprocess.run(
        [sys.executable, "-m", "kronbench", "page", "--scale", "smoke"],
        cwd=tmp_path,
        env={**os.environ, "KRONBENCH_MIRROR": "", "KRONBENCH_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr
    drawn = [item for item in PLAN.items if item.paper in papers]
    assert f"{len(drawn)} items rendered at scale 'smoke'" in run.stdout
    assert "nothing was measured here" in run.stdout
    assert (tmp_path / "results/accepted-smoke/report/index.html").exists()
    assert not (tmp_path / "cache").exists()
