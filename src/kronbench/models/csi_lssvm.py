"""Least-squares support vector machine on a predictive low-rank factor (Bach & Jordan 2005)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from numbers import Real
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from kronbench.errors import InputError
from kronbench.linalg.csi_decomposition import csi, csi_all_ahead
from kronbench.linalg.gram_matrix import KernelColumns, gram
from kronbench.linalg.lowrank import LowRankFactor, incomplete_cholesky
from kronbench.linalg.lssvm_paths import PrefixPath
from kronbench.models._parameters import (
    AT_LEAST_0,
    COUNT,
    COUNT_FROM_0,
    KERNEL,
    POSITIVE,
    WIDTH,
    EitherTask,
    estimator,
    parameter,
)
from kronbench.models._row_classifier import OfRows, Rows, forget_fit, new_rows, training_rows

# Share of K(i, i) that other pivots leave, and rounding of kernel values as a share of the weight:
# in sweeps over scales the machines that were off by 1 % were below the first and above the
# second.
_CANCELLED_SHARE = 1e-6
_LARGEST_KERNEL_ROUNDING = 1e-4


@estimator
class CSILSSVM(EitherTask, OfRows):
    """LS-SVM with intercept on a predictive low-rank factor (Bach & Jordan 2005).

    Training costs O((k + lookahead)^2 n + k n d) and k + lookahead kernel columns; with a
    look-ahead at all points O(k n^2) and the kernel matrix. Prediction takes kernel values with
    the k pivots and O(k^2) for each point.

    Parameters
    ----------
    task : {"classification", "regression"}, default "classification"
        Two classes are coded as -1 and 1, more as indicator vectors.
    kernel : {"gaussian", "linear", "tanimoto", "precomputed"} or callable, default "gaussian"
        As in :func:`kronbench.linalg.gram`.
    gamma : float, default 1.0
        Inverse squared width of a Gaussian kernel.
    reg : float, default 1e-3
        The paper's tau > 0: 1/(2n) squared error + reg/2 squared norm. The error is a mean here
        but a sum in the models of pairs, whose reg is n times this one.
    decomposition : {"csi", "cholesky"}, default "csi"
        Choose pivots for the targets as well, or for the kernel alone.
    max_rank : int, optional
        Largest number of pivots; n when None.
    kappa : float, default 0.99
        Weight of the targets in the choice of pivots; for "csi".
    lookahead : int or None, default 40
        Number of look-ahead steps; None looks ahead at all points; for "csi".
    tol : float, default 1e-4
        Stops the decomposition: a gain for "csi", a residual relative to the largest diagonal
        entry of the kernel for "cholesky".

    Attributes
    ----------
    classes_ : (C,) array, for classification
    n_features_in_ : int
    factor_ : LowRankFactor
        The rows of the factor at the pivots alone; its ``pivots`` count them from 0.
    pivots_, gains_ : (k,) arrays
        Indices of the pivots among the training points in order of choice, and the decrease of the
        criterion by each.
    path_ : PrefixPath
        The machines of all ranks and weights; see :mod:`kronbench.linalg.lssvm_paths`.
    coef_, intercept_ : (k, d) and (d,) arrays
        Of the machine of rank k, on the columns of the factor.
    """

    task: str = parameter("classification", StrOptions({"classification", "regression"}))
    kernel: str | Callable = parameter("gaussian", *KERNEL)
    gamma: float = parameter(1.0, *WIDTH)
    reg: float = parameter(1e-3, POSITIVE)
    decomposition: str = parameter("csi", StrOptions({"csi", "cholesky"}))
    max_rank: int | None = parameter(None, COUNT, None)
    kappa: float = parameter(0.99, Interval(Real, 0, 1, closed="both"))
    lookahead: int | None = parameter(40, COUNT_FROM_0, None)
    tol: float = parameter(1e-4, AT_LEAST_0)

    def fit(self, X: Rows, y: ArrayLike) -> Self:
        """Fit to X (n, p), or (n, n) kernel values, and classes or responses y, (n,) or (n, d)."""
        self._check_parameters()
        forget_fit(self)
        regression = not self._is_classifier
        X, y = training_rows(self, X, y, multi_output=regression, y_numeric=regression)
        # The targets are -1 and 1 for two classes, indicators for more, or the responses (Section
        # 6.2).
        if self._is_classifier:
            check_classification_targets(y)
            self.classes_, codes = np.unique(y, return_inverse=True)
            n = len(self.classes_)
            if n < 2:
                raise InputError("y holds one class: give points of two or more")
            targets = 2.0 * codes[:, None] - 1.0 if n == 2 else np.eye(n)[codes]
        else:
            self._one_response = y.ndim == 1
            targets = y.reshape(len(y), -1).astype(np.float64)
        # The pivots of the factor G are for the kernel alone, or by Figure 1 for the targets
        # too. A look-ahead at all points needs the kernel matrix, unless no target varies.
        kernel = X if self.kernel == "precomputed" else KernelColumns(X, self.kernel, self.gamma)
        lookahead = X.shape[0] if self.lookahead is None else self.lookahead
        if self.decomposition == "cholesky":
            factor = incomplete_cholesky(kernel, self.max_rank, self.tol)
        elif self.lookahead is None and np.ptp(targets, axis=0).any():
            K = X if self.kernel == "precomputed" else self._gram(X, None)
            factor = csi_all_ahead(K, targets, self.max_rank, self.kappa, tol=self.tol)
        else:
            factor = csi(kernel, targets, self.max_rank, self.kappa, lookahead, self.tol)
        # The path has the machines of all ranks and weights, by Eqs. 11 and 12 in terms of G.
        self.path_ = PrefixPath(factor.factor, targets)
        self.pivots_, self.gains_ = factor.pivots, factor.gains
        # Predictions take kernel values with the pivots and the rows G(I, :) alone.
        rows = factor.factor[factor.pivots]
        self.factor_ = LowRankFactor(rows, np.arange(factor.rank), factor.gains)
        self._warn_of_rounding(self.reg)
        self.coef_, self.intercept_ = self.path_.coef(self.reg)
        self._pivot_points = None if self.kernel == "precomputed" else X[factor.pivots]
        return self

    def predict(self, X: Rows) -> np.ndarray:
        """Classes (n_new,), or responses (n_new,) or (n_new, d), at X."""
        return self._decide(self._responses(X))

    def staged_predict(self, X: Rows, reg: float | None = None) -> Iterator[np.ndarray]:
        """Yields what ``predict`` returns, with the first 1, ..., k pivots; O(n k d) in all.

        With ``reg`` the machines of another weight, on the same factor; O(k^3) more.
        """
        rows = self._rows(X)
        if reg is not None:
            self._warn_of_rounding(reg)
        for responses in self.path_.staged_responses(rows, self.reg if reg is None else reg):
            yield self._decide(responses)

    @available_if(lambda self: self._is_classifier)
    def decision_function(self, X: Rows) -> np.ndarray:
        """Responses before the decision: (n_new,) for two classes, (n_new, C) for more."""
        responses = self._responses(X)
        return responses[:, 0] if len(self.classes_) == 2 else responses

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = not self._is_classifier
        return tags

    @property
    def _is_classifier(self):
        """Whether responses are decided into classes."""
        return self.task == "classification"

    def _warn_of_rounding(self, reg):
        """Warn where rounding of kernel values may pass for features that ``reg`` lets through.

        A row of the factor at its pivot has the squared norm K(i, i), and its last entry squared
        is what the pivots before left of that.
        """
        # A pivot is cancelled where the others leave little of its K(i, i).
        rows = self.factor_.factor
        whole = np.einsum("ij,ij->i", rows, rows)
        cancelled = (rows.diagonal() ** 2 < _CANCELLED_SHARE * whole).any()
        largest = float(whole.max(initial=0))
        if cancelled and (error := np.finfo(float).eps * largest) > _LARGEST_KERNEL_ROUNDING * reg:
            warnings.warn(
                f"kernel values of {largest:.1e} are rounded by {error:.1e}, which may show at "
                f"reg {reg:.1e}: centre and scale the features, or raise reg or tol",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _responses(self, X):
        return self._rows(X) @ self.coef_ + self.intercept_

    def _rows(self, X):
        """Rows (n_new, k) of the factor for other points: K(X, I) G(I, :)^-T (Section 6.2)."""
        X = new_rows(self, X)
        precomputed = self.kernel == "precomputed"
        values = X[:, self.pivots_] if precomputed else self._gram(X, self._pivot_points)
        return self.factor_.transform(values)

    def _gram(self, X, Z):
        return gram(X, Z, kernel=self.kernel, gamma=self.gamma)

    def _decide(self, responses):
        """What ``predict`` returns for responses (n_new, d): themselves, a sign or the nearest."""
        if not self._is_classifier:
            return responses[:, 0] if self._one_response else responses
        if len(self.classes_) == 2:
            return self.classes_[(responses[:, 0] > 0).astype(np.intp)]
        # The closest indicator vector is that of the largest response.
        return self.classes_[responses.argmax(axis=1)]
