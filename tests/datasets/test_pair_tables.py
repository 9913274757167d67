"""A private data set of three tables: by name, beside its registry, each fault one sentence."""

import numpy as np
import pytest
import yaml

from kronbench import InputError, datasets
from kronbench.datasets.drug_target import labelled_pairs
from kronbench_suite.cli import main
from tests.own_pairs.problem import run, tables

ENTRY = {
    "title": "My pairs",
    "loader": "pairs",
    "licence": "mine",
    "citation": "nobody",
    "files": {name: {"mirror": f"my/{name}.csv"} for name in ("pairs", "rows", "cols")},
}


@pytest.fixture
def registry(tmp_path, monkeypatch):
    """A registry with one entry, its tables in a folder beside it; how to change the entry."""
    monkeypatch.delenv("KRONBENCH_MIRROR", raising=False)
    monkeypatch.setenv("KRONBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("KRONBENCH_REGISTRY", str(tmp_path / "registry.yaml"))
    (tmp_path / "my").mkdir()
    frames = tables(tmp_path / "my")

    def write(**changes):
        (tmp_path / "registry.yaml").write_text(yaml.safe_dump({"Mine": {**ENTRY, **changes}}))

    write()
    return tmp_path, frames, write


def test_it_is_loaded_by_name_as_its_tables_say(registry, monkeypatch):
    _, (pairs, drugs, targets), _ = registry
    monkeypatch.chdir("/")  # paths are those beside the registry
    data = datasets.load("mine")
    assert (data.source, data.kind) == ("own", "labelled pairs")
    X, y = labelled_pairs(data, fraction=0.25)  # of one's own pairs all are kept
    assert len(X) == len(pairs)
    assert y.tolist() == np.where(pairs["active"] == 1, 1.0, -1.0).tolist()
    for k in (0, 57):
        drug = drugs.set_index("drug").loc[pairs["drug"][k]]
        target = targets.set_index("target").loc[pairs["target"][k]]
        np.testing.assert_array_equal(X.row_features[X.rows[k]], drug)
        np.testing.assert_array_equal(X.col_features[X.cols[k]], target)


def test_numbers_become_labels_by_a_threshold(registry):
    folder, _, write = registry
    pairs, _, _ = tables(folder / "my", real=True)
    with pytest.raises(InputError, match="different labels in 'active': give two, or the option"):
        datasets.load("Mine")
    write(options={"at_least": 7.0, "label": "active"})
    data = datasets.load("Mine")
    assert (data["labels"] == np.where(pairs["active"] >= 7, 1, -1)).all()
    write(options={"at_least": 1e9})
    with pytest.raises(InputError, match="no label on one side of at_least=1e\\+09"):
        datasets.load("Mine")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda folder, write: (folder / "my/rows.csv").unlink(), "has no file {folder}/my/rows"),
        (
            lambda folder, write: write(files={k: ENTRY["files"][k] for k in ("pairs", "cols")}),
            "these are registered: cols, pairs",
        ),
        (lambda folder, write: write(options={"labels": "x"}), "options do not fit 'pairs'"),
        (
            lambda folder, write: (folder / "my/pairs.csv").write_text("drug,target\nD01,01\n"),
            "no column of labels",
        ),
        (lambda folder, write: (folder / "my/pairs.csv").rename(folder / "my/pairs.csv.gz"), "no"),
    ],
)
def test_each_fault_is_one_sentence(registry, capsys, change, sentence):
    folder, _, write = registry
    change(folder, write)
    for argv in (["data", "fetch", "Mine"], ["data", "fetch", "Mine", "--policy", "real"]):
        status, out, err = run(capsys, *argv)
        assert (status, out) == (2, "")
        assert sentence.format(folder=folder) in err
        assert err.count("\n") == 1


def test_it_is_evaluated_by_name(registry, capsys):
    folder, _, _ = registry
    options = ["--solver", "KronRidge", "--setting", "A", "--repeats", "1"]
    _, named, _ = run(capsys, "evaluate", "--data", "Mine", *options)
    given = [f"--{name}={folder}/my/{name}.csv" for name in ("pairs", "rows", "cols")]
    _, spelt, _ = run(capsys, "evaluate", *given, *options)
    assert named == spelt != ""
    assert main(["evaluate", "--data", "Mine", given[0], *options]) == 2
    assert "leave out --pairs" in capsys.readouterr().err
    assert main(["evaluate", "--data", "GPCR", *options]) == 2
    assert "its loader is not 'pairs'" in capsys.readouterr().err
    assert main(["evaluate", given[0], *options]) == 2
    assert "--rows and --cols missing" in capsys.readouterr().err
