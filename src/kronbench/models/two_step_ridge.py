"""Two-step kernel ridge regression (Stock et al. 2016, Section 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from kronbench.errors import InputError, check_positive
from kronbench.models._label_matrix_model import (
    LabelMatrixModel,
    check_exact,
    check_kept,
    check_regs,
    check_setting,
    checked_features,
    checked_matrix,
    checked_vertices,
    dense_labels,
    stacked,
    warn_if_ill_conditioned,
)
from kronbench.models._parameters import AT_LEAST_0, KERNEL, WIDTH
from kronbench.models._vertex_ridge import VertexRidge
from kronbench.pairs.data import Features
from kronbench.pairs.leave_one_out import (
    held_out_by_column,
    held_out_pairs,
    two_step_leave_one_out,
)
from kronbench.pairs.spectral_filters import FILTERS, as_filter, tikhonov


class TwoStepRidge(LabelMatrixModel):
    """A ridge regression over the rows, and one over the columns of what the first predicts.

    (K + reg_rows I) A (G + reg_cols I) = Y, f(d, t) = k(d)' A g(t) (Eqs. 11 to 13). O(m^3 + q^3 +
    m^2 q + m q^2); a side with fewer linear features than vertices is solved in its features.

    Parameters
    ----------
    reg_rows, reg_cols : float, default 1.0
        Regularization values, the paper's lambda_d, lambda_t >= 0; zero is the pseudo-inverse of
        that side's kernel.
    row_kernel, col_kernel : {"linear", "gaussian", "tanimoto", "precomputed"} or callable, \
