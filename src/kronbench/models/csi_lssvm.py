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

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, solve_triangular
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from kronbench.errors import InputError, check_positive
from kronbench.linalg.gram_matrix import gram
from kronbench.linalg.kernel_columns import KernelColumns
from kronbench.linalg.lowrank import LowRankFactor, csi, incomplete_cholesky


@dataclass(frozen=True)
class PrefixSolution:
    """LS-SVMs of rank 1, ..., k on the leading columns of one factor, for one weight.

    Attributes
    ----------
    triangle : (k, k) array
        T.
    loadings : (k, d) array
        z.
    factor_mean : (k,) array
    target_mean : (d,) array
    """

    triangle: np.ndarray
    loadings: np.ndarray
    factor_mean: np.ndarray
    target_mean: np.ndarray

    def coef(self):
        """Coefficients b (k, d) of all columns of the factor, and the intercept c (d,)."""
        coef = solve_triangular(self.triangle, self.loadings, check_finite=False)
        return coef, self.target_mean - self.factor_mean @ coef

    def scores(self, rows):
        """u (k, n_new) for rows (n_new, k) of the factor, in O(n_new k^2)."""
        centred = (rows - self.factor_mean).T
        return solve_triangular(self.triangle, centred, trans="T", check_finite=False)

    def staged(self, scores):
        """Yields the responses (n_new, d) of rank 1, ..., k, each in O(n_new d)."""
        responses = self.target_mean
        for score, loading in zip(scores, self.loadings, strict=True):
            responses = responses + score[:, None] * loading
            yield responses


class PrefixPath:
    """LS-SVMs on all prefixes of one low-rank factor, for any weight, after O(n k (k + d)).

    Parameters
    ----------
    factor : (n, k) array
        G, such as :attr:`kronbench.linalg.LowRankFactor.factor`.
    targets : (n, d) array
        Y.
    """

    def __init__(self, factor, targets):
        factor, targets = np.asarray(factor), np.asarray(targets, dtype=np.float64)
        if factor.ndim != 2 or targets.ndim != 2 or len(factor) != len(targets):
            raise InputError(
                f"factor has shape {factor.shape} and targets has shape {targets.shape}: "
                "give two-dimensional arrays with the same number of rows"
            )
        self.factor, self.targets = factor, targets
        self.factor_mean, self.target_mean = factor.mean(axis=0), targets.mean(axis=0)
        self._centred = self._triangularize()

    def solve(self, reg) -> PrefixSolution:
        """The machines for one regularization weight, in O(k^3)."""
        n, k = self.factor.shape
        penalty = np.zeros_like(self._centred)
        np.fill_diagonal(penalty, np.sqrt(n * check_positive(reg, "reg")))
        both = np.linalg.qr(np.vstack([self._centred, penalty]), mode="r")
        return PrefixSolution(both[:k, :k], both[:k, k:], self.factor_mean, self.target_mean)

    def staged_responses(self, rows, reg):
        """Yields the responses (n_new, d) of rank 1, ..., k at rows (n_new, k) of the factor."""
        solution = self.solve(reg)
        yield from solution.staged(solution.scores(rows))

    def _triangularize(self):
        """R beside Q^T Y, (k, k + d), a block of points at a time."""
        k, d = self.factor.shape[1], self.targets.shape[1]
        size = max(4 * k, 8192)
        both = np.zeros((k, k + d))
        for start in range(0, len(self.factor), size):
            rows = slice(start, start + size)
            factor = self.factor[rows] - self.factor_mean
            targets = self.targets[rows] - self.target_mean
            block = np.vstack([both, np.hstack([factor, targets])])
            # rows below k only hold the norm of the targets outside the span
            both = np.linalg.qr(block, mode="r")[:k]
        return both


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
        return 1.0 / (self._values[:, None] + len(self._values) * check_positive(reg, "reg"))


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
    solution_ : PrefixSolution
        The machines of all ranks.
    coef_, intercept_ : (k, d) and (d,) arrays
        Of the machine of rank k, on the columns of the factor.

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
            raise InputError(f"task is {self.task!r}: give 'classification' or 'regression'")
        if self.decomposition not in ("csi", "cholesky"):
            raise InputError(f"decomposition is {self.decomposition!r}: give 'csi' or 'cholesky'")
        regression = self.task == "regression"
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=np.float64,
            multi_output=regression,
            y_numeric=regression,
        )
        targets = self._encode(y)
        kernel = X if self._is_precomputed() else KernelColumns(X, self.kernel, self.gamma)
        if self.decomposition == "csi":
            factor = csi(kernel, targets, self.max_rank, self.kappa, self.lookahead, self.tol)
        else:
            factor = incomplete_cholesky(kernel, self.max_rank, self.tol)
        self.solution_ = PrefixPath(factor.factor, targets).solve(self.reg)
        self.coef_, self.intercept_ = self.solution_.coef()
        self.pivots_, self.gains_ = factor.pivots, factor.gains
        self.factor_ = LowRankFactor(
            factor.factor[factor.pivots], np.arange(factor.rank), factor.gains
        )
        self._pivot_points = None if self._is_precomputed() else X[factor.pivots]
        return self

    def predict(self, X):
        """Classes (n_new,), or responses (n_new,) or (n_new, d), at X."""
        return self._decide(self._rows(X) @ self.coef_ + self.intercept_)

    def staged_predict(self, X):
        """Yields what ``predict`` returns, with the first 1, ..., k pivots; O(n k d) in all."""
        for responses in self.solution_.staged(self.solution_.scores(self._rows(X))):
            yield self._decide(responses)

    @available_if(lambda self: self.task == "classification")
    def decision_function(self, X):
        """Responses before the decision: (n_new,) for two classes, (n_new, C) for more."""
        responses = self._rows(X) @ self.coef_ + self.intercept_
        return responses[:, 0] if len(self.classes_) == 2 else responses

    def score(self, X, y, sample_weight=None):
        """Accuracy for classification, R^2 for regression."""
        metric = accuracy_score if self.task == "classification" else r2_score
        return metric(y, self.predict(X), sample_weight=sample_weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_precomputed()
        tags.target_tags.required = True
        if self.task == "regression":
            tags.estimator_type = "regressor"
            tags.regressor_tags = RegressorTags()
            tags.target_tags.multi_output = True
        else:
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags()
        return tags

    def _is_precomputed(self):
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _encode(self, y):
        if self.task == "regression":
            self._one_response = y.ndim == 1
            return y.reshape(len(y), -1).astype(np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError("y holds one class: give points of two or more")
        if len(self.classes_) == 2:
            return 2.0 * codes[:, None] - 1.0
        return np.eye(len(self.classes_))[codes]

    def _rows(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        if self._is_precomputed():
            return self.factor_.transform(X[:, self.pivots_])
        values = gram(X, self._pivot_points, kernel=self.kernel, gamma=self.gamma)
        return self.factor_.transform(values)

    def _decide(self, responses):
        if self.task == "regression":
            return responses[:, 0] if self._one_response else responses
        if len(self.classes_) == 2:
            return self.classes_[(responses[:, 0] > 0).astype(np.intp)]
        return self.classes_[responses.argmax(axis=1)]  # the closest indicator vector


def _without_itself(targets, responses, leverage):
    return targets - (targets - responses) / (1.0 - leverage)[:, None]
