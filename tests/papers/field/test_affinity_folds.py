"""Machines that separate the positives of a published fold, and when LibSVM is left out."""

from itertools import product

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.metrics import average_precision_score
from sklearn.svm import SVC

from kronbench.datasets import Dataset, PublishedFold
from kronbench.papers.field.measure import affinity_folds

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
    "regs": [0.01, 0.1, 1.0],
    "class_regs": {"small": [0.05, 0.5, 5.0]},
    "libsvm_pairs": 210,
    "max_iter": 50,
    "methods": {
        "KronRidge": {"model": "ridge"},
        "KronSVM": {"model": "svm"},
        "KronRidge on classes": {"model": "ridge of classes"},
        "LibSVM": {
            "model": "libsvm",
            "regs": [0.1, 1.0, 10.0],
            "gammas": [0.1, 0.5],
        },
    },
    "repeated": [],
    "by_leak": [],
}


@pytest.fixture
def small(monkeypatch):
    """Complete data of 14 x 18 vertices, and a fold of it: five parts to train, one to test."""
    rng = np.random.default_rng(5)
    D, T = rng.normal(size=(14, 4)), rng.normal(size=(18, 4))
    arrays = {"values": D @ T.T, "drug_similarity": D @ D.T, "target_similarity": T @ T.T}
    rows, cols = np.divmod(np.arange(14 * 18), 18)
    *parts, test = (np.sort(part) for part in np.split(rng.permutation(14 * 18), 6))
    fold = PublishedFold(
        "small", "small-1", "small", "A", rows, cols, tuple(parts), test, "generated", 1.0
    )
    monkeypatch.setattr(affinity_folds, "folds", lambda name, fold_name, data: fold)
    return Dataset("small", "generated", "label matrix", arrays), fold


def of_method(frame, method):
    (row,) = frame[frame["method"] == method].to_dict("records")
    return row


def check_choice(row, fold, found, candidates, tolerance):
    """The score of what was chosen, which is the best of all candidates without a part."""
    chosen = tuple(row[name] for name in ("reg", "gamma"))[: len(candidates[0])]
    assert row["aupr"] == pytest.approx(found(*chosen, fold.train, fold.test), abs=tolerance)
    assert np.isnan(row["mse"])
    train, validation = np.concatenate(fold.parts[1:]), fold.parts[0]
    best = max(found(*each, train, validation) for each in candidates)
    assert found(*chosen, train, validation) == pytest.approx(best, abs=tolerance)


def test_libsvm_is_that_of_another_library_at_what_it_chose(small):
    data, fold = small
    row = of_method(affinity_folds.run(SPEC, data, None), "LibSVM")
    X = np.hstack(
        [
            affinity_folds.spread_rows(S / np.diag(S).mean())[index]
            for S, index in (
                (data["drug_similarity"], fold.rows),
                (data["target_similarity"], fold.cols),
            )
        ]
    )
    y = data["values"][fold.rows, fold.cols] > fold.positive_above

    def found(reg, gamma, train, test):
        machine = SVC(C=1 / reg, gamma=gamma).fit(X[train], y[train])
        return average_precision_score(y[test], machine.decision_function(X[test]))

    entry = SPEC["methods"]["LibSVM"]
    check_choice(row, fold, found, list(product(entry["regs"], entry["gammas"])), 0.01)


def test_ridge_on_classes_is_the_dense_machine_at_the_best_weight(small):
    data, fold = small
    frame = affinity_folds.run(SPEC, data, None)
    assert set(frame["method"]) == set(SPEC["methods"])
    assert of_method(frame, "KronSVM")["reg"] in SPEC["class_regs"]["small"]
    row = of_method(frame, "KronRidge on classes")
    D, T = (
        S / np.diag(S).mean() + effect * np.eye(len(S))
        for S, effect in (
            (data["drug_similarity"], row["row_effect"]),
            (data["target_similarity"], row["col_effect"]),
        )
    )
    K = D[np.ix_(fold.rows, fold.rows)] * T[np.ix_(fold.cols, fold.cols)]
    positive = data["values"][fold.rows, fold.cols] > fold.positive_above
    labels = np.where(positive, 1.0, -1.0)

    def found(reg, train, test):
        dual = np.linalg.solve(K[np.ix_(train, train)] + reg * np.eye(len(train)), labels[train])
        return average_precision_score(positive[test], K[np.ix_(test, train)] @ dual)

    check_choice(row, fold, found, [(reg,) for reg in SPEC["class_regs"]["small"]], 0.005)


def test_libsvm_is_left_out_where_the_pairs_are_too_many(small):
    frame = affinity_folds.run(SPEC | {"libsvm_pairs": 209}, small[0], None)
    assert set(frame["method"]) == set(SPEC["methods"]) - {"LibSVM"}
    (reason,) = frame.attrs["skipped"]
    assert reason.startswith(
        "small, setting 1: LibSVM would take too long from 210 training pairs"
    )


def test_rows_of_a_kernel_have_distances_about_one():
    A = np.random.default_rng(0).normal(size=(9, 30))
    distances = pdist(affinity_folds.spread_rows(A @ A.T), "sqeuclidean")
    assert distances.mean() == pytest.approx(1, rel=1e-12)
