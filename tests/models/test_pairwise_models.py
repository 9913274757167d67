"""Models of pairwise kernels against the same models of their dense kernel matrix."""

import pickle

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from kronbench.errors import InputError
from kronbench.models import KronNewton, KronRidge, KronSVM
from kronbench.pairs import PAIRWISE, PairData
from kronbench.pairs.pairwise import OF_ONE_SET
from kronbench.solvers import scores_of
from tests.pairs.test_pairwise import dense


def data(name, seed=0, n=60):
    """Labelled pairs; those of one vertex set have the same features on both sides."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((9, 3))
    cols = rows if name in OF_ONE_SET else rng.standard_normal((8, 2))
    index = rng.integers(9, size=n), rng.integers(len(cols), size=n)
    return PairData(rows, cols, *index), np.sign(rng.standard_normal(n))


def matrix_of(name, X, Z, row_effect=0.0, col_effect=0.0):
    """Of the pairs X with the pairs Z, from linear kernels and the formula."""
    K, G = (features @ features.T for features in (X.row_features, X.col_features))
    K, G = K + row_effect * np.eye(len(K)), G + col_effect * np.eye(len(G))
    return dense(name, K, G, (X.rows, X.cols), (Z.rows, Z.cols))


@pytest.mark.parametrize("name", PAIRWISE)
@pytest.mark.parametrize(
    "model",
    [
        KronRidge(reg=0.3, tol=1e-12, max_iter=400),
        KronSVM(reg=0.3, tol=1e-12, max_iter=60, max_inner=200),
        KronNewton(reg=0.3, loss="logistic", tol=1e-12, max_iter=60, max_inner=200),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_is_that_to_the_dense_kernel_matrix(name, model):
    X, y = data(name)
    train, test = X[:45], X[45:]
    Q = matrix_of(name, X, X)
    ours = clone(model).set_params(pairwise=name).fit(train, y[:45])
    single = PairData(Q[:45, :45], np.ones((1, 1)), np.arange(45), np.zeros(45, int))
    theirs = clone(model).set_params(row_kernel="precomputed").fit(single, y[:45])
    new = PairData(Q[45:, :45], np.ones((1, 1)), np.arange(15), np.zeros(15, int))
    np.testing.assert_allclose(scores_of(ours, test), scores_of(theirs, new), rtol=1e-6, atol=1e-6)


def test_vertex_effects_are_a_multiple_of_the_identity_on_each_side():
    X, y = data("kronecker")
    train, test = X[:45], X[45:]
    model = KronRidge(reg=0.3, tol=1e-12, max_iter=400, row_effect=0.5, col_effect=2.0)
    scores = model.fit(train, y[:45]).predict(test)
    Q = matrix_of("kronecker", X, X, 0.5, 2.0)
    expected = Q[45:, :45] @ np.linalg.solve(Q[:45, :45] + 0.3 * np.eye(45), y[:45])
    np.testing.assert_allclose(scores, expected, rtol=1e-7, atol=1e-9)
    # a vertex that is the same up to its last digit has no known deviation
    others = PairData(X.row_features + 1e-15, X.col_features + 1e-15, test.rows, test.cols)
    plain = matrix_of("kronecker", X, X)[45:, :45]
    coef = np.linalg.solve(Q[:45, :45] + 0.3 * np.eye(45), y[:45])
    np.testing.assert_allclose(model.predict(others), plain @ coef, rtol=1e-7, atol=1e-9)


def rebuilt(X):
    """The pairs of X over equal features in other arrays, some of them in another order."""
    rows, cols, one_set = X.row_features, X.col_features, X.row_features is X.col_features
    order = np.random.default_rng(1).permutation(len(rows))
    moved = sparse.csr_array(rows[order])
    yield PairData(rows.copy(), cols.copy(), X.rows, X.cols)
    yield PairData(rows.tolist(), cols.tolist(), X.rows, X.cols)
    places = np.argsort(order)
    others = (moved, places[X.cols]) if one_set else (sparse.csr_array(cols), X.cols)
    yield PairData(moved, others[0], places[X.rows], others[1])
    used = np.unique(np.append(X.rows, X.cols) if one_set else X.rows)
    few = rows[used]
    others = (few, np.searchsorted(used, X.cols)) if one_set else (cols, X.cols)
    yield PairData(few, others[0], np.searchsorted(used, X.rows), others[1])


@pytest.mark.parametrize(
    "changes",
    [
        {"pairwise": "cartesian"},
        {"row_effect": 1.0, "col_effect": 0.5, "pairwise": {"kronecker": 1.0, "linear": 1.0}},
        {"row_effect": 1.0, "col_effect": 1.0, "pairwise": "symmetric"},
        {"row_effect": 1.0, "row_kernel": "gaussian", "row_gamma": 0.3, "dtype": "float32"},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "model", [KronRidge(), KronSVM(max_iter=20)], ids=lambda m: type(m).__name__
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_vertices_are_known_again_by_their_values(changes, model, tmp_path):
    name = changes.get("pairwise", "kronecker")
    X, y = data(name if isinstance(name, str) else "kronecker")
    train, test = X[:45], X[40:]
    model = clone(model).set_params(**changes).fit(train, y[:45])
    scores = scores_of(model, test)
    joblib.dump(model, tmp_path / "model")
    for again in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model")):
        np.testing.assert_array_equal(scores_of(again, test), scores)
    single = {"rtol": 1e-5, "atol": 1e-6} if "dtype" in changes else {"atol": 1e-12}
    for pairs in rebuilt(test):
        np.testing.assert_allclose(scores_of(model, pairs), scores, **single)
    if isinstance(model, KronRidge):
        std = model.predict_std(test)
        for pairs in rebuilt(test):
            np.testing.assert_allclose(model.predict_std(pairs), std, atol=1e-6)
    # which would not be so if these were new vertices
    near = test.row_features + 1e-9
    new = test.with_features(near, near if name == "symmetric" else test.col_features + 1e-9)
    assert not np.allclose(scores_of(model, new), scores, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"pairwise": "mlpk", "row_kernel": "gaussian", "row_gamma": 1.0},
            "the same kernel, gamma and effect",
        ),
        ({"pairwise": "linear", "form": "primal"}, "give form='dual' with another"),
        ({"row_effect": 1.0, "form": "primal"}, "give form='dual' with another"),
        ({"pairwise": "symmetric"}, "same features for rows and columns"),
    ],
)
def test_what_does_not_fit_is_refused(change, sentence):
    # mlpk is of one set of vertices
    X, y = data(change["pairwise"] if change.get("pairwise") == "mlpk" else "kronecker")
    with pytest.raises(InputError, match=sentence):
        KronRidge(**change).fit(X, y)
