"""What features made of texts cost: kernels, choice and resamples, on data of a few vertices."""

import numpy as np
import pytest

from kronbench.datasets import Dataset, PublishedFold
from kronbench.linalg import gram
from kronbench.models import KmerSpectrum, MorganFingerprints
from kronbench_suite.studies.field.measure import made_features

pytest.importorskip("rdkit.Chem", reason="rdkit, of the extra chem, is not installed")

SPEC = {
    "seed": 3,
    "fold_names": ["small-1"],
    "effects": [[0.0, 0.0], [0.2, 0.1]],
    "regs": [0.05, 0.5, 5.0],
    "max_iter": 200,
    "resamples": 8,
}
SMILES = np.array([f"{a}C{b}" for a in ("C", "OC", "NC") for b in ("C", "O", "CN", "C(=O)O")])


def measured(monkeypatch, setting, n_new, **other):
    """Rows by kernels, 12 molecules and 9 sequences; the last ``n_new`` units test."""
    rng = np.random.default_rng(5)
    sequences = np.array(["".join(rng.choice([*"ACDE"], 40)) for _ in range(9)])
    D = gram(MorganFingerprints().transform(SMILES), kernel="tanimoto")
    T = np.cov(rng.normal(size=(9, 30)))
    texts = {"row_texts": SMILES, "col_texts": sequences} | other
    values = D @ rng.normal(size=(12, 9)) @ T + 0.1 * rng.normal(size=(12, 9))
    arrays = {"values": values, "drug_similarity": D, "target_similarity": T} | texts
    rows, cols = np.divmod(np.arange(108), 9)
    of = {"A": rng.permutation(108), "C": cols}[setting]
    test, rest = np.flatnonzero(of > of.max() - n_new), np.flatnonzero(of <= of.max() - n_new)
    fold = PublishedFold(
        *("small", "small-1", "small", setting, rows, cols),
        *(tuple(np.array_split(rng.permutation(rest), 5)), test, "generated", None),
    )
    monkeypatch.setattr(made_features, "folds", lambda name, fold_name, data: fold)
    arrays = {name: array for name, array in arrays.items() if array is not None}
    data = Dataset("small", "generated", "label matrix", arrays)
    frame = made_features.run(SPEC, data, None)
    return data, fold, frame.set_index(["molecules", "targets"]).sort_index(), frame.attrs


def test_texts_become_the_kernels_of_a_dense_ridge_regression_at_the_best_choice(monkeypatch):
    data, fold, found, _ = measured(monkeypatch, "A", 20)
    y, D = data["values"][fold.rows, fold.cols], data["drug_similarity"]
    T = gram(KmerSpectrum().transform(data["col_texts"]), kernel="linear")

    def error(effects, reg, train, test):
        K = (D + effects[0] * np.eye(12))[np.ix_(fold.rows, fold.rows)]
        K = K * (T + effects[1] * np.eye(9))[np.ix_(fold.cols, fold.cols)]
        ridge, mean = K[np.ix_(train, train)] + reg * np.eye(len(train)), y[train].mean()
        dual = np.linalg.solve(ridge, y[train] - mean)
        return np.mean((K[np.ix_(test, train)] @ dual + mean - y[test]) ** 2)

    rest, validation = np.concatenate(fold.parts[1:]), fold.parts[0]
    points = [(tuple(effects), reg) for effects in SPEC["effects"] for reg in SPEC["regs"]]
    best = min(points, key=lambda point: error(*point, rest, validation))
    row = found.loc["SMILES", "sequences"]
    assert row[["row_effect", "col_effect", "reg"]].tolist() == [*best[0], best[1]]
    assert row["mse"] == pytest.approx(error(*best, fold.train, fold.test), rel=1e-3)
    # The given matrix of the molecules is what their SMILES become, that of the targets is not.
    assert found["cost"]["SMILES", "given matrix"] == pytest.approx(0, abs=1e-3)
    lost = found["ci"]["given matrix", "given matrix"] - row["ci"]
    assert row["cost"] == pytest.approx(lost) != pytest.approx(0, abs=0.01)
    assert row["cost_low"] < lost < row["cost_high"]


def test_a_new_vertex_is_resampled_with_all_its_pairs(monkeypatch):
    halves = measured(monkeypatch, "C", 1)[2].filter(like="_half")
    assert (halves == 0).all(axis=None)
    assert (measured(monkeypatch, "C", 3)[2]["mse_half"] > 0).all()


def test_data_without_texts_have_the_given_matrices_alone(monkeypatch):
    *_, found, attrs = measured(monkeypatch, "A", 20, row_texts=None, col_texts=None)
    assert found.index.tolist() == [("given matrix", "given matrix")]
    assert attrs["skipped"] == ["small: these data have no SMILES and no sequences"]
