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
    condition,
    make_kernel,
    make_problem,
    problems,
    retrain_kron,
)

EPS = np.finfo(float).eps


def fitted(K, G, Y, **parameters):
    model = CompleteKronRidge(row_kernel="precomputed", col_kernel="precomputed", **parameters)
    return model.fit_matrix(K, G, Y)


@settings(max_examples=40, deadline=None)
@given(problems, st.floats(-3, 3))
def test_closed_form_solves_the_dense_system(problem, log_reg):
    K, G, Y = make_problem(*problem)
    reg = 10.0**log_reg
    model = fitted(K, G, Y, reg=reg)
    dense = np.linalg.solve(np.kron(K, G) + reg * np.eye(Y.size), Y.ravel()).reshape(Y.shape)
    np.testing.assert_allclose(reg * model.dual_coef_, reg * dense, atol=1e-8 * np.abs(Y).max())
    predicted = model.predict_matrix(K, G)
    np.testing.assert_allclose(predicted, K @ dense @ G, atol=1e-8 * (1 + np.abs(Y).max()))


@pytest.mark.parametrize("setting", "ABCD")
@settings(max_examples=20, deadline=None)
@given(problems, st.floats(-3, 3))
def test_leave_one_out_is_retraining(setting, problem, log_reg):
    K, G, Y = make_problem(*problem)
    reg = 10.0**log_reg
    expected = retrain_kron(setting, K, G, Y, reg)
    got = fitted(K, G, Y, reg=reg).loo(setting)
    np.testing.assert_allclose(got, expected, atol=1e-8 * np.abs(Y).max())


@pytest.mark.parametrize("setting", "ABCD")
@pytest.mark.parametrize("kinds", [("full", "full"), ("deficient", "clipped")])
@pytest.mark.parametrize("reg", [1e-7, 1e-5, 1e4, 1e6])
def test_leave_one_out_at_the_ends_of_the_grid(setting, kinds, reg):
    # Rounding the kernel moves the solution of either side by eps times the condition number,
    # 1e10 for the smallest reg; for the largest, predictions are of the order of 1 / reg.
    K, G, Y = make_problem(11, 8, 7, *kinds)
    expected = retrain_kron(setting, K, G, Y, reg)
    got = fitted(K, G, Y, reg=reg).loo(setting)
    tol = max(1e-8, 30 * EPS * condition(K, G, reg))
    assert np.abs(got - expected).max() < tol * np.abs(expected).max()


def test_setting_d_in_several_chunks(monkeypatch):
    K, G, Y = make_problem(13, 9, 6, "clipped", "full")
    whole = fitted(K, G, Y, reg=0.01).loo("D")
    monkeypatch.setattr("kronbench.pairs.leave_one_out._CHUNK_BYTES", 8 * 5 * 171)
    np.testing.assert_allclose(fitted(K, G, Y, reg=0.01).loo("D"), whole, atol=1e-11)


def test_nearly_singular_kernels():
    # an eigenvalue of a submatrix far below those of the whole, for each left-out row
    rng = np.random.default_rng(14)
    base = rng.normal(size=(7, 3))
    features = np.hstack([base, 1e-6 * rng.normal(size=(7, 4))])
    K, G, Y = features @ features.T, make_kernel(rng, 6, "deficient"), rng.normal(size=(7, 6))
    for setting in "ABCD":
        for reg in (1e-2, 1.0):
            expected = retrain_kron(setting, K, G, Y, reg)
            np.testing.assert_allclose(fitted(K, G, Y, reg=reg).loo(setting), expected, atol=1e-8)


def test_grid_is_the_single_points():
    K, G, Y = make_problem(17, 6, 5, "clipped", "deficient")
    regs = [1e-2, 1.0, 1e3]
    model = fitted(K, G, Y)
    for setting in "ABCD":
        scores = model.loo_grid(setting, regs, score=lambda F: (F * Y).sum())
        for index, F in model.loo_grid(setting, regs):
            np.testing.assert_array_equal(F, fitted(K, G, Y, reg=regs[index]).loo(setting))
            assert scores[index] == (F * Y).sum()
        assert scores.shape == (3,)


