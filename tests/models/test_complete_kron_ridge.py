"""Kronecker ridge regression on complete data: dense systems, retraining, the printed table."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.linalg import LinAlgWarning

from kronbench.errors import InputError
from kronbench.models.complete_kron_ridge import CompleteKronRidge
from kronbench.models.kron_ridge import KronRidge
from kronbench.pairs import PairData
from kronbench.pairs.spectral_filters import FILTERS, as_filter
from tests.models.complete_problems import (
    kron,
    make_kernel,
    make_problem,
    problems,
    retrained,
    splits,
    two_step,
)


@settings(max_examples=40, deadline=None)
@given(problems, st.floats(-3, 3))
def test_closed_form_solves_the_dense_system(problem, log_reg):
    K, G, Y = make_problem(*problem)
    reg = 10.0**log_reg
    model = kron(K, G, Y, reg)
    dense = np.linalg.solve(np.kron(K, G) + reg * np.eye(Y.size), Y.ravel()).reshape(Y.shape)
    np.testing.assert_allclose(reg * model.dual_coef_, reg * dense, atol=1e-8 * np.abs(Y).max())
    predicted = model.predict_matrix(K, G)
    np.testing.assert_allclose(predicted, K @ dense @ G, atol=1e-8 * (1 + np.abs(Y).max()))


def test_nearly_singular_kernels():
    # an eigenvalue of a submatrix far below those of the whole, for each left-out row
    rng = np.random.default_rng(14)
    base = rng.normal(size=(7, 3))
    features = np.hstack([base, 1e-6 * rng.normal(size=(7, 4))])
    K, G, Y = features @ features.T, make_kernel(rng, 6, "deficient"), rng.normal(size=(7, 6))
    for setting in "ABCD":
        for reg in (1e-2, 1.0):
            expected = retrained(np.kron(K, G), reg, Y, splits(setting, None, Y.shape))
            np.testing.assert_allclose(kron(K, G, Y, reg).loo(setting), expected, atol=1e-8)


def test_least_squares_by_the_pseudo_inverse():
    K, G, Y = make_problem(18, 6, 5, "deficient", "full")
    model = kron(K, G, Y, 0)
    expected = np.linalg.pinv(K, rcond=1e-12) @ Y @ np.linalg.inv(G)
    np.testing.assert_allclose(model.dual_coef_, expected, atol=1e-8 * np.abs(expected).max())
    fit = K @ model.dual_coef_ @ G
    residual = K @ (Y - fit) @ G  # the normal equations
    np.testing.assert_allclose(residual, 0, atol=1e-9)


def test_ill_conditioned_least_squares_warns():
    K, G, Y = make_problem(19, 5, 4, "full", "full")
    K = K + 1e10 * np.ones_like(K)
    with pytest.warns(LinAlgWarning, match=r"condition number .*positive reg"):
        kron(K, G, Y, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kron(K, G, Y, 1e-3)
        kron(*make_problem(19, 5, 4, "full", "full"), 0)


@pytest.mark.parametrize("name", FILTERS)
def test_joint_filters_against_the_dense_matrix_function(name):
    K, G, Y = make_problem(20, 5, 4, "deficient", "full")
    values, vectors = np.linalg.eigh(np.kron(K, G))
    values = np.where(values > 1e-10, values, 0.0)
    coef = (vectors * as_filter(name)(values, 0.4)) @ (vectors.T @ Y.ravel())
    model = kron(K, G, Y, 0.4, filter=name)
    np.testing.assert_allclose(model.dual_coef_.ravel(), coef, atol=1e-9)
    np.testing.assert_allclose(
        model.predict_matrix(K, G), K @ coef.reshape(Y.shape) @ G, atol=1e-9
    )


def test_same_minimizer_as_minres():
    rng = np.random.default_rng(21)
    X = PairData.complete(rng.normal(size=(9, 2)), rng.normal(size=(7, 3)))
    y = rng.normal(size=len(X))
    kernels = dict(row_kernel="gaussian", row_gamma=0.3, col_kernel="linear")
    one = CompleteKronRidge(reg=0.2, **kernels).fit(X, y)
    other = KronRidge(reg=0.2, tol=1e-13, max_iter=500, **kernels).fit(X, y)
    new = PairData(rng.normal(size=(4, 2)), rng.normal(size=(5, 3)), [0, 3, 3, 1], [4, 0, 1, 2])
    np.testing.assert_allclose(one.predict(new), other.predict(new), atol=1e-9)
    np.testing.assert_allclose(
        one.dual_coef_.ravel(), other.dual_coef_, atol=1e-8 * np.abs(other.dual_coef_).max()
    )


def test_pairs_in_any_order_and_on_a_part_of_the_vertices():
    rng = np.random.default_rng(22)
    K, G, Y = make_problem(23, 7, 6, "full", "deficient")
    rows, cols = np.array([1, 2, 4, 6]), np.array([0, 3, 5])
    X = PairData(K, G, np.repeat(rows, 3), np.tile(cols, 4))
    order = rng.permutation(12)
    model = CompleteKronRidge(reg=0.3, row_kernel="precomputed", col_kernel="precomputed")
    model.fit(X[order], Y[np.ix_(rows, cols)].ravel()[order])
    direct = kron(K[np.ix_(rows, rows)], G[np.ix_(cols, cols)], Y[np.ix_(rows, cols)], 0.3)
    np.testing.assert_allclose(model.dual_coef_, direct.dual_coef_, atol=1e-12)
    every = PairData.complete(K, G)
    expected = direct.predict_matrix(K[:, rows], G[:, cols])
    np.testing.assert_allclose(model.predict(every), expected.ravel(), atol=1e-12)
    few = every[[40, 2, 2]]
    np.testing.assert_allclose(model.predict(few), expected.ravel()[[40, 2, 2]], atol=1e-12)


def test_wrong_input():
    K, G, Y = make_problem(25, 4, 3, "full", "full")
    X, model = PairData.complete(K, G), CompleteKronRidge()
    missing = np.full_like(Y, np.nan)
    for call, message in (
        (lambda: model.fit(X[:11], Y.ravel()[:11]), r"11 of the 4 x 3 .* KronRidge takes incompl"),
        (lambda: model.fit(X[[*range(12), 3]], np.ones(13)), "1 of its 13 entries repeat one"),
        (lambda: model.fit_matrix(K, G, Y.T), r"Y has shape \(3, 4\)"),
        (lambda: model.fit_matrix(K, G, missing), r"Y holds NaN .* KronRidge"),
        (lambda: kron(-K, G, Y, 1.0), "row kernel has the negative eigenvalue"),
        (lambda: two_step(-K, G, Y, (1e-3, 1.0)), "row kernel has the negative eigenvalue"),
        (lambda: kron(K + np.triu(np.ones((4, 4)), 1), G, Y, 1.0), "row kernel is not symmetric"),
        (lambda: kron(K, G, Y, 1.0).predict_matrix(K, K), "each of the 3 training vertices"),
        (lambda: two_step(K, G, Y, (0.0, 1.0), row_filter="cutoff"), r"reg_rows=0\.0: give a pos"),
    ):
        with pytest.raises(InputError, match=message):
            call()
