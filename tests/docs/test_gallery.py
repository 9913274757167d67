"""Each example of the gallery runs, draws one picture, and is in the notebook that it has."""

import json
import runpy

import numpy as np
import pytest
from PIL import Image

from tests.docs.pages import DOCS

NAMES = sorted(path.stem for path in (DOCS / "gallery").glob("*.py"))


@pytest.fixture
def docs(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    return runpy.run_path(str(DOCS / "notebook.py"))


def test_every_script_is_in_the_gallery(docs):
    assert sorted(docs["examples"].ORDER) == NAMES
    assert len(NAMES) == 8


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_short_and_draws_a_picture(name, docs, tmp_path):
    _, text, code = docs["examples"].parts(name)
    assert sum(bool(line.strip()) for line in code.splitlines()) <= 30
    assert "made up" in text or "SURROGATE DATA" in code
    picture = docs["examples"].draw(name, tmp_path)
    assert [*tmp_path.iterdir()] == [picture]
    assert np.ptp(np.asarray(Image.open(picture).convert("L"))) > 200


def test_a_notebook_has_its_script_and_a_picture(docs):
    for name in docs["examples"].NOTEBOOKS:
        path = DOCS / "gallery" / f"{name}.ipynb"
        kept = json.loads(path.read_text(encoding="utf-8"))
        assert kept["cells"][-1]["outputs"].pop()["data"]["image/png"]
        assert kept == json.loads(docs["of_example"](name)), "write it: python docs/notebook.py"
