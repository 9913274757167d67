"""Fingerprints from files, through the commands: fitted, kept sparse, and predicted."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from kronbench.datasets.pair_tables import read_own_pairs
from kronbench.evaluation import SimilarityKFold
from kronbench.linalg import gram
from kronbench.own_pairs import model_file
from kronbench.pairs import sparse_design
from tests.own_pairs.problem import arguments, fit, predict, run, tables
from tests.own_pairs.test_bad_input import npy, refused, rewritten


@pytest.fixture
def folder(tmp_path):
    """The tables of the problem, with the drugs as fingerprints of 64 bits in two files."""
    _, drugs, _ = tables(tmp_path)
    bits = np.random.default_rng(0).random((len(drugs), 64)) < 0.3
    bits[0, 63] = True
    written = {
        "fp_bits": ["".join(map(str, row.astype(int))) for row in bits],
        "fp_hex": [np.packbits(row, bitorder="little").tobytes().hex() for row in bits],
    }
    for name, cells in written.items():
        frame = pd.DataFrame({"drug": drugs["drug"], name: cells})
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


def fitted(folder, capsys, kind, *options):
    return fit(capsys, folder, "KronRidge", *options, rows=folder / f"{kind}.csv")


def predictions(capsys, model, *options):
    return predict(capsys, model, "pairs.csv", *options)["prediction"].to_numpy()


def test_bits_of_a_linear_kernel_are_columns_of_zeros_and_ones(folder, capsys, monkeypatch):
    bits = pd.read_csv(folder / "fp_bits.csv", dtype=str)
    columns = pd.DataFrame([list(map(int, text)) for text in bits["fp_bits"]]).add_prefix("bit")
    columns.insert(0, "drug", bits["drug"])
    columns.to_csv(folder / "columns.csv", index=False)
    options = "--select", "--set", "form=primal", "--set", "row_kernel=linear"
    expected = predictions(capsys, fitted(folder, capsys, "columns", *options))
    monkeypatch.setattr(sparse_design, "LIST_OPERATION", 0)
    model = fitted(folder, capsys, "fp_bits", *options)
    fit = model_file.load_model(model).fitted.estimator
    assert sparse.issparse(fit.X_fit_.row_features)
    assert not hasattr(fit, "dual_coef_")
    np.testing.assert_allclose(predictions(capsys, model), expected, rtol=1e-6)


def test_a_model_of_landmarks_is_kept_and_predicts_new_compounds(folder, capsys):
    options = "--select", "--set", "form=primal", "--set", "row_landmarks=6"
    model = fitted(folder, capsys, "fp_hex", *options)
    kept = model_file.load_model(model)
    assert "row_landmarks=6" in str(kept.recipe)
    # A file from before a parameter was there has its default.
    for state in (vars(kept.fitted.estimator), kept.fitted.estimator.fitted_params_):
        assert state.pop("col_landmarks", "absent") is None
    model_file.save_model(kept, model)
    np.testing.assert_array_equal(
        predictions(capsys, model, "--rows", folder / "fp_bits.csv"), predictions(capsys, model)
    )


def test_a_model_of_fingerprints_is_kept_sparse_and_predicts_as_that_of_their_kernel(
    folder, capsys
):
    bits = pd.read_csv(folder / "fp_bits.csv", dtype=str)
    B = np.array([list(map(int, text)) for text in bits["fp_bits"]])
    common = B @ B.T
    K = common / (B.sum(1)[:, None] + B.sum(1) - common)
    kernel = pd.DataFrame(K, columns=bits["drug"])
    kernel.insert(0, "drug", bits["drug"])
    kernel.to_csv(folder / "kernel.csv", index=False)
    expected = predictions(capsys, fitted(folder, capsys, "kernel", "--select", "--scale"))
    # the default, of each way of writing them
    for kind, options in (("fp_hex", ["--set", "row_kernel=tanimoto"]), ("fp_bits", [])):
        model = fitted(folder, capsys, kind, "--select", "--scale", *options)
        assert sparse.issparse(model_file.load_model(model).data.row_features)
        np.testing.assert_allclose(predictions(capsys, model), expected, rtol=1e-6)


def test_new_compounds_come_with_their_own_bits(folder, capsys):
    model = fitted(folder, capsys, "fp_hex")
    old = predictions(capsys, model)
    again = predictions(capsys, model, "--rows", folder / "fp_bits.csv")
    np.testing.assert_array_equal(again, old)
    (folder / "new.csv").write_text(f"drug,fp_bits\nNEW,011{'0' * 61}\n")
    (folder / "asked.csv").write_text("drug,target\nNEW,01\n")
    predict(capsys, model, "asked.csv", "--rows", folder / "new.csv")
    argv = ["predict", model, "--pairs", folder / "asked.csv", "-o", folder / "p.csv"]
    for content, sentence in (
        ("drug,fp_hex\nNEW,ff\n", "fingerprints of 8 bits, but the model was fitted with 64"),
        (f"drug,fp_bits\nNEW,{'01' * 64}\n", "fingerprints of 128 bits"),
        ("drug,mass\nNEW,1\n", "has numbers, but the model was fitted with fingerprints"),
    ):
        (folder / "new.csv").write_text(content)
        refused(capsys, folder, sentence, *argv, "--rows", folder / "new.csv")


@pytest.mark.parametrize("part", ["indices", "indptr"])
def test_a_sparse_matrix_whose_arrays_do_not_fit_is_no_model(folder, capsys, part):
    model = fitted(folder, capsys, "fp_bits")

    def change(members):
        parts = json.loads(members["model.json"])["data"]["row_features"]["csr"]
        name = parts[["data", "indices", "indptr"].index(part)]["file"]
        values = np.load(io.BytesIO(members[name]))
        values[-1] += 1000
        members[name] = npy(values)

    model.write_bytes(rewritten(model.read_bytes(), change))
    argv = ["predict", model, "--pairs", folder / "pairs.csv", "-o", folder / "p.csv"]
    refused(capsys, folder, "not a complete model", *argv)


def test_evaluate_keeps_similar_compounds_together(folder, capsys):
    argv = ["evaluate", *arguments(folder, rows=folder / "fp_bits.csv"), "--solver", "KronRidge"]
    options = "--splits", 2, "--repeats", 2, "--similarity", 0.25
    status, out, _ = run(capsys, *argv, *options, "--setting", "all", "--json")
    assert status == 0
    entries = {entry["setting"]: entry for entry in json.loads(out)["settings"]}
    assert entries["A"]["leaks"] == {}
    assert "cols.csv has features" in entries["C"]["reason"]
    own = read_own_pairs(*(folder / f"{name}.csv" for name in ("pairs", "fp_bits", "cols")))
    splitter = SimilarityKFold(0.25, "rows", 2, 2, row_kernel="tanimoto", random_state=0)
    leak = splitter.leak(own.data)["rows"]
    assert 2 < leak.clusters < leak.vertices
    assert entries["B"]["leaks"] == {"rows": leak._asdict()}
    S = gram(own.data.row_features, kernel="tanimoto")
    left = [
        S[np.ix_(np.unique(own.data.rows[test]), np.unique(own.data.rows[train]))].max()
        for train, test in splitter.split(own.data)
    ]
    assert leak.largest == pytest.approx(max(left))
    _, out, _ = run(capsys, *argv, *options, "--setting", "B")
    assert f"B: 14 rows in {leak.clusters} clusters at similarity 0.25" in out
    status, _, err = run(capsys, *argv, *options, "--setting", "A")
    assert (status, "give setting B, C or D" in err) == (2, True)