default "linear"
        Positive semidefinite kernels of the row vertices (instances) and column vertices (tasks),
        as in :func:`kronbench.linalg.gram`.
    row_gamma, col_gamma : float, optional
        Inverse squared widths of Gaussian kernels, exp(-gamma ||x - x'||^2).
    row_filter, col_filter : {"tikhonov", "cutoff", "iterated-tikhonov", "landweber"} or callable
        Filters of the eigenvalues of each side (Eq. 24), callable(eigenvalues, reg); by default
        "tikhonov", ridge regression. See :mod:`kronbench.pairs.spectral_filters`.
    keep_data : bool, default True
        False frees what mini-batches of the same kind need no more: past features of a side in its
        primal form, and labels. Leave-one-out predictions are then unknown, and new columns cannot
        follow new rows.

    Attributes
    ----------
    coef_ : array
        A, (m, q), in the dual; (d, .) or (., r) on a side in its primal form, the paper's W.
    dual_coef_ : (m, q) array
        A in any case.
    shape_ : tuple
        (m, q).
    """

    _parameter_constraints: ClassVar = {
        "reg_rows": [AT_LEAST_0],
        "reg_cols": [AT_LEAST_0],
        "row_kernel": KERNEL,
        "col_kernel": KERNEL,
        "row_gamma": WIDTH,
        "col_gamma": WIDTH,
        "row_filter": [StrOptions(set(FILTERS)), callable],
        "col_filter": [StrOptions(set(FILTERS)), callable],
        "keep_data": ["boolean"],
    }

    def __init__(
        self,
        *,
        reg_rows: float = 1.0,
        reg_cols: float = 1.0,
        row_kernel: str | Callable = "linear",
        col_kernel: str | Callable = "linear",
        row_gamma: float | None = None,
        col_gamma: float | None = None,
        row_filter: str | Callable = "tikhonov",
        col_filter: str | Callable = "tikhonov",
        keep_data: bool = True,
    ):
        self.reg_rows = reg_rows
        self.reg_cols = reg_cols
        self.row_kernel = row_kernel
        self.col_kernel = col_kernel
        self.row_gamma = row_gamma
        self.col_gamma = col_gamma
        self.row_filter = row_filter
        self.col_filter = col_filter
        self.keep_data = keep_data

    def fit_matrix(self, row_features: Features, col_features: Features, Y: Features) -> Self:
        """Fit to a label matrix.

        Parameters
        ----------
        row_features : (m, d) array or sparse matrix, or (m, m) precomputed kernel
        col_features : (q, r) array or sparse matrix, or (q, q) precomputed kernel
        Y : (m, q) array or sparse matrix
            A sparse one stays sparse where a side is in its primal form.

        Raises
        ------
        InputError
            Shapes do not fit, or a value is not finite.
        """
        self._check_parameters()
        vertices = checked_vertices(row_features, col_features)
        Y = checked_matrix(Y, vertices.n_rows, vertices.n_cols, allow_sparse=True)
        return self._fit(vertices.row_features, None, vertices.col_features, None, Y)

    def _fit(self, row_features, row_vertices, col_features, col_vertices, Y):
        sides = self._sides(row_features, row_vertices, col_features, col_vertices)
        self._rows, self._cols = sides
        for side in sides:
            if side.reg == 0:
                warn_if_ill_conditioned(side.spectrum.values, f"the {side.name} kernel")
        self._labels = Y if self.keep_data else None
        self._projected = self._cols.project(self._rows.project(Y).T).T
        self.shape_ = Y.shape
        self._coef = self._solve()
        return self

    def _sides(self, row_features, row_vertices, col_features, col_vertices):
        row_filter = as_filter(self.row_filter, "row_filter")
        col_filter = as_filter(self.col_filter, "col_filter")
        reg_rows = check_positive(self.reg_rows, "reg_rows", or_zero=row_filter is tikhonov)
        reg_cols = check_positive(self.reg_cols, "reg_cols", or_zero=col_filter is tikhonov)
        row_kernel, col_kernel = (
            (self.row_kernel, self.row_gamma, "row"),
            (self.col_kernel, self.col_gamma, "col"),
        )
        return (
            VertexRidge(row_features, row_vertices, *row_kernel, row_filter, reg_rows),
            VertexRidge(col_features, col_vertices, *col_kernel, col_filter, reg_cols),
        )

    def _solve(self):
        return self._cols.solve(self._rows.solve(self._projected).T).T

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of both steps, solved for when first asked for."""
        if self._coef is None:
            self._coef = self._solve()
        return self._coef

    @property
    def dual_coef_(self) -> np.ndarray:
        """Dual coefficients (m, q), solved for from the labels at each call."""
        check_kept(self._labels)
        return self._cols.dual_solve(self._rows.dual_solve(self._labels).T).T

    def _scores(self, row_features, col_features):
        return self._rows.embed(row_features) @ self.coef_, self._cols.embed(col_features)

    def partial_fit_rows(self, features: Features, Y: Features) -> Self:
        """Take in l new instances, exactly (Stock et al. 2016, Algorithm 1).

        Primal rows: O(l^3 + d^2 l) for l < d features, O(d^3 + d^2 l) otherwise. Dual rows:
        O(m^2 l + l^3); linear ones that come to be more than their features change to the primal.
        The coefficients follow when next asked for, so that batches may go by without them.

        Parameters
        ----------
        features : (l, d) array or sparse matrix
            With a precomputed kernel (l, m + l) values with the m old rows, then the l new.
        Y : (l, q) array or sparse matrix
            Their labels for all tasks.

        Raises
        ------
        InputError
            Shapes do not fit, the rows' filter or reg = 0 has no exact update, or an update of the
            other side was made without the data it needs.

        Warns
        -----
        LinAlgWarning
            The kernel of the rows plus reg_rows is so ill-conditioned that rounding moves
            predictions by more than 1e-8, as it does those of a model trained anew.

        Notes
        -----
        Dual rows append to a Cholesky factor, with the rounding of retraining. In the primal a
        batch that would cost the updated inverse more than five digits makes it factorize its
        d x d system afresh.
        """
        check_is_fitted(self)
        features = checked_features(features)
        Y = checked_matrix(Y, features.shape[0], self.shape_[1], allow_sparse=True)
        self._projected = self._extended(self._projected, features, Y, self._rows, self._cols)
        self._labels = stacked(self._labels, Y) if self.keep_data else None
        self.shape_ = (self.shape_[0] + features.shape[0], self.shape_[1])
        return self

    def partial_fit_cols(self, features: Features, Y: Features) -> Self:
        """Take in l new tasks, exactly (Stock et al. 2016, Algorithm 2).

        As ``partial_fit_rows``, with the sides exchanged.

        Parameters
        ----------
        features : (l, r) array or sparse matrix, or (l, q + l) precomputed kernel values
        Y : (m, l) array or sparse matrix
            Labels of all instances for the new tasks.
        """
        check_is_fitted(self)
        features = checked_features(features)
        Y = checked_matrix(Y, self.shape_[0], features.shape[0], allow_sparse=True)
        turned = self._extended(self._projected.T, features, Y.T, self._cols, self._rows)
        self._projected = turned.T
        self._labels = stacked(self._labels.T, Y.T).T if self.keep_data else None
        self.shape_ = (self.shape_[0], self.shape_[1] + features.shape[0])
        return self

    def _extended(self, projected, features, Y, growing, other):
        """Grow one side; ``projected`` and Y have its vertices as rows."""
        if other.primal and other.forgotten:
            raise InputError(
                f"the features of past {other.name} vertices were not kept: fit with "
                "keep_data=True to take in both new rows and new columns"
            )
        new = other.project(Y.T).T
        projected = growing.extend(features, projected, new, self.keep_data)
        if not self.keep_data:
            growing.forget_features()
        self._coef = None
        return projected

    def loo(self, setting: str) -> np.ndarray:
        """Leave-one-out predictions (m, q) of the training labels.

        Parameters
        ----------
        setting : {"A", "B", "C", "D"}
            What is left out to predict the pair (i, j): its label, row i, column j, or both.

        Raises
        ------
        InputError
            Unknown setting, a weight of zero, or a filter without an exact shortcut.

        Notes
        -----
        Corollaries 2 to 5 of Stock et al. 2016: O(m^2 q + m q^2) after the eigenpairs. The paper
        says that they hold for every separable filter; they are exact for Tikhonov's only.
        """
        return next(iter(self.loo_grid(setting, [self.reg_rows], [self.reg_cols])))[1]

    def loo_grid(
        self,
        setting: str,
        regs_rows: ArrayLike,
        regs_cols: ArrayLike,
        score: Callable[[np.ndarray], float] | None = None,
    ) -> np.ndarray | Iterator[tuple[tuple[int, int], np.ndarray]]:
        """Leave-one-out predictions for a grid of values, from one eigendecomposition a side.

        A point of the grid costs one product, O(m q min(m, q)).

        Parameters
        ----------
        setting : {"A", "B", "C", "D"}
        regs_rows : (s,) array of positive numbers
        regs_cols : (t,) array of positive numbers
        score : callable((m, q) array) -> float, optional

        Returns
        -------
        (s, t) array of scores; without ``score`` an iterator over ((i, j), (m, q) predictions), in
        an order of its own.
        """
        check_is_fitted(self)
        check_setting(setting)
        for side in (self._rows, self._cols):
            check_exact(side.filter)
        regs_rows = check_regs(regs_rows, "regs_rows")
        regs_cols = check_regs(regs_cols, "regs_cols")
        grid = two_step_leave_one_out(
            setting,
            self._rows.thin_spectrum,
            self._cols.thin_spectrum,
            dense_labels(self._labels),
            regs_rows,
            regs_cols,
        )
        if score is None:
            return grid
        scores = np.empty((len(regs_rows), len(regs_cols)))
        for point, F in grid:
            scores[point] = score(F)
        return scores

    def held_out(self, mask: np.ndarray) -> np.ndarray:
        """Predictions of the pairs in ``mask`` from all other training pairs (setting A).

        Leave-one-out in setting A with more than one pair: the minimizer of the squared error over
        the other pairs with the penalty of Theorem 2. O(n^3) for n pairs after the eigenpairs.

        Parameters
        ----------
        mask : (m, q) boolean array

        Returns
        -------
        (n,) array, in the row-major order of the mask.
        """
        check_is_fitted(self)
        mask = np.asarray(mask)
        if mask.shape != self.shape_ or mask.dtype != bool:
            raise InputError(
                f"mask has shape {mask.shape} and dtype {mask.dtype}: give booleans "
                f"of shape {self.shape_}"
            )
        return self._held_out(self._rows, self._cols, dense_labels(self._labels), mask)

    def held_out_by_column(self, rows: ArrayLike) -> np.ndarray:
        """Predictions of some rows of a column from all other training pairs, for each column.

        As ``held_out`` with a mask of these rows in one column, for every column in turn, in
        O(l^3 + m q (m + q)) altogether: each column plays the target task of almost zero-shot
        learning, whose labels are known for the other rows only.

        Parameters
        ----------
        rows : (l,) integer array
            Different positions of training rows.

        Returns
        -------
        (l, q) array
        """
        check_is_fitted(self)
        rows = np.asarray(rows)
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or len(np.unique(rows)) < len(rows):
            raise InputError("rows repeats a position or is no list of integers: name each once")
        if len(rows) and not 0 <= rows.min() <= rows.max() < self.shape_[0]:
            raise InputError(f"rows holds a position out of range for {self.shape_[0]} rows")
        self._check_held_out(self._rows, self._cols)
        return held_out_by_column(
            self._rows.thin_spectrum,
            self._cols.thin_spectrum,
            dense_labels(self._labels),
            self._rows.reg,
            self._cols.reg,
            rows,
        )

    def impute(self, row_features: Features, col_features: Features, Y: ArrayLike) -> np.ndarray:
        """Y with its missing labels filled in: the first step of almost zero-shot learning.

        Fitting to the result is the second (Stock et al. 2016, Section 6.2). Nothing is fitted
        here.

        Parameters
        ----------
        row_features, col_features
            As for ``fit_matrix``.
        Y : (m, q) array
            NaN where the label is missing.

        Returns
        -------
        (m, q) array; missing labels as in ``held_out``.
        """
        self._check_parameters()
        vertices = checked_vertices(row_features, col_features)
        Y = checked_matrix(Y, vertices.n_rows, vertices.n_cols, missing=True)
        missing = np.isnan(Y)
        filled = np.where(missing, 0.0, Y)
        sides = self._sides(vertices.row_features, None, vertices.col_features, None)
        filled[missing] = self._held_out(*sides, filled, missing)
        return filled

    def _held_out(self, rows, cols, Y, mask):
        self._check_held_out(rows, cols)
        return held_out_pairs(rows.thin_spectrum, cols.thin_spectrum, Y, rows.reg, cols.reg, mask)

    @staticmethod
    def _check_held_out(*sides):
        for side in sides:
            check_exact(side.filter)
            check_positive(side.reg, f"reg_{side.name}s")
