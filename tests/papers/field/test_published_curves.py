import numpy as np
import pytest

from kronbench.datasets import Dataset
from kronbench.evaluation import roc_auc, shuffle_split
from kronbench.linalg import gram
from kronbench.models import KronRidge
from kronbench.pairs import PairData
from kronbench_suite.papers.field.measure import published_curves

SPEC = {
    "kernel": "Gaussian",
    "gamma": 0.05,
    "reg": 1e-3,
    "iterations": {"Kronecker": 8, "Linear": 8, "Poly2D": 8, "Cartesian": 8},
    "settings": ["setting 1", "setting 2", "setting 3", "setting 4"],
    "second_order": ["Kronecker"],
    "inner": [],
    "random_state": 1,
    "stated": None,
    "stated_iterations": 2,
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    D, T = rng.normal(size=(40, 40)), rng.normal(size=(25, 25))
    labels = np.sign(rng.normal(size=(40, 25))).astype(np.int8)
    labels[rng.random(labels.shape) < 0.5] = 0
    arrays = {"labels": labels, "drug_similarity": D, "target_similarity": T}
    arrays["printed_test"] = arrays["printed_train"] = rng.random((2, 4, 4, 8))
    return Dataset("small", "generated", "label matrix", arrays)


@pytest.fixture(scope="module")
def frame(data):
    return published_curves.run(SPEC, data, None)


def the_pairs(data):
    known = np.flatnonzero(data["labels"])
    rows, cols = np.divmod(known, 25)
    X = PairData(data["drug_similarity"], data["target_similarity"], rows, cols)
    return X, data["labels"].ravel()[known].astype(float)


@pytest.mark.parametrize("setting", SPEC["settings"])
@pytest.mark.parametrize("pairwise", SPEC["iterations"])
def test_curves_are_those_of_kron_ridge(data, frame, setting, pairwise):
    X, y = the_pairs(data)
    train, test = shuffle_split(X, *published_curves._SPLITS[setting], 1)
    model = KronRidge(
        reg=1e-3, pairwise=pairwise.lower(), row_kernel="gaussian", col_kernel="gaussian",
        row_gamma=0.05, col_gamma=0.05, max_iter=8, tol=1e-20,
    )  # fmt: skip
    predict, areas = model.prediction_operator(X[train], X[test]), []
    model.fit(
        X[train],
        y[train],
        callback=lambda state: areas.append(roc_auc(y[test], predict.matvec(state.coef))),
    )
    ours = frame[(frame["pairwise"] == pairwise) & (frame["setting"] == setting)]
    np.testing.assert_allclose(ours["auc"], areas, atol=2e-3)
    # the reverse order is the same problem
    assert (ours["band"] < 2e-3).all() == (pairwise in SPEC["second_order"])


def test_renumbered_identities_are_those_of_the_published_program(data, frame):
    """With n x d "identities" between the vertices that occur in the test and training sets."""
    X, y = the_pairs(data)
    train, test = shuffle_split(X, *published_curves._SPLITS["setting 3"], 1)
    K, G = (gram(F, kernel="gaussian", gamma=0.05) for F in (X.row_features, X.col_features))

    def matrix(out, in_):
        (rows, r), (cols, c) = (np.unique(s[out], return_inverse=True) for s in (X.rows, X.cols))
        (old_rows, i), (old_cols, j) = (
            np.unique(s[in_], return_inverse=True) for s in (X.rows, X.cols)
        )
        same_row, same_col = np.eye(len(rows), len(old_rows)), np.eye(len(cols), len(old_cols))
        of_rows = K[np.ix_(rows, old_rows)][np.ix_(r, i)] * same_col[np.ix_(c, j)]
        return of_rows + G[np.ix_(cols, old_cols)][np.ix_(c, j)] * same_row[np.ix_(r, i)]

    Q, b = matrix(train, train), y[train]
    residual = Q @ b  # MINRES's first iterate is a multiple of the labels
    step = (residual + 1e-3 * b) @ b / ((residual + 1e-3 * b) @ (residual + 1e-3 * b))
    area = roc_auc(y[test], matrix(test, train) @ (step * b))
    ours = frame[
        (frame["pairwise"] == "Cartesian, renumbered")
        & (frame["setting"] == "setting 3")
        & (frame["iteration"] == 1)
    ]
    assert ours["auc"].item() == pytest.approx(area, abs=1e-12)
    right = frame[(frame["pairwise"] == "Cartesian") & (frame["setting"] == "setting 3")]
    assert abs(right["auc"].iloc[0] - area) > 1e-3
