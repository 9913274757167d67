"""Models of pairwise kernels against the same models of their dense kernel matrix."""

import numpy as np
import pytest
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
    # the same vertices given as other arrays are new ones: their deviations are not known
    others = PairData(X.row_features.copy(), X.col_features.copy(), test.rows, test.cols)
    plain = matrix_of("kronecker", X, X)[45:, :45]
    coef = np.linalg.solve(Q[:45, :45] + 0.3 * np.eye(45), y[:45])
    np.testing.assert_allclose(model.predict(others), plain @ coef, rtol=1e-7, atol=1e-9)


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
