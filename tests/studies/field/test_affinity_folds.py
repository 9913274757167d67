"""What is chosen on a published fold, and what of it leaks."""

import numpy as np
import pytest

from kronbench.datasets import Dataset, PublishedFold
from kronbench_suite.studies.field.measure import affinity_folds

SPEC = {
    "seed": 3,
    "folds": ["small-1"],
    "kernels": {
        "small": {
            "arrays": {"D": "drug_similarity", "T": "target_similarity"},
            "drugs": ["D"],
            "targets": ["T"],
            "effects": [[0.0, 0.0], [0.1, 0.1]],
        }
    },
    "dtypes": {},
    "regs": [0.05, 0.5, 5.0],
    "max_iter": 500,
    "methods": {
        "KronRidge": {"model": "ridge"},
        "far": {"model": "ridge", "without_near": True},
    },
    "repeated": ["KronRidge"],
    "by_leak": ["KronRidge"],
}


@pytest.fixture
def small(monkeypatch):
    """Complete data of 14 x 18 vertices, and a fold of it: five parts to train, one to test."""
    rng = np.random.default_rng(5)
    D, T = rng.normal(size=(14, 4)), rng.normal(size=(18, 4))
    D = np.round(D, 2)
    D[13] = D[0]  # a twin
    arrays = {
        "values": D @ T.T,
        "drug_similarity": np.round(D @ D.T, 6),
        "target_similarity": T @ T.T,
    }
    rows, cols = np.divmod(np.arange(14 * 18), 18)
    test, rest = np.flatnonzero(rows > 11), rng.permutation(12 * 18)
    parts = tuple(map(np.sort, np.array_split(rest, 5)))
    fold = PublishedFold(
        "small", "small-2", "small", "B", rows, cols, parts, test, "generated", 1.0
    )
    monkeypatch.setattr(affinity_folds, "folds", lambda name, fold_name, data: fold)
    data = Dataset("small", "generated", "label matrix", arrays)
    return data, fold, affinity_folds.run(SPEC, data, None)


def test_ridge_regression_is_the_dense_one_at_the_best_weight_and_effects(small):
    data, fold, frame = small
    y = data["values"][fold.rows, fold.cols]

    def error(effect, reg, train, test):
        D, T = (
            S / np.diag(S).mean() + effect * np.eye(len(S))
            for S in (data["drug_similarity"], data["target_similarity"])
        )
        K = D[np.ix_(fold.rows, fold.rows)] * T[np.ix_(fold.cols, fold.cols)]
        ridge, mean = K[np.ix_(train, train)] + reg * np.eye(len(train)), y[train].mean()
        dual = np.linalg.solve(ridge, y[train] - mean)
        return np.mean((K[np.ix_(test, train)] @ dual + mean - y[test]) ** 2)

    rest, validation = np.concatenate(fold.parts[1:]), fold.parts[0]
    errors = {(a, b): error(a, b, rest, validation) for a in (0, 0.1) for b in SPEC["regs"]}
    best = min(errors, key=errors.get)
    rows = frame[(frame["method"] == "KronRidge") & (frame["pairs"] == "all")]
    assert (rows[["row_effect", "col_effect", "reg"]] == [best[0], *best]).all(axis=None)
    rows = rows.set_index("trained_on")
    assert len(rows) == 6
    assert rows["validation_mse"].iloc[0] == pytest.approx(errors[best], rel=1e-3)
    for name, train in (("all parts", np.concatenate(fold.parts)), ("without part 1", rest)):
        assert rows.loc[name, "mse"] == pytest.approx(error(*best, train, fold.test), rel=1e-2)


def test_a_twin_of_a_training_vertex_is_told_and_left_out(small):
    frame = small[-1]
    rows = frame[frame["method"] == "KronRidge"].set_index("pairs")
    assert rows["n"].loc["twin"] == 18  # all pairs of drug 13
    assert rows.loc["twin", ["new_vertices", "with_twin"]].tolist() == [2, 1]
    assert rows["n"].iloc[1:4].sum() == rows["n"].iloc[0] == 36
    far = frame[frame["method"] == "far"].iloc[0]
    assert far["n_train"] == (12 - 1) * 18
