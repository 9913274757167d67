"""Conditional ranking with Kronecker kernels: the closed form against dense systems."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize

from kronbench.errors import InputError
from kronbench.models import CompleteKronRidge
from tests.models.complete_problems import kron, make_problem, problems


def centred(P):
    return P - P.mean(axis=1, keepdims=True)


def ranked(K, G, Y, reg):
    return kron(K, G, Y, reg, loss="ranking")


@settings(max_examples=40, deadline=None)
@given(problems, st.floats(-3, 3))
def test_closed_form_solves_the_normal_equations_of_all_pairs_of_columns(problem, log_reg):
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


def test_it_minimizes_the_sum_over_pairs_of_columns():
    rng = np.random.default_rng(1)
    D, T, Y = rng.normal(size=(6, 2)), rng.normal(size=(5, 3)), rng.normal(size=(6, 5))
    one, other = np.triu_indices(5, 1)

    def risk(w):
        error = Y - D @ w.reshape(2, 3) @ T.T
        return np.sum((error[:, one] - error[:, other]) ** 2) / (2 * 5) + 0.7 / 2 * w @ w

    found = minimize(risk, np.zeros(6), method="BFGS", options={"gtol": 1e-9})
    model = CompleteKronRidge(reg=0.7, loss="ranking").fit_matrix(D, T, Y)
    w = D.T @ model.dual_coef_ @ T
    assert risk(w.ravel()) <= found.fun + 1e-12
    np.testing.assert_allclose(w.ravel(), found.x, atol=1e-6)
    new = rng.normal(size=(3, 2)), rng.normal(size=(4, 3))
    np.testing.assert_allclose(model.predict_matrix(*new), new[0] @ w @ new[1].T, atol=1e-9)


@pytest.mark.parametrize("folds", [None, [0, 1, 1, 2, 0, 2, 2, 1]])
def test_rows_left_out_are_retraining(folds):
    K, G, Y = make_problem(3, 8, 6, "deficient", "full")
    number, expected = np.arange(8) if folds is None else np.array(folds), np.empty_like(Y)
    for part in np.unique(number):
        kept, out = np.flatnonzero(number != part), np.flatnonzero(number == part)
        model = ranked(K[np.ix_(kept, kept)], G, Y[kept], 0.4)
        expected[out] = centred(model.predict_matrix(K[np.ix_(out, kept)], G))
    got = ranked(K, G, Y, 0.4).loo("B", folds)
    np.testing.assert_allclose(got, expected, atol=1e-9)


def test_wrong_input():
    K, G, Y = make_problem(4, 4, 3, "full", "full")
    for setting in "ACD":
        with pytest.raises(InputError, match=rf"setting '{setting}' leaves out columns of a row"):
            ranked(K, G, Y, 1.0).loo(setting)
