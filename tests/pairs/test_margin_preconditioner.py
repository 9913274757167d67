import numpy as np
from hypothesis import given, settings, strategies as st

from kronbench.pairs import MarginPreconditioner

sizes = st.tuples(*[st.integers(1, 5)] * 4, st.integers(1, 30))


@settings(deadline=None, max_examples=60)
@given(sizes, st.integers(0, 2**32 - 1))
def test_it_inverts_the_curvature_of_independent_margins(size, seed):
    m, q, d, r, n = size
    rng = np.random.default_rng(seed)
    D, T = rng.standard_normal((m, d)), rng.standard_normal((q, r))
    rows, cols = rng.integers(0, m, n), rng.integers(0, q, n)
    weights = rng.uniform(0, 1, n)
    table = np.zeros((m, q))
    np.add.at(table, (rows, cols), weights)
    independent = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    design = np.kron(D, T)
    system = design.T @ (independent.ravel()[:, None] * design) + 0.1 * np.eye(d * r)
    solve = MarginPreconditioner(D, T, rows, cols)(weights, 0.1)
    v = rng.standard_normal(d * r)
    np.testing.assert_allclose(solve(system @ v), v, atol=1e-9 * np.linalg.cond(system))


def test_spectra_are_kept_while_the_margins_are_near_and_no_longer(rng):
    D, T = rng.standard_normal((40, 3)), rng.standard_normal((30, 2))
    rows, cols = rng.integers(0, 40, 500), rng.integers(0, 30, 500)
    kept = MarginPreconditioner(D, T, rows, cols)
    v = rng.standard_normal(6)
    first = kept(np.ones(500), 0.1)(v)
    np.testing.assert_array_equal(kept(np.ones(500), 0.1)(v), first)
    # twice the weights: twice the curvature, exactly
    np.testing.assert_allclose(kept(np.full(500, 2.0), 0.2)(v), first / 2)
    far = (rows < 5).astype(float)
    afresh = MarginPreconditioner(D, T, rows, cols)(far, 0.1)(v)
    np.testing.assert_array_equal(kept(far, 0.1)(v), afresh)


def test_no_weight_at_all_leaves_the_regularization():
    D, T = np.eye(3), np.eye(2)
    solve = MarginPreconditioner(D, T, np.arange(3), np.array([0, 1, 0]))(np.zeros(3, bool), 0.5)
    np.testing.assert_allclose(solve(np.ones(6)), 2 * np.ones(6))
