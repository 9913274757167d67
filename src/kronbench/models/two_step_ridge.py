"""Two-step kernel ridge regression (Stock et al. 2016, Section 3.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from sklearn.utils.validation import check_is_fitted

from kronbench.linalg import dense
from kronbench.models._label_matrix_model import FILTER, RidgeOfSides, check_exact, checked_matrix
from kronbench.models._parameters import AT_LEAST_0, KERNEL, WIDTH, estimator, parameter
from kronbench.models._vertex_kernel import VertexRidge, eigenpairs, stacked
from kronbench.pairs.data import Features, as_features
from kronbench.pairs.leave_folds_out import two_step_leave_folds_out, two_step_symmetric
from kronbench.pairs.leave_one_out import two_step_leave_one_out


@estimator
class TwoStepRidge(RidgeOfSides):
    """A ridge regression over the rows, and one over the columns of what the first predicts.

    (K + reg_rows I) A (G + reg_cols I) = Y, f(d, t) = k(d)' A g(t) (Eqs. 11 to 13). O(m^3 + q^3 +
    m^2 q + m q^2); a side with fewer linear features than vertices is solved in its features.

    Parameters
    ----------
    reg_rows, reg_cols : float, default 1.0
        The paper's lambda_d, lambda_t >= 0; zero is the pseudo-inverse of that side's kernel.
    row_kernel, col_kernel : {"linear", "gaussian", "tanimoto", "precomputed"} or callable, \
default "linear"
        Positive semidefinite kernels of the row and the column vertices, as in
        :func:`kronbench.linalg.gram`.
    row_gamma, col_gamma : float, optional
        Inverse squared widths of Gaussian kernels, exp(-gamma ||x - x'||^2).
    row_filter, col_filter : {"tikhonov", "cutoff", "iterated-tikhonov", "landweber"} \
or callable, default "tikhonov"
        Of the eigenvalues of each side (Eq. 24): :mod:`kronbench.pairs.spectral_filters`.

    Attributes
    ----------
    coef_ : array
        A, (m, q), in the dual; (d, .) or (., r) on a side in its primal form, the paper's W.
    dual_coef_ : (m, q) array
        A.
    shape_ : tuple
        (m, q).

    Notes
    -----
    ``loo`` is exact for positive weights and Tikhonov's filters, by Corollaries 2 to 5 of Stock et
    al. 2016: O(m^2 q + m q^2) after the eigenpairs. The paper says that they hold for every
    separable filter; they do not for the others. A point of the grid costs O(m q min(m, q)); with
    folds O(m q^2), and less than a fit for the systems of the folds; O(m^3) if symmetric.
    """

    reg_rows: float = parameter(1.0, AT_LEAST_0)
    reg_cols: float = parameter(1.0, AT_LEAST_0)
    row_kernel: str | Callable = parameter("linear", *KERNEL)
    col_kernel: str | Callable = parameter("linear", *KERNEL)
    row_gamma: float | None = parameter(None, *WIDTH)
    col_gamma: float | None = parameter(None, *WIDTH)
    row_filter: str | Callable = parameter("tikhonov", *FILTER)
    col_filter: str | Callable = parameter("tikhonov", *FILTER)

    _weights = ("reg_rows", "reg_cols")

    def _fit(self, row_features, row_vertices, col_features, col_vertices, Y):
        """A ridge system of each side, which ``_fit_sides`` applies to the labels (Eq. 13)."""
        rows = VertexRidge(self, "row", row_features, row_vertices, "row_filter", "reg_rows")
        cols = VertexRidge(self, "col", col_features, col_vertices, "col_filter", "reg_cols")
        return self._fit_sides(Y, rows, cols)

    def _scores(self, row_features, col_features):
        """Factors of the predictions k(d)'A g(t) (Eq. 12)."""
        weights = self._solve()[1]  # It comes first, as it settles how vertices are embedded.
        return self._rows.embed(row_features) @ weights, self._cols.embed(col_features)

    def partial_fit_cols(self, features: Features, Y: Features) -> Self:
        """Take in l new tasks by features (l, r) and labels Y (m, l) of all instances.

        As ``partial_fit_rows``, with the sides exchanged (Stock et al. 2016, Algorithm 2).
        """
        check_is_fitted(self)
        # The rows of the transposed problem are the columns of this one.
        features, (m, q) = as_features(features, "col_features"), self.shape_
        Y = checked_matrix(Y, (m, features.shape[0]), True)
        # The labels are projected by the rows, then line 2 of Algorithm 2 updates the columns.
        new = self._rows.project(Y).T
        self._projected = self._cols.extend(features, self._projected.T, new).T
        self._labels = stacked(self._labels.T, Y.T).T
        self.shape_, self._coef = (m, q + features.shape[0]), None
        return self

    def _left_out(self, setting, regs, folds, symmetric):
        """Corollaries 2 to 5."""
        # Each side is a ridge regression by itself, whose weight alone judges its eigenpairs.
        sides = self._rows, self._cols
        for side in sides:
            check_exact(side.filter)
        (rows,), (cols,) = (
            eigenpairs([side], min(r)) for side, r in zip(sides, regs, strict=True)
        )
        problem = setting, rows, cols, dense(self._labels), regs[0], regs[1]
        if symmetric:
            return two_step_symmetric(*problem)
        if folds is None:
            return two_step_leave_one_out(*problem)
        return two_step_leave_folds_out(*problem, folds)
