"""The LS-SVM paths against their linear systems, retraining and scikit-learn."""

import numpy as np
from hypothesis import given, settings, strategies as st
from sklearn.linear_model import Ridge

from kronbench.linalg.gram_matrix import gram
from kronbench.linalg.lssvm_paths import LSSVMPath, PrefixPath, solve_full

regs = st.sampled_from([1e-6, 1e-3, 1.0])
seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.integers(2, 25), st.integers(1, 6), st.integers(1, 3), regs)
@settings(max_examples=40, deadline=None)
def test_each_rank_of_the_path_is_ridge_on_its_columns(seed, n, k, d, reg):
    rng = np.random.default_rng(seed)
    G, Y, new = (rng.standard_normal(shape) for shape in ((n, k), (n, d), (4, k)))
    path = PrefixPath(G, Y)
    responses = list(path.staged_responses(new, reg))
    assert len(responses) == k
    for r in range(1, k + 1):
        # least squares with penalty n reg ||b||^2, by a dense system
        A = G[:, :r] - G[:, :r].mean(axis=0)
        coef = np.linalg.solve(A.T @ A + n * reg * np.eye(r), A.T @ Y)
        intercept = Y.mean(axis=0) - G[:, :r].mean(axis=0) @ coef
        np.testing.assert_allclose(responses[r - 1], new[:, :r] @ coef + intercept, atol=1e-7)
    for found, expected in zip(path.coef(reg), (coef, intercept), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-7)


def test_points_in_blocks_and_scikit_learn_agree(rng):
    G, Y = rng.standard_normal((20000, 5)) @ rng.standard_normal((5, 5)), rng.random((20000, 2))
    path = PrefixPath(G, Y)
    for reg in (1e-4, 1.0):
        reference = Ridge(alpha=20000 * reg).fit(G, Y)
        coef, intercept = path.coef(reg)
        np.testing.assert_allclose(coef, reference.coef_.T, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(intercept, reference.intercept_, rtol=1e-8)


@given(seeds, st.integers(2, 20), st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_the_full_kernel_solves_the_dual_system(seed, n, d):
    rng = np.random.default_rng(seed)
    X, new, Y = (rng.standard_normal(shape) for shape in ((n, 2), (5, 2), (n, d)))
    K = gram(X, kernel="gaussian", gamma=0.7)
    K_new = gram(new, X, kernel="gaussian", gamma=0.7)
    weights = [1e-5, 1e-2, 10.0]
    for reg, fitted in zip(weights, LSSVMPath(K, Y).fitted(weights), strict=True):
        # stationary in alpha and b: (K + n reg I) alpha + 1 b = Y, 1^T alpha = 0
        system = np.block([[K + n * reg * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), 0.0]])
        solution = np.linalg.solve(system, np.vstack([Y, np.zeros((1, d))]))
        np.testing.assert_allclose(fitted, K @ solution[:-1] + solution[-1], atol=1e-8)
        coef, intercept = solve_full(K, Y, reg)
        expected = K_new @ solution[:-1] + solution[-1]
        np.testing.assert_allclose(K_new @ coef + intercept, expected, atol=1e-8)


@given(seeds, st.integers(6, 14), st.sampled_from([1e-4, 1e-2, 1.0]))
@settings(max_examples=20, deadline=None)
def test_leaving_out_folds_of_the_full_kernel_is_retraining(seed, n, reg):
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((n, 2)), rng.standard_normal((n, 2))
    K = gram(X, kernel="gaussian", gamma=0.7)
    folds = np.array_split(rng.permutation(n), 3)
    path = LSSVMPath(K, Y)
    (left_out,) = path.leave_out(folds, [reg])
    for fold in folds:
        kept = np.setdiff1d(np.arange(n), fold)
        # n reg stays that of all points
        coef, intercept = solve_full(K[np.ix_(kept, kept)], Y[kept], reg * n / len(kept))
        expected = K[np.ix_(fold, kept)] @ coef + intercept
        np.testing.assert_allclose(left_out[fold], expected, atol=1e-7)
    singles = [np.array([i]) for i in range(n)]
    np.testing.assert_allclose(
        path.leave_out(singles, [reg]), path.leave_one_out([reg]), atol=1e-7
    )
