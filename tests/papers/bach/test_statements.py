"""Statements of Bach & Jordan 2005 that no test of a decomposition shows.

Proposition 1, Eqs. 3 and 5 to 10 and section 5.4 are in ``tests/linalg``.
"""

import numpy as np

from kronbench.linalg import csi, gram, incomplete_cholesky
from kronbench.models import CSILSSVM


def problem():
    rng = np.random.default_rng(0)
    X = rng.random((60, 3))
    Y = np.column_stack([np.sin(4 * X[:, 0]), X[:, 1]]) + 0.1 * rng.standard_normal((60, 2))
    return gram(X, kernel="gaussian", gamma=2.0), Y


def test_coefficients_of_the_approximation_and_of_the_factor_have_the_same_risk():
    """Section 3.1, Eq. 1; the chosen columns determine the approximation (Proposition 1)."""
    K, Y = problem()
    factor = csi(K, Y, 15, lookahead=5, tol=0.0)
    G, pivots = factor.factor, factor.pivots
    spanned = K[:, pivots] @ np.linalg.solve(K[np.ix_(pivots, pivots)], K[pivots])
    np.testing.assert_allclose(G @ G.T, spanned, atol=1e-9)
    fits = [A @ np.linalg.lstsq(A, Y)[0] for A in (spanned, G)]
    np.testing.assert_allclose(*(np.sum((Y - fit) ** 2) for fit in fits), rtol=1e-8)


def test_the_residual_at_a_pivot_is_a_lower_bound_on_the_gain_of_its_column():
    """Section 2.2; the gain of a column is its squared norm."""
    K, _ = problem()
    factor = incomplete_cholesky(K, 25)
    gains = np.trace(K) * factor.gains
    np.testing.assert_allclose(gains, (factor.factor**2).sum(axis=0))
    assert (factor.factor[factor.pivots].diagonal() ** 2 <= gains * (1 + 1e-12)).all()


def test_the_machine_solves_equations_11_and_12_and_responds_as_section_6_2_says():
    K, Y = problem()
    train, test, reg, n = slice(45), slice(45, 60), 1e-3, 45
    options = {"max_rank": 15, "lookahead": 5, "tol": 0.0}
    factor = csi(K[train, train], Y[train], **options)
    G, pivots = factor.factor, factor.pivots
    weights = G.T @ (G - G.mean(axis=0)) + n * reg * np.eye(15)
    centred = Y[train] - Y[train].mean(axis=0)
    alpha = G @ np.linalg.solve(G.T @ G, np.linalg.solve(weights, G.T @ centred))
    np.testing.assert_allclose(G @ weights @ G.T @ alpha, G @ G.T @ centred, atol=1e-9)
    intercept = (Y[train] - G @ G.T @ alpha).mean(axis=0)
    rows = K[test, train][:, pivots] @ np.linalg.inv(G[pivots]).T
    machine = CSILSSVM(task="regression", kernel="precomputed", reg=reg, **options)
    found = machine.fit(K[train, train], Y[train]).predict(K[test, train])
    np.testing.assert_allclose(found, rows @ G.T @ alpha + intercept, atol=1e-8)
