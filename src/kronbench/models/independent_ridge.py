"""Independent-task kernel ridge regression (Stock et al. 2016, Section 3.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kronbench.errors import InputError
from kronbench.linalg import dense
from kronbench.models._label_matrix_model import FILTER, RidgeOfSides, check_exact
from kronbench.models._pair_classifier import check_pairs
from kronbench.models._parameters import AT_LEAST_0, KERNEL, WIDTH, estimator, parameter
from kronbench.models._vertex_kernel import VertexRidge, eigenpairs
from kronbench.pairs.data import Features, PairData, as_features
from kronbench.pairs.leave_folds_out import ridge_leave_folds_out
from kronbench.pairs.leave_one_out import ridge_leave_one_out


@estimator
class IndependentRidge(RidgeOfSides):
    """A ridge regression for each column on the row vertices alone: (K + reg I) A = Y (Eq. 2).

    Columns are the tasks of the training set and have no features; new ones cannot be predicted.
    O(m^3 + m^2 q), or O(m d^2 + d^2 q) with d < m explicit features.

    Parameters
    ----------
    reg : float, default 1.0
        The paper's lambda_d >= 0; zero is least squares by the pseudo-inverse.
    row_kernel : {"linear", "gaussian", "tanimoto", "precomputed"} or callable, default "linear"
        Positive semidefinite kernel of the row vertices, as in :func:`kronbench.linalg.gram`.
    row_gamma : float, optional
        Inverse squared width of a Gaussian kernel, exp(-gamma ||x - x'||^2).
    filter : {"tikhonov", "cutoff", "iterated-tikhonov", "landweber"} or callable, \
default "tikhonov"
        "tikhonov" is ridge regression; a callable is a function of (eigenvalues, reg). See
        :mod:`kronbench.pairs.spectral_filters`.
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

    Notes
    -----
    ``loo`` is exact (Theorem 7). One by one it is the same in the settings A and B, as other
    tasks' labels do not matter. There is none in C and D, and no symmetric one.
    """

    reg: float = parameter(1.0, AT_LEAST_0)
    row_kernel: str | Callable = parameter("linear", *KERNEL)
    row_gamma: float | None = parameter(None, *WIDTH)
    filter: str | Callable = parameter("tikhonov", *FILTER)
    keep_data: bool = parameter(True, "boolean")

    def fit_matrix(
        self, row_features: Features, col_features: Features | None, Y: Features
    ) -> Self:
        """Fit to a label matrix Y (m, q), dense or sparse; ``col_features`` are not used."""
        n_cols = np.shape(Y)[1] if np.ndim(Y) == 2 else 0
        return super().fit_matrix(row_features, np.empty((n_cols, 0)), Y)

    def _fit(self, row_features, row_vertices, col_features, col_vertices, Y):
        """Solve (K + reg I) A = Y (Eq. 2); of the columns only their positions matter."""
        # The columns have no features: their positions say which tasks have labels.
        self._n_given_tasks = col_features.shape[0]
        self._task_positions = slice(None) if col_vertices is None else col_vertices
        rows = VertexRidge(self, "row", row_features, row_vertices, "filter", "reg")
        self._fit_sides(Y, rows)
        if not self.keep_data:
            self._labels = None
            rows.forget_features()
        return self

    def predict_matrix(
        self, row_features: Features, col_features: Features | None = None
    ) -> np.ndarray:
        """Predictions (m', q) of all tasks for new row vertices, as ``CompleteKronRidge``'s."""
        check_is_fitted(self)
        row_features = as_features(row_features, "row_features")
        weights = self._solve()[1]  # It comes first, as it settles how vertices are embedded.
        return np.asarray(self._rows.embed(row_features) @ weights)

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
        # Columns without training labels have no task.
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

    def _left_out(self, setting, regs, folds, symmetric):
        """Theorem 7, for one row or a fold of them."""
        if setting in ("C", "D") or symmetric:
            raise InputError(
                f"{'symmetric=True' if symmetric else f'setting {setting!r}'} leaves out "
                "tasks, for which IndependentRidge has no features"
            )
        check_exact(self._rows.filter)
        # Theorem 7 needs the hat matrix, by the eigenpairs of K.
        (rows,), labels = eigenpairs([self._rows], min(regs[0])), dense(self._kept_labels())
        if folds is None:
            return enumerate(ridge_leave_one_out(rows, labels, regs[0]))
        return enumerate(ridge_leave_folds_out(setting, rows, labels, regs[0], folds))
