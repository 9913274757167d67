"""Least-squares support vector machines with an intercept, on low-rank factors and in full.

With a factor G of K the machine (Bach & Jordan 2005, section 6) is ridge regression on G,

    min_{b, c}  ||Y - G b - 1 c||^2 / (2 n) + reg ||b||^2 / 2,

so that (G^T Pi G + n reg I) b = G^T Pi Y with the centring projection Pi. Let Pi G = Q R, and let
[R; sqrt(n reg) I] have the triangular factor T and Q^T Y the image z under the same rotations. The
factor of rank r is the first r columns of G, its triangle the leading block of T, its right-hand
side the first r rows of z: the responses at G(x), with u = T^-T (G(x) - mean), are

    mean Y + sum_{j <= r} u_j z_j    for every rank r at once,

and the diagonal of the hat matrix is 1 / n + sum_{j <= r} u_j^2, which gives every leave-one-out
response for the pivots as they are.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, solve_triangular
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from kronbench.errors import InputError
from kronbench.operators.gram import gram
from kronbench.operators.lowrank import KernelColumns, LowRankFactor, csi, incomplete_cholesky


class PrefixPath:
    """LS-SVMs on all prefixes of one low-rank factor, for any regularization weight.

    Setting up costs O(n k (k + d)), each weight O(k^3) and each response O(k (k + d)) for all
    ranks together.

    Parameters
    ----------
    factor : (n, k) array
        G, such as :attr:`kronbench.operators.LowRankFactor.factor`.
    targets : (n, d) array
        Y.
    """

    def __init__(self, factor, targets):
        factor, targets = np.asarray(factor), np.asarray(targets, dtype=np.float64)
        if factor.ndim != 2 or targets.ndim != 2 or len(factor) != len(targets):
            raise InputError(
                f"factor has shape {factor.shape} and targets has {targets.shape}: "
                "give two-dimensional arrays with the same number of rows"
            )
        self.factor, self.targets = factor, targets
        self.factor_mean, self.target_mean = factor.mean(axis=0), targets.mean(axis=0)
        self._triangle, self._projections = self._centred_qr()

    def solve(self, reg):
        """Triangle T (k, k) and right-hand side z (k, d), whose leading parts serve each rank."""
        k = len(self._triangle)
        root = np.sqrt(len(self.factor) * _checked_reg(reg))
        top = np.hstack([self._triangle, self._projections])
        bottom = np.hstack([root * np.eye(k), np.zeros_like(self._projections)])
        both = np.linalg.qr(np.vstack([top, bottom]), mode="r")
        return both[:k, :k], both[:k, k:]

    def coef(self, reg):
        """Coefficients b (k, d) of all columns of the factor, and the intercept c (d,)."""
        triangle, z = self.solve(reg)
        coef = solve_triangular(triangle, z, check_finite=False)
        return coef, self.target_mean - self.factor_mean @ coef

    def staged_responses(self, rows, reg):
        """Responses (n_new, d) of the machines of rank 1, 2, ..., k at rows (n_new, k) of the factor."""
        triangle, z = self.solve(reg)
        yield from _staged(self._scores(rows, triangle), z, self.target_mean)

    def staged_leave_one_out(self, reg):
        """Responses (n, d) at each training point of the machines trained on the others.

        For rank 1, 2, ..., k; pivots and n reg stay those of all points.
        """
        triangle, z = self.solve(reg)
        scores = self._scores(self.factor, triangle)
        leverage = np.full(len(self.factor), 1.0 / len(self.factor))
        for score, responses in zip(scores, _staged(scores, z, self.target_mean), strict=True):
            leverage = leverage + score**2
            yield _without_itself(self.targets, responses, leverage)

    def _scores(self, rows, triangle):
        centred = (rows - self.factor_mean).T
        return solve_triangular(triangle, centred, trans="T", check_finite=False)

    def _centred_qr(self):
        k = self.factor.shape[1]
        size = max(4 * k, 8192)
        both = np.empty((0, k + self.targets.shape[1]))
        for start in range(0, len(self.factor), size):
            rows = slice(start, start + size)
            block = np.hstack(
                [self.factor[rows] - self.factor_mean, self.targets[rows] - self.target_mean]
            )
            # below row k only the norm of the targets outside the span is left
            both = np.linalg.qr(np.vstack([both, block]), mode="r")[:k]
        both = np.vstack([both, np.zeros((k - len(both), both.shape[1]))])
        return both[:, :k], both[:, k:]


class LSSVMPath:
    """LS-SVM on the full kernel for any regularization weight, from one eigendecomposition.

    Setting up costs O(n^3), then each weight O(n d) for each response.

    Parameters
    ----------
    kernel_matrix : (n, n) array
        K, positive semidefinite.
    targets : (n, d) array
        Y.
    """

    def __init__(self, kernel_matrix, targets):
        K, targets = np.asarray(kernel_matrix), np.asarray(targets, dtype=np.float64)
        if K.ndim != 2 or K.shape[0] != K.shape[1] or targets.ndim != 2 or len(K) != len(targets):
            raise InputError(
                f"kernel_matrix has shape {K.shape} and targets has {targets.shape}: "
                "give (n, n) and (n, d)"
            )
        self.targets, self.target_mean = targets, targets.mean(axis=0)
        self.kernel_mean = K.mean(axis=0)
        centred = K - self.kernel_mean - self.kernel_mean[:, None] + self.kernel_mean.mean()
        values, self._vectors = eigh(centred, overwrite_a=True, check_finite=False, driver="evd")
        self._values = np.maximum(values, 0.0)
        self._projections = self._vectors.T @ (targets - self.target_mean)

    def responses(self, kernel_rows, regs):
        """Responses (len(regs), n_new, d) at points with kernel values (n_new, n)."""
        scores = (kernel_rows - self.kernel_mean) @ self._vectors
        return np.stack(
            [scores @ (self._inverse(reg) * self._projections) + self.target_mean for reg in regs]
        )

    def leave_one_out(self, regs):
        """Responses (len(regs), n, d) at each training point of the machine trained on the others.

        n reg stays that of all points.
        """
        squares = self._vectors**2
        paths = []
        for reg in regs:
            shrinkage = self._values[:, None] * self._inverse(reg)
            responses = self._vectors @ (shrinkage * self._projections) + self.target_mean
            leverage = squares @ shrinkage[:, 0] + 1.0 / len(squares)
            paths.append(_without_itself(self.targets, responses, leverage))
        return np.stack(paths)

    def _inverse(self, reg):
        return 1.0 / (self._values[:, None] + len(self._values) * _checked_reg(reg))


class CSILSSVM(BaseEstimator):
    """LS-SVM with intercept on a predictive low-rank factor (Bach & Jordan 2005).

    Parameters
    ----------
    task : {"classification", "regression"}
        Classes are coded as -1 and 1 where there are two and as indicator vectors where there are
        more. Integer responses are not told from classes: say which they are.
    kernel : {"gaussian", "linear", "precomputed"} or callable(X, Y) -> (m, p) array
    gamma : float
        Inverse squared width of the Gaussian.
    reg : float
        Regularization weight, the paper's tau: 1/(2n) squared error + reg/2 squared norm.
    decomposition : {"csi", "cholesky"}
        Choose pivots for the targets as well, or for the kernel alone.
    max_rank : int, optional
        Largest number of pivots; n when None.
    kappa : float
        Weight of the targets in the choice of pivots; for "csi".
    lookahead : int
        Number of look-ahead steps; for "csi".
    tol : float
        Stops the decomposition: a gain for "csi", a residual relative to the largest diagonal
        entry of the kernel for "cholesky".

    Attributes
    ----------
    classes_ : (C,) array, for classification
    factor_ : LowRankFactor
        The rows of the factor at the pivots alone; its ``pivots`` count them from 0.
    pivots_ : (k,) array
        Indices of the pivots among the training points, in order of choice.
    gains_ : (k,) array
        Decrease of the criterion by each pivot.
    coef_ : (k, d) array
        Coefficients of the columns of the factor.
    intercept_ : (d,) array

    Notes
    -----
    Training costs O((k + lookahead)^2 n + k n d) and k + lookahead kernel columns; prediction
    takes kernel values with the k pivots only and O(k^2) for each point.
    """

    def __init__(
        self,
        task="classification",
        *,
        kernel="gaussian",
        gamma=1.0,
        reg=1e-3,
        decomposition="csi",
        max_rank=None,
        kappa=0.99,
        lookahead=40,
        tol=1e-4,
    ):
        self.task = task
        self.kernel = kernel
        self.gamma = gamma
        self.reg = reg
        self.decomposition = decomposition
        self.max_rank = max_rank
        self.kappa = kappa
        self.lookahead = lookahead
        self.tol = tol

    def fit(self, X, y):
        """Choose the pivots and solve for the coefficients.

        Parameters
        ----------
        X : (n, p) array or sparse matrix; (n, n) kernel matrix when kernel is "precomputed"
        y : (n,) array of classes or responses; (n, d) for several responses
        """
        if self.task not in ("classification", "regression"):
            raise InputError(
                f"task is {self.task!r}: give 'classification' or 'regression'"
            )
        if self.decomposition not in ("csi", "cholesky"):
            raise InputError(f"decomposition is {self.decomposition!r}: give 'csi' or 'cholesky'")
        regression = self.task == "regression"
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, multi_output=regression,
            y_numeric=regression,
        )  # fmt: skip
        targets = self._encode(y)
        kernel = X if self._precomputed() else KernelColumns(X, self.kernel, self.gamma)
        if self.decomposition == "csi":
            factor = csi(
                kernel, targets, self.max_rank, self.kappa, self.lookahead, self.tol
            )
        else:
            factor = incomplete_cholesky(kernel, self.max_rank, self.tol)
        self._path = PrefixPath(factor.factor, targets)
        self.coef_, self.intercept_ = self._path.coef(self.reg)
        self.pivots_, self.gains_ = factor.pivots, factor.gains
        ...
        return self
