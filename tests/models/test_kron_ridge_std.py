"""Standard deviations of KronRidge against the dense formula."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse.linalg import aslinearoperator

from kronbench import InputError, PairData
from kronbench.linalg import gram
from kronbench.models import KronRidge
from kronbench.models._posterior import _inverse_form
from kronbench.pairs import PairwiseOperator
from tests.models.kron_problems import random_pairs

EXACT = {"tol": 1e-14, "max_iter": 2000, "product": "sparse"}
GAUSSIAN = {"row_kernel": "gaussian", "col_kernel": "tanimoto", "row_gamma": 0.3}


@pytest.fixture
def problem():
    X = random_pairs(15, 12, 120, seed=0)
    return X[:90], np.random.default_rng(0).normal(size=90), X


def dense_std(model, Q, K, prior, y):
    """The Gaussian process with covariance s k and noise s reg, s by maximum likelihood."""
    A = Q + model.reg * np.eye(len(y))
    scale = y @ np.linalg.solve(A, y) / len(y)
    variance = scale * (prior - np.einsum("ij,ji->i", K, np.linalg.solve(A, K.T)))
    return np.sqrt(np.maximum(variance, 0)), scale * model.reg


def kernels(X, Z, row_effect=0.0, col_effect=0.0):
    """Kernel of pairs of X with those of Z, over the same vertices."""
    K = gram(X.row_features, kernel="gaussian", gamma=0.3) + row_effect * np.eye(X.n_rows)
    G = gram(X.col_features, kernel="tanimoto") + col_effect * np.eye(X.n_cols)
    return K[np.ix_(X.rows, Z.rows)] * G[np.ix_(X.cols, Z.cols)]


@pytest.mark.parametrize("effects", [{}, {"row_effect": 0.5, "col_effect": 0.2}])
@pytest.mark.parametrize("reg", [1e-2, 1.0])
def test_the_dense_formula(problem, reg, effects):
    X, y, everything = problem
    model = KronRidge(reg=reg, **GAUSSIAN, **effects, **EXACT).fit(X, y)
    Q, K = kernels(X, X, **effects), kernels(everything, X, **effects)
    prior = np.diagonal(kernels(everything, everything, **effects))
    std, noise = dense_std(model, Q, K, prior, y)
    assert model.noise_variance_ == pytest.approx(noise)
    np.testing.assert_allclose(model.predict_std(everything), std, atol=1e-8)


def test_new_vertices_in_both_forms(problem):
    X, y, _ = problem
    model = KronRidge(reg=0.1, **GAUSSIAN, **EXACT).fit(X, y)
    new = random_pairs(6, 5, 20, seed=1)
    K, G = (
        gram(new.row_features, X.row_features, kernel="gaussian", gamma=0.3),
        gram(new.col_features, X.col_features, kernel="tanimoto"),
    )
    K = K[np.ix_(new.rows, X.rows)] * G[np.ix_(new.cols, X.cols)]
    std, _ = dense_std(model, kernels(X, X), K, np.ones(20), y)
    np.testing.assert_allclose(model.predict_std(new), std, atol=1e-8)
    primal = KronRidge(reg=0.1, form="primal", **GAUSSIAN, **EXACT).fit(X, y)
    np.testing.assert_allclose(primal.predict_std(new), std, atol=1e-7)
    assert primal.noise_variance_ == pytest.approx(model.noise_variance_)


@pytest.mark.parametrize("pairwise", ["cartesian", {"kronecker": 1.0, "linear": 0.5}])
def test_other_kernels_of_pairs(problem, pairwise):
    X, y, everything = problem
    model = KronRidge(reg=0.3, pairwise=pairwise, **GAUSSIAN, **EXACT).fit(X, y)
    K = gram(X.row_features, kernel="gaussian", gamma=0.3)
    G = gram(X.col_features, kernel="tanimoto")
    pairs = everything.rows, everything.cols
    Q = PairwiseOperator(pairwise, K, G, *pairs).matmat(np.eye(120))
    std, _ = dense_std(model, Q[:90, :90], Q[:, :90], np.diagonal(Q), y)
    np.testing.assert_allclose(model.predict_std(everything), std, atol=1e-8)


def test_precomputed_kernels_know_their_own_vertices_alone(problem):
    X, y, everything = problem
    K = gram(X.row_features, kernel="gaussian", gamma=0.3)
    G = gram(X.col_features, kernel="tanimoto")
    given = everything.with_features(K, G)
    model = KronRidge(row_kernel="precomputed", col_kernel="precomputed", reg=0.3, **EXACT)
    known = (X.rows != 3) & (X.cols != 2)  # the others have kernel values alone
    by_name = KronRidge(reg=0.3, **GAUSSIAN, **EXACT).fit(X[known], y[known])
    model.fit(given[:90][known], y[known])
    np.testing.assert_allclose(model.predict(given), by_name.predict(everything), atol=1e-8)
    std = by_name.predict_std(everything)
    np.testing.assert_allclose(model.predict_std(given), std, atol=1e-8)
    new = PairData(K[:3], G, [0, 2], [1, 1])
    with pytest.raises(InputError, match="row_features is a precomputed kernel of new vertices"):
        model.predict_std(new)


@given(
    st.integers(1, 40),
    st.sampled_from([0.01, 0.3, 3.0]),
    st.sampled_from([1e-12, 1e-3, 0.5]),
    st.integers(0, 99),
)
@settings(deadline=None, max_examples=60)
def test_bounds_of_a_form_hold_and_are_as_close_as_asked(n, decay, atol, seed):
    """For a matrix with eigenvalues exp(-decay i) and a vector in its range."""
    rng = np.random.default_rng(seed)
    vectors = np.linalg.qr(rng.normal(size=(n, n)))[0]
    A = (vectors * np.exp(-decay * np.arange(n))) @ vectors.T
    b = A @ rng.normal(size=n)
    low, high = _inverse_form(aslinearoperator(A), b, atol, 1e-3)
    exact = b @ np.linalg.solve(A + 1e-3 * np.eye(n), b)
    assert low - 1e-10 <= exact <= high + 1e-10
    assert high - low <= 1.001 * atol


def test_an_indefinite_matrix_is_refused():
    with pytest.raises(InputError, match="not positive semidefinite"):
        _inverse_form(aslinearoperator(np.diag([1.0, -3.0])), np.ones(2), 0.0, 0.1)
