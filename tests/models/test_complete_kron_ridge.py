"""Kronecker ridge regression on complete data: dense systems, retraining, the printed table."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.linalg import LinAlgWarning

from kronbench.errors import InputError
from kronbench.models.complete_kron_ridge import CompleteKronRidge
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
    with warnings.catch_warnings(action="error"):
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


def test_pairs_in_any_order_and_on_a_part_of_the_vertices(rng):
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


def centred(P):
    return P - P.mean(axis=1, keepdims=True)


def ranked(K, G, Y, reg):
    return kron(K, G, Y, reg, loss="ranking")


@settings(max_examples=40, deadline=None)
@given(problems, st.floats(-3, 3))
def test_a_ranking_solves_the_normal_equations_of_all_pairs_of_columns(problem, log_reg):
    K, G, Y = make_problem(*problem)
    (m, q), reg = Y.shape, 10.0**log_reg
    # q I - 1 1', the Laplacian of all pairs of columns, in each row; over q
    laplacian = np.kron(np.eye(m), q * np.eye(q) - np.ones((q, q))) / q
    system = laplacian @ np.kron(K, G) + reg * np.eye(m * q)
    dense = np.linalg.solve(system, laplacian @ Y.ravel()).reshape(m, q)
    model = ranked(K, G, Y, reg)
    np.testing.assert_allclose(reg * model.dual_coef_, reg * dense, atol=1e-8 * np.abs(Y).max())
    np.testing.assert_allclose(model.dual_coef_.sum(axis=1), 0, atol=1e-10 / reg)
    predicted = model.predict_matrix(K, G)
    np.testing.assert_allclose(predicted, K @ dense @ G, atol=1e-7 * (1 + np.abs(Y).max()))


@pytest.mark.parametrize("folds", [None, [0, 1, 1, 2, 0, 2, 2, 1]])
def test_rows_of_a_ranking_left_out_are_retraining(folds):
    K, G, Y = make_problem(3, 8, 6, "deficient", "full")
    number, expected = np.arange(8) if folds is None else np.array(folds), np.empty_like(Y)
    for part in np.unique(number):
        kept, out = np.flatnonzero(number != part), np.flatnonzero(number == part)
        model = ranked(K[np.ix_(kept, kept)], G, Y[kept], 0.4)
        expected[out] = centred(model.predict_matrix(K[np.ix_(out, kept)], G))
    got = ranked(K, G, Y, 0.4).loo("B", folds)
    np.testing.assert_allclose(got, expected, atol=1e-9)
