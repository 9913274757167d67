"""Two-step kernel ridge regression (Stock et al. 2016, Section 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from kronbench.errors import check_positive
from kronbench.linalg import dense
from kronbench.models._label_matrix_model import (
    LabelMatrixModel,
    check_exact,
    checked_features,
    checked_folds,
    checked_matrix,
    stacked,
    warn_if_ill_conditioned,
)
from kronbench.models._parameters import (
    AT_LEAST_0,
    TwoKernels,
    check_regs,
    estimator,
    parameter,
)
from kronbench.models._vertex_ridge import VertexRidge
from kronbench.pairs.data import Features
from kronbench.pairs.leave_folds_out import two_step_leave_folds_out, two_step_symmetric
from kronbench.pairs.leave_one_out import two_step_leave_one_out
from kronbench.pairs.spectral_filters import FILTERS, as_filter, tikhonov


@estimator
class TwoStepRidge(LabelMatrixModel, TwoKernels):
    """A ridge regression over the rows, and one over the columns of what the first predicts.

    (K + reg_rows I) A (G + reg_cols I) = Y, f(d, t) = k(d)' A g(t) (Eqs. 11 to 13). O(m^3 + q^3 +
    m^2 q + m q^2); a side with fewer linear features than vertices is solved in its features.

    Parameters
    ----------
    reg_rows, reg_cols : float, default 1.0
        Regularization values, the paper's lambda_d, lambda_t >= 0; zero is the pseudo-inverse of
        that side's kernel.
    {kernels}
    row_filter, col_filter : {"tikhonov", "cutoff", "iterated-tikhonov", "landweber"} or callable
        Filters of the eigenvalues of each side (Eq. 24), callable(eigenvalues, reg); by default
        "tikhonov", ridge regression. See :mod:`kronbench.pairs.spectral_filters`.

    Attributes
    ----------
    coef_ : array
        A, (m, q), in the dual; (d, .) or (., r) on a side in its primal form, the paper's W.
    dual_coef_ : (m, q) array
        A in any case.
    shape_ : tuple
        (m, q).

    Notes
    -----
    ``loo`` is exact for positive weights and Tikhonov's filters, by Corollaries 2 to 5 of Stock et
    al. 2016: O(m^2 q + m q^2) after the eigenpairs. The paper says that they hold for every
    separable filter; they do not for the others.
    """

    reg_rows: float = parameter(1.0, AT_LEAST_0)
    reg_cols: float = parameter(1.0, AT_LEAST_0)
    row_filter: str | Callable = parameter("tikhonov", StrOptions(set(FILTERS)), callable)
    col_filter: str | Callable = parameter("tikhonov", StrOptions(set(FILTERS)), callable)

    _weights = ("reg_rows", "reg_cols")
    _sparse_labels = True

    def _fit(self, row_features, row_vertices, col_features, col_vertices, Y):
        given = {"row": (row_features, row_vertices), "col": (col_features, col_vertices)}
        sides = []
        for name, (features, vertices) in given.items():
            filter = as_filter(getattr(self, f"{name}_filter"))
            reg = getattr(self, f"reg_{name}s")
            reg = check_positive(reg, f"reg_{name}s", or_zero=filter is tikhonov)
            kernel, gamma = getattr(self, f"{name}_kernel"), getattr(self, f"{name}_gamma")
            side = VertexRidge(features, vertices, kernel, gamma, name, filter, reg)
            if reg == 0:
                warn_if_ill_conditioned(side.spectrum.values, f"the {name} kernel")
            sides.append(side)
        self._rows, self._cols = sides
        self._labels = Y
        self._projected = self._cols.project(self._rows.project(Y).T).T
        self.shape_ = Y.shape
        self._coef = self._solve()
        return self

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
        return self._cols.dual_solve(self._rows.dual_solve(self._labels).T).T

    def _scores(self, row_features, col_features):
        return self._rows.embed(row_features) @ self.coef_, self._cols.embed(col_features)

    def partial_fit_rows(self, features: Features, Y: Features) -> Self:
        """Take in l new instances, exactly (Stock et al. 2016, Algorithm 1).

        Primal rows: O(l^3 + d^2 l) for l < d features, O(d^3 + d^2 l) otherwise. Dual rows are
        stacked, and factorized with the old ones, O(m^3); linear ones that come to be more than
        their features change to the primal. The coefficients are recomputed at the next access.

        Parameters
        ----------
        features : (l, d) array or sparse matrix
            With a precomputed kernel (l, m + l) values with the m old rows, then the l new.
        Y : (l, q) array or sparse matrix
            Their labels for all tasks.
        """
        check_is_fitted(self)
        features = checked_features(features)
        Y = checked_matrix(Y, features.shape[0], self.shape_[1], allow_sparse=True)
        self._projected = self._extended(self._projected, features, Y, self._rows, self._cols)
        self._labels = stacked(self._labels, Y)
        self.shape_ = (self.shape_[0] + features.shape[0], self.shape_[1])
        return self

    def partial_fit_cols(self, features: Features, Y: Features) -> Self:
        """Take in l new tasks by features (l, r) and labels Y (m, l) of all instances.

        As ``partial_fit_rows``, with the sides exchanged (Stock et al. 2016, Algorithm 2).
        """
        check_is_fitted(self)
        features = checked_features(features)
        Y = checked_matrix(Y, self.shape_[0], features.shape[0], allow_sparse=True)
        turned = self._extended(self._projected.T, features, Y.T, self._cols, self._rows)
        self._projected = turned.T
        self._labels = stacked(self._labels.T, Y.T).T
        self.shape_ = (self.shape_[0], self.shape_[1] + features.shape[0])
        return self

    def _extended(self, projected, features, Y, growing, other):
        """Grow one side; ``projected`` and Y have its vertices as rows."""
        self._coef = None
        return growing.extend(features, projected, other.project(Y.T).T, keep=True)

    def loo_grid(  # type: ignore[override] # of two weights
        self,
        setting: str,
        regs_rows: ArrayLike,
        regs_cols: ArrayLike,
        score: Callable[[np.ndarray], float] | None = None,
        *,
        folds: ArrayLike | None = None,
        symmetric: bool = False,
    ) -> np.ndarray | Iterator[tuple[tuple[int, int], np.ndarray]]:
        """As ``CompleteKronRidge.loo_grid``, for all pairs of s weights of rows and t of columns.

        Returns an (s, t) array of scores; without ``score`` an iterator over ((i, j), (m, q)
        predictions), in any order. A point of the grid costs O(m q min(m, q)); with folds O(m
        q^2), and less than a fit for the systems of the folds; O(m^3) if symmetric.
        """
        check_is_fitted(self)
        given = checked_folds(setting, folds, symmetric, self.shape_)
        for side in (self._rows, self._cols):
            check_exact(side.filter)
        regs_rows = check_regs(regs_rows, "regs_rows")
        regs_cols = check_regs(regs_cols, "regs_cols")
        spectra = self._rows.thin_spectrum, self._cols.thin_spectrum
        problem = setting, *spectra, dense(self._labels), regs_rows, regs_cols
        if symmetric:
            grid = two_step_symmetric(*problem)
        elif given is None:
            grid = two_step_leave_one_out(*problem)
        else:
            grid = two_step_leave_folds_out(*problem, given)
        if score is None:
            return grid
        scores = np.empty((len(regs_rows), len(regs_cols)))
        for point, F in grid:
            scores[point] = score(F)
        return scores