def test_least_squares_by_the_pseudo_inverse():
    K, G, Y = make_problem(18, 6, 5, "deficient", "full")
    model = fitted(K, G, Y, reg=0)
    expected = np.linalg.pinv(K, rcond=1e-12) @ Y @ np.linalg.inv(G)
    np.testing.assert_allclose(model.dual_coef_, expected, atol=1e-8 * np.abs(expected).max())
    fit = K @ model.dual_coef_ @ G
    residual = K @ (Y - fit) @ G  # the normal equations
    np.testing.assert_allclose(residual, 0, atol=1e-9)


def test_ill_conditioned_least_squares_warns():
    K, G, Y = make_problem(19, 5, 4, "full", "full")
    K = K + 1e10 * np.ones_like(K)
    with pytest.warns(LinAlgWarning, match=r"condition number .*positive reg"):
        fitted(K, G, Y, reg=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(K, G, Y, reg=1e-3)
        fitted(*make_problem(19, 5, 4, "full", "full"), reg=0)


@pytest.mark.parametrize("name", FILTERS)
def test_joint_filters_against_the_dense_matrix_function(name):
    K, G, Y = make_problem(20, 5, 4, "deficient", "full")
    values, vectors = np.linalg.eigh(np.kron(K, G))
    values = np.where(values > 1e-10, values, 0.0)
    coef = (vectors * as_filter(name)(values, 0.4)) @ (vectors.T @ Y.ravel())
    model = fitted(K, G, Y, reg=0.4, filter=name)
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
    direct = fitted(K[np.ix_(rows, rows)], G[np.ix_(cols, cols)], Y[np.ix_(rows, cols)], reg=0.3)
    np.testing.assert_allclose(model.dual_coef_, direct.dual_coef_, atol=1e-12)
    every = PairData.complete(K, G)
    expected = direct.predict_matrix(K[:, rows], G[:, cols])
    np.testing.assert_allclose(model.predict(every), expected.ravel(), atol=1e-12)
    few = every[[40, 2, 2]]
    np.testing.assert_allclose(model.predict(few), expected.ravel()[[40, 2, 2]], atol=1e-12)


def test_wrong_input():
    K, G, Y = make_problem(25, 4, 3, "full", "full")
    X, model = PairData.complete(K, G), CompleteKronRidge()
    with pytest.raises(InputError, match=r"11 of the 4 x 3 pairs .* KronRidge takes incomplete"):
        model.fit(X[:11], Y.ravel()[:11])
    with pytest.raises(InputError, match="1 of its 13 entries repeat one"):
        model.fit(X[[*range(12), 3]], np.append(Y.ravel(), 0.0))
    with pytest.raises(InputError, match=r"Y has shape \(3, 4\)"):
        model.fit_matrix(K, G, Y.T)
    with pytest.raises(InputError, match=r"Y holds NaN .* KronRidge"):
        model.fit_matrix(K, G, np.full_like(Y, np.nan))
    with pytest.raises(InputError, match="setting='E'"):
        model.fit_matrix(K, G, Y).loo("E")
    with pytest.raises(InputError, match="give a positive number"):
        CompleteKronRidge(reg=0).fit_matrix(K, G, Y).loo("D")
    with pytest.raises(InputError, match="exact for filter='tikhonov' only"):
        CompleteKronRidge(filter="cutoff").fit_matrix(K, G, Y).loo("A")
    with pytest.raises(InputError, match="row kernel has the negative eigenvalue"):
        fitted(-K, G, Y)
    with pytest.raises(InputError, match="row kernel is not symmetric"):
        fitted(K + np.triu(np.ones((4, 4)), 1), G, Y)
    with pytest.raises(InputError, match="one column for each of the 3 training vertices"):
        fitted(K, G, Y).predict_matrix(K, K)
