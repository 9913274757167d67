"""Independent-task kernel ridge regression (Stock et al. 2016, Section 3.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from kronbench.errors import InputError, check_positive
from kronbench.linalg import dense
from kronbench.models._label_matrix_model import (
    LabelMatrixModel,
    check_exact,
    checked_features,
    checked_matrix,
    stacked,
    warn_if_ill_conditioned,
)
from kronbench.models._pair_labels import check_pairs
from kronbench.models._parameters import AT_LEAST_0, KERNEL, WIDTH, estimator, parameter
from kronbench.models._vertex_ridge import VertexRidge
from kronbench.pairs.data import Features, PairData
from kronbench.pairs.leave_folds_out import ridge_leave_folds_out
from kronbench.pairs.leave_one_out import ridge_leave_one_out
from kronbench.pairs.spectral_filters import FILTERS, as_filter, tikhonov


@estimator
class IndependentRidge(LabelMatrixModel):
    """A ridge regression for each column on the row vertices alone: (K + reg I) A = Y (Eq. 2).

    Columns are the tasks of the training set and have no features; new ones cannot be predicted.
    O(m^3 + m^2 q), or O(m d^2 + d^2 q) with d < m explicit features.

    Parameters
    ----------
    reg : float, default 1.0
        Regularization weight, the paper's lambda_d >= 0; zero is least squares by the
        pseudo-inverse.
    row_kernel : {"linear", "gaussian", "tanimoto", "precomputed"} or callable, default "linear"
        Positive semidefinite kernel of the row vertices, as in :func:`kronbench.linalg.gram`.
    row_gamma : float, optional
        Inverse squared width of a Gaussian kernel, exp(-gamma ||x - x'||^2).
    filter : {"tikhonov", "cutoff", "iterated-tikhonov", "landweber"} or callable(eigenvalues, reg)
        By default "tikhonov", ridge regression; see :mod:`kronbench.pairs.spectral_filters`.
    keep_data : bool, default True
        False frees past rows and labels that explicit features no longer need
        (``partial_fit_rows`` in a stream); then there are no leave-one-out predictions.

    Attributes
    ----------
    coef_ : (d, q) array for d < m explicit features, else (m, q)
        A row for each feature; else the dual coefficients.
    dual_coef_ : (m, q) array
        A.
    shape_ : tuple
        (m, q).
    """

    reg: float = parameter(1.0, AT_LEAST_0)
    row_kernel: str | Callable = parameter("linear", *KERNEL)
    row_gamma: float | None = parameter(None, *WIDTH)
    filter: str | Callable = parameter("tikhonov", StrOptions(set(FILTERS)), callable)
    keep_data: bool = parameter(True, "boolean")

    _sparse_labels = True

    def fit_matrix(
        self, row_features: Features, col_features: Features | None, Y: Features
    ) -> Self:
        """Fit to a label matrix Y (m, q), dense or sparse; ``col_features`` are not used."""
        n_cols = np.shape(Y)[1] if np.ndim(Y) == 2 else 0
        return super().fit_matrix(row_features, np.empty((n_cols, 0)), Y)

    def _fit(self, row_features, row_vertices, col_features, col_vertices, Y):
        filter = as_filter(self.filter)
        reg = check_positive(self.reg, "reg", or_zero=filter is tikhonov)
        self._rows = VertexRidge(
            row_features, row_vertices, self.row_kernel, self.row_gamma, "row", filter, reg
        )
        if reg == 0:
            warn_if_ill_conditioned(self._rows.spectrum.values, "the row kernel")
        self._labels = Y
        self._projected = self._rows.project(Y)
        self._task_positions = np.arange(Y.shape[1]) if col_vertices is None else col_vertices
        self._n_given_tasks = col_features.shape[0]
        self.shape_ = Y.shape
        self._coef: Any = self._rows.solve(self._projected)
        if not self.keep_data:
            self._labels = None
            self._rows.forget_features()
        return self

    def partial_fit_rows(self, features: Features, Y: Features) -> Self:
        """Take in l new instances by features (l, d) and labels Y (l, q) for all tasks.

        As ``TwoStepRidge.partial_fit_rows`` (Stock et al. 2016, Algorithm 1).
        """
        check_is_fitted(self)
        features = checked_features(features)
        Y = checked_matrix(Y, features.shape[0], self.shape_[1], allow_sparse=True)
        keep = self._labels is not None
        self._projected = self._rows.extend(features, self._projected, Y, keep)
        if keep:
            self._labels = stacked(self._labels, Y)
        else:
            self._rows.forget_features()
        self.shape_ = (self.shape_[0] + features.shape[0], self.shape_[1])
        self._coef = None
        return self

    @property
    def coef_(self) -> np.ndarray:
        """Primal coefficients, one column for each task, solved for when first asked for."""
        if self._coef is None:
            self._coef = self._rows.solve(self._projected)
        return self._coef

    @property
    def dual_coef_(self) -> np.ndarray:
        """Dual coefficients (m, q), solved for from the labels at each call."""
        return self._rows.dual_solve(self._kept_labels())

    def _kept_labels(self):
        if self._labels is None:
            raise InputError("the training data was not kept: fit with keep_data=True")
        return self._labels

    def predict_matrix(
        self, row_features: Features, col_features: Features | None = None
    ) -> np.ndarray:
        """Predictions (m', q) of all tasks for new row vertices, as ``CompleteKronRidge``'s."""
        check_is_fitted(self)
        row_features = checked_features(row_features)
        return np.asarray(self._rows.embed(row_features) @ self.coef_)

    def predict(self, X: PairData) -> np.ndarray:
        """Predictions (n,) for the pairs of X, whose columns are tasks of the training set."""
        check_is_fitted(self)
        check_pairs(X)
        if X.n_cols != self._n_given_tasks:
            raise InputError(
                f"X has {X.n_cols} column vertices and the training set {self._n_given_tasks}: "
                "IndependentRidge predicts for the tasks of its training set only; TwoStepRidge "
                "and CompleteKronRidge take new ones"
            )
        position = np.full(X.n_cols, -1)
        position[self._task_positions] = np.arange(self.shape_[1])
        cols = position[X.cols]
        if (cols < 0).any():
            raise InputError(
                f"X holds pairs of column {X.cols[cols < 0][0]}, which has no training labels: "
                "IndependentRidge cannot predict it; TwoStepRidge and CompleteKronRidge can"
            )
        used_rows, rows = np.unique(X.rows, return_inverse=True)
        return self.predict_matrix(X.row_features[used_rows])[rows, cols]

    def loo(
        self, setting: str = "A", folds: ArrayLike | None = None, *, symmetric: bool = False
    ) -> np.ndarray:
        """Left-out predictions (m, q) of the training labels (Theorem 7), as CompleteKronRidge's.

        One by one they are the same for the settings A and B, as other tasks' labels do not
        matter. There are none in C and D, and no symmetric ones.
        """
        return super().loo(setting, folds, symmetric=symmetric)

    def _left_out(self, setting, regs, folds, symmetric):
        if setting in ("C", "D") or symmetric:
            raise InputError(
                f"{'symmetric=True' if symmetric else f'setting {setting!r}'} leaves out "
                "tasks, for which IndependentRidge has no features"
            )
        check_exact(self._rows.filter)
        given = self._rows.thin_spectrum, dense(self._kept_labels()), regs
        if folds is None:
            return ridge_leave_one_out(*given)
        return ridge_leave_folds_out(setting, *given, folds)
