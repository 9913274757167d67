"""docs/own-solver.md: its class keeps the contract, its commands print what is shown."""

import numpy as np
import pandas as pd
import pytest
import yaml

from kronbench import PairData, datasets
from kronbench.cli import main
from kronbench.reference.run_with import outside_of_file
from tests.docs.pages import DOCS, ROOT, texts
from tests.docs.run_blocks import run_console

PAGE = DOCS / "own-solver.md"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder as the text makes it."""
    (tmp_path / "my_solver.py").write_text(texts(PAGE, "python")[0])
    for name, text in zip(("registry", "mine"), texts(PAGE, "yaml"), strict=True):
        (tmp_path / f"{name}.yaml").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("KRONBENCH_REGISTRY", str(tmp_path / "registry.yaml"))
    monkeypatch.chdir(ROOT)
    return tmp_path


def test_the_commands_print_what_is_shown(folder):
    shown = texts(PAGE, "console")
    assert len(shown) == 2
    for block in shown:
        run_console(ROOT, block.replace("FOLDER", str(folder)))


def test_its_data_set_and_its_file_are_read(folder):
    (entry,) = yaml.safe_load(texts(PAGE, "yaml")[0]).values()
    paths = {key: folder / file["mirror"] for key, file in entry["files"].items()}
    paths["pairs"].parent.mkdir()
    rng = np.random.default_rng(0)
    for key, ids in (("rows", "abcdef"), ("cols", "xyz")):
        pd.DataFrame(rng.random((len(ids), 2)), list(ids)).to_csv(paths[key])
    index = pd.MultiIndex.from_product([list("abcdef"), list("xyz")])
    values = pd.DataFrame({"assay": 1, "pKd": np.linspace(5, 9, 18)}, index)
    values.to_csv(paths["pairs"], index_label=["compound", "kinase"])
    data = datasets.load("MyAssay")
    assert data["labels"].tolist() == [-1] * 9 + [1] * 9
    found = outside_of_file(folder / "mine.yaml")
    assert (found.name, found.datasets, found.items) == (
        "mine", ("MyAssay",), (("airola", "table-6"),),
    )  # fmt: skip
    assert list(found.solvers) == ["Additive, weak", "Additive, strong"]
    assert main(["run-with", str(folder / "mine.yaml"), "--scale", "smoke", "--dry-run"]) == 0


def test_a_vertex_is_known_by_its_features():
    names = {}
    exec(texts(PAGE, "python")[1], names)
    features = np.random.default_rng(0).standard_normal((5, 2))
    known = names["places"](features)
    assert [known[x.tobytes()] for x in features[::-1]] == [4, 3, 2, 1, 0]
    assert np.ones(2).tobytes() not in known
    assert PairData.complete(features, features).row_ids is None  # only frames give names
