"""Least-squares support vector machines with an intercept for all ranks and weights at once.

With a factor G of K the machine (Bach & Jordan 2005, section 6) is ridge regression on G,

    min_{b, c}  ||Y - G b - 1 c||^2 / (2 n) + reg ||b||^2 / 2,

so that (G^T Pi G + n reg I) b = G^T Pi Y with the centring projection Pi. Let Pi G = Q R, and let
[R; sqrt(n reg) I] have the triangular factor T and Q^T Y the image z under the same rotations. The
factor of rank r is the first r columns of G, its triangle the leading block of T, its right-hand
side the first r rows of z: the responses at G(x), with u = T^-T (G(x) - mean), are

    mean Y + sum_{j <= r} u_j z_j    for every rank r at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve, eigh, solve, solve_triangular

from kronbench.errors import check_positive


class PrefixPath:
    """LS-SVMs of rank 1, ..., k on the prefixes of one low-rank factor, for any weight.

    After O(n k (k + d)), each weight costs O(k^3). ``factor`` (n, k) is G, ``targets`` (n, d) are
    Y.
    """

    def __init__(self, factor: np.ndarray, targets: np.ndarray):
        self.n_points, k = factor.shape
        self.factor_mean, self.target_mean = factor.mean(axis=0), targets.mean(axis=0)
        # R beside Q^T Y, (k, k + d), a block of points at a time
        size = max(4 * k, 8192)
        both = np.zeros((k, k + targets.shape[1]))
        for start in range(0, self.n_points, size):
            rows = slice(start, start + size)
            centred = factor[rows] - self.factor_mean, targets[rows] - self.target_mean
            block = np.vstack([both, np.hstack(centred)])
            # rows below k only hold the norm of the targets outside the span
            both = np.asarray(np.linalg.qr(block, mode="r"))[:k]
        self._centred = both

    def coef(self, reg: float) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients b (k, d) of all columns of the factor, and the intercept c (d,)."""
        # T b = z
        coef = solve_triangular(*self._solve(reg), check_finite=False)
        return coef, self.target_mean - self.factor_mean @ coef

    def staged_responses(self, rows: np.ndarray, reg: float) -> Iterator[np.ndarray]:
        """Yields the responses (n_new, d) of rank 1, ..., k at rows (n_new, k) of the factor.

        O(n_new k^2) for u, then O(n_new d) for each rank.
        """
        # A further rank adds one term u_j z_j to the responses.
        triangle, loadings = self._solve(reg)
        centred = (rows - self.factor_mean).T
        scores = solve_triangular(triangle, centred, trans="T", check_finite=False)
        responses = self.target_mean
        for score, loading in zip(scores, loadings, strict=True):
            responses = responses + score[:, None] * loading
            yield responses

    def _solve(self, reg):
        """T (k, k) and z (k, d)."""
        # T is the triangle of R above sqrt(n reg) I; zeros beside the latter turn Q'Y into z.
        k, penalty = len(self.factor_mean), np.zeros_like(self._centred)
        np.fill_diagonal(penalty, np.sqrt(self.n_points * check_positive(reg, "reg")))
        both = np.asarray(np.linalg.qr(np.vstack([self._centred, penalty]), mode="r"))
        return both[:k, :k], both[:k, k:]


def solve_full(
    kernel_matrix: np.ndarray, targets: np.ndarray, reg: float
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients A (n, d) and intercept c (d,) of the LS-SVM on the full kernel, in O(n^3).

    They minimize ||Y - K A - 1 c||^2 / (2 n) + reg <A, K A> / 2; responses are K(x, .) A + c.
    """
    n = len(kernel_matrix)
    centred, mean = _centred(kernel_matrix)
    centred[np.diag_indices(n)] += n * check_positive(reg, "reg")
    target_mean = targets.mean(axis=0)
    coef = cho_solve(cho_factor(centred, overwrite_a=True), targets - target_mean)
    # The coefficients sum to zero, so that centring the columns of a test kernel is enough.
    return coef, target_mean - mean @ coef


def _centred(kernel_matrix):
    """The kernel of features whose mean is zero, and the mean of each column before."""
    mean = kernel_matrix.mean(axis=0)
    centred = kernel_matrix - mean
    centred -= mean[:, None]
    centred += mean.mean()
    return centred, mean


class LSSVMPath:
    """LS-SVM on the full kernel for any regularization weight, from one eigendecomposition.

    Setting up costs O(n^3), then each weight O(n d) for each response. ``kernel_matrix`` (n, n) is
    K, ``targets`` (n, d) are Y. Where points are left out, n reg stays that of all.
    """

    def __init__(self, kernel_matrix: np.ndarray, targets: np.ndarray):
        targets = np.asarray(targets, dtype=np.float64)
        self.targets, self.target_mean = targets, targets.mean(axis=0)
        centred, _ = _centred(kernel_matrix)
        values, self._vectors = eigh(centred, overwrite_a=True, check_finite=False, driver="evd")
        self._values = np.maximum(values, 0.0)
        self._projections = self._vectors.T @ (targets - self.target_mean)

    def fitted(self, regs: ArrayLike) -> np.ndarray:
        """Responses (len(regs), n, d) at the training points, in one product for all weights."""
        # The hat matrix of a weight is V diag(shrinkage) V'; all weights share the product with V.
        shrunk = self._shrinkage(regs).T[:, :, None] * self._projections
        n, d = self._projections.shape
        responses = self._vectors @ shrunk.transpose(1, 0, 2).reshape(n, -1)
        return responses.reshape(n, -1, d).transpose(1, 0, 2) + self.target_mean

    def leave_one_out(self, regs: ArrayLike) -> np.ndarray:
        """Responses (len(regs), n, d) at each point of the machine trained on the other points."""
        # Residual over 1 - leverage; the intercept adds 1 / n to the diagonal of the hat matrix.
        shrinkage = self._shrinkage(regs)
        leverages = self._vectors**2 @ shrinkage + 1.0 / len(shrinkage)
        left = (self.targets - self.fitted(regs)) / (1.0 - leverages.T)[:, :, None]
        return self.targets - left

    def leave_out(self, folds: Sequence[np.ndarray], regs: ArrayLike) -> np.ndarray:
        """Responses (len(regs), n, d) at the points of each fold of the machine without them.

        With the block H of the hat matrix (1 1^T / n for the intercept) that belongs to a fold,
        its held-out residuals are (I - H)^-1 times those of the machine of all points; O(n b^2)
        for each fold of b points and weight. Together the folds have each point once.
        """
        n = len(self._vectors)
        roots = np.sqrt(self._shrinkage(regs)).T
        residuals = self.targets - self.fitted(regs)
        for fold in folds:
            rows = self._vectors[fold]
            for root, left in zip(roots, residuals, strict=True):
                half = rows * root
                others = half @ half.T  # half of the operations of a general product
                np.subtract(-1.0 / n, others, out=others)
                others[np.diag_indices_from(others)] += 1.0
                left[fold] = solve(
                    others, left[fold], assume_a="pos", overwrite_a=True, check_finite=False
                )
        return self.targets - residuals

    def _shrinkage(self, regs):
        """Eigenvalues (n, len(regs)) of the hat matrices."""
        values, n = self._values[:, None], len(self._values)
        inverses = (1.0 / (values + n * check_positive(reg, "reg")) for reg in regs)
        return np.hstack([values * inverse for inverse in inverses])
