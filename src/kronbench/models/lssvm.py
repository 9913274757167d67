"""Least-squares support vector machine with an intercept, on the full kernel matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import RegressorMixin

from kronbench.errors import InputError
from kronbench.linalg import gram
from kronbench.models._parameters import (
    KERNEL,
    POSITIVE,
    WIDTH,
    estimator,
    parameter,
)
from kronbench.models._row_classifier import OfRows, Rows, new_rows, training_rows


@estimator
class LSSVM(RegressorMixin, OfRows):
    """Ridge regression with an unpenalized intercept, by one Cholesky factorization.

    min ||Y - K A - 1 c||^2 / (2 n) + reg <A, K A> / 2 (Bach & Jordan 2005, Section 6): O(n^3) for
    one value of reg. :class:`kronbench.linalg.lssvm_paths.LSSVMPath` takes one eigendecomposition
    for all values.

    Parameters
    ----------
    reg : float, default 1e-3
        Regularization weight, the paper's tau > 0. The error is a mean here but a sum in the
        models of pairs, whose reg is n times this one.
    kernel : {"linear", "gaussian", "tanimoto", "precomputed"} or callable, default "linear"
        As in :func:`kronbench.linalg.gram`.
    gamma : float, optional
        Inverse squared width of a Gaussian kernel, exp(-gamma ||x - x'||^2).

    Attributes
    ----------
    n_features_in_ : int
        p; of training points where the kernel is precomputed.
    X_fit_ : (n, p) array or sparse matrix, or None
        The training points; None where the kernel is precomputed.
    dual_coef_ : (n,) or (n, d) array
        A. Its columns sum to zero.
    intercept_ : float or (d,) array
        c.
    """

    reg: float = parameter(1e-3, POSITIVE)
    kernel: str | Callable = parameter("linear", *KERNEL)
    gamma: float | None = parameter(None, *WIDTH)

    def fit(self, X: Rows, y: ArrayLike) -> Self:
        """Fit to responses y, (n,) or (n, d), of points X (n, p) or their kernel matrix."""
        self._check_parameters()
        X, Y = training_rows(self, X, y, multi_output=True, y_numeric=True)
        K = self._gram(X)
        if K.shape[0] != K.shape[1]:
            raise InputError(f"the kernel matrix X has shape {K.shape}: give a square one")
        n, mean = len(K), K.mean(axis=0)
        centred = K - mean
        centred -= mean[:, None]
        centred += mean.mean()
        centred[np.diag_indices(n)] += n * self.reg
        target_mean = Y.mean(axis=0)
        self.X_fit_ = None if self.kernel == "precomputed" else X
        self.dual_coef_ = cho_solve(cho_factor(centred, overwrite_a=True), Y - target_mean)
        # The coefficients sum to zero, so that centring the columns of a test kernel is enough.
        self.intercept_ = target_mean - mean @ self.dual_coef_
        return self

    def predict(self, X: Rows) -> np.ndarray:
        """Responses, (n',) or (n', d), at new points (n', p).

        With a precomputed kernel, from the kernel values (n', n) with the training points.
        """
        X = new_rows(self, X)
        K = X if self.X_fit_ is None else self._gram(X, self.X_fit_)
        return K @ self.dual_coef_ + self.intercept_

    def _gram(self, *points):
        return gram(*points, kernel=self.kernel, gamma=self.gamma)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
