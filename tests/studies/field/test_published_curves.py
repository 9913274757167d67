import numpy as np
import pytest

from kronbench.datasets import Dataset
from kronbench.evaluation import roc_auc, shuffle_split
from kronbench.linalg import gram
from kronbench.models import KronRidge
from kronbench.pairs import PairData
from kronbench_suite.studies.field.measure import published_curves

SPEC = {
    "kernel": "Gaussian",
    "gamma": 0.05,
    "reg": 1e-3,
    "iterations": {"Kronecker": 8, "Linear": 8, "Poly2D": 8, "Cartesian": 8},
    "settings": ["setting 1", "setting 2", "setting 3", "setting 4"],
    "other_orders": {"Kronecker": 2},
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
    # the other orders are of the same problem
    assert (ours["band"] < 2e-3).all() == (pairwise in SPEC["other_orders"])


def test_the_band_is_the_largest_distance_between_two_of_all_orders(data, monkeypatch):
    orders = []

    class Curve:
        """A curve whose AUC tells which order it is of."""

        def __init__(self, pairwise, X, y, train, test, reg, iterations):
            self.place = len(orders)
            orders.append([X.row_features[X.rows[test]].tolist(), y[test].tolist()])

        def test_auc(self):
            return np.array([0.5, 0.6, 0.45])[self.place % 3] * np.ones(4)

    monkeypatch.setattr(published_curves, "_Curve", Curve)
    spec = SPEC | {"iterations": {"Kronecker": 4}, "settings": ["setting 3"]}
    frame = published_curves.run(spec, data, None)
    np.testing.assert_allclose(frame["auc_reversed"], 0.6)
    np.testing.assert_allclose(frame["band"], 0.15)
    # each order has its own sequence of test pairs, of which it is the only difference
    (first, y), *others = orders
    assert len(others) == 2
    for features, labels in others:
        assert labels != y
        assert sorted(labels) == sorted(y)
        assert features != first
        assert sorted(map(sorted, features)) == sorted(map(sorted, first))


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
