"""Statements of the paper, by place, that the tests of pairs, models and losses do not show."""

import numpy as np
import pytest

from kronbench.linalg import gram
from kronbench.pairs import LOSSES, PairData, SampledKroneckerOperator

REG, STEP = 0.7, 1e-4
RNG = np.random.default_rng(0)
PAIRS = PairData(
    RNG.standard_normal((9, 3)), RNG.standard_normal((8, 2)), *RNG.integers(0, 8, (2, 40))
)
D, T = PAIRS.row_features[PAIRS.rows], PAIRS.col_features[PAIRS.cols]
X = (T[:, :, None] * D[:, None, :]).reshape(40, -1)  # R (T kron D)
Q = X @ X.T  # R (G kron K) R'
Y = RNG.choice([-1.0, 1.0], 40)


def test_remark_1_complete_pairs_are_lemma_1_at_its_cost():
    M, N, V = RNG.random((9, 11)), RNG.random((10, 12)), RNG.random((12, 11))
    out, in_ = (np.indices(shape).reshape(2, -1) for shape in ((9, 10), (11, 12)))
    operator = SampledKroneckerOperator(N, M, out[1], out[0], in_[1], in_[0], method="sparse")
    np.testing.assert_allclose(operator @ V.ravel("F"), (N @ V @ M.T).ravel("F"))
    np.testing.assert_allclose(np.kron(M, N) @ V.ravel("F"), (N @ V @ M.T).ravel("F"))
    a, b, c, d = *M.shape, *N.shape
    assert operator.flops == 2 * min(a * b * d + a * c * d, b * c * d + a * b * c)


def test_section_3_2_norm_and_kernel_matrix():
    a = RNG.standard_normal(40)
    K = PAIRS.row_features @ PAIRS.row_features.T
    G = PAIRS.col_features @ PAIRS.col_features.T
    rows, cols = PAIRS.rows, PAIRS.cols
    np.testing.assert_allclose(Q, K[np.ix_(rows, rows)] * G[np.ix_(cols, cols)], atol=1e-12)
    assert a @ Q @ a == pytest.approx(np.sum((X.T @ a) ** 2))


@pytest.mark.parametrize("design", [Q, X], ids=["equation 8, dual", "primal"])
def test_section_3_2_gradients_and_hessians_of_the_objective(design):
    loss, norm = LOSSES["logistic"], Q if design is Q else np.eye(X.shape[1])
    x, v = 0.01 * RNG.standard_normal((2, design.shape[1]))
    H = np.column_stack([loss.hessian_product(design @ x, Y, unit) for unit in np.eye(len(Y))])

    def objective(x):
        return loss.value(design @ x, Y) + REG / 2 * x @ norm @ x

    def gradient(x):
        return design.T @ loss.gradient(design @ x, Y) + REG * norm @ x

    ahead, behind = x + STEP * v, x - STEP * v
    slope = (objective(ahead) - objective(behind)) / (2 * STEP)
    assert gradient(x) @ v == pytest.approx(slope, rel=1e-6)
    curvature = (gradient(ahead) - gradient(behind)) / (2 * STEP)
    np.testing.assert_allclose((design.T @ H @ design + REG * norm) @ v, curvature, rtol=1e-5)


@pytest.mark.parametrize("name", ["ridge", "l1svm", "l2svm", "logistic"])
def test_section_3_2_hessians_of_univariate_losses_are_diagonal_and_convex(name):
    p = RNG.standard_normal(40)
    H = np.column_stack([LOSSES[name].hessian_product(p, Y, unit) for unit in np.eye(40)])
    np.testing.assert_array_equal(H, np.diag(np.diag(H)))
    assert (np.diag(H) >= 0).all()
    assert name != "l1svm" or not H.any()  # section 4.2


def test_section_5_1_product_of_gaussian_kernels_is_that_of_concatenated_features():
    kernels = [gram(part, kernel="gaussian", gamma=0.1) for part in (D, T, np.hstack([D, T]))]
    np.testing.assert_allclose(kernels[0] * kernels[1], kernels[2])
