"""Kronecker kernel ridge regression on complete data (Stock et al. 2016, Section 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from kronbench.errors import check_positive
from kronbench.models._label_matrix_model import (
    LabelMatrixModel,
    check_exact,
    check_regs,
    check_setting,
    warn_if_ill_conditioned,
)
from kronbench.models._parameters import AT_LEAST_0, KERNEL, WIDTH
from kronbench.models._vertex_kernel import VertexKernel
from kronbench.pairs._small_pairs import small_pairs
from kronbench.pairs.leave_one_out import kron_leave_one_out
from kronbench.pairs.spectral_filters import FILTERS, as_filter, joint_filter, tikhonov


class CompleteKronRidge(LabelMatrixModel):
    """Ridge regression with a Kronecker product kernel, (G kron K + reg I) vec(A) = vec(Y).

    In closed form from the eigenpairs of both kernels, O(m^3 + q^3 + m^2 q + m q^2). With reg = 0
    it is ordinary Kronecker least squares, by the pseudo-inverse.

    Parameters
    ----------
    reg : float, default 1.0
        Regularization weight, the paper's lambda >= 0.
    row_kernel, col_kernel : {"linear", "gaussian", "tanimoto", "precomputed"} or callable, \
default "linear"
        Positive semidefinite kernels of the row vertices (instances) and column vertices (tasks),
        as in :func:`kronbench.linalg.gram`.
    row_gamma, col_gamma : float, optional
        Inverse squared widths of Gaussian kernels, exp(-gamma ||x - x'||^2).
    filter : {"tikhonov", "cutoff", "iterated-tikhonov", "landweber"} or callable(eigenvalues, reg)
        Applied to the products of eigenvalues (Eq. 21), by default "tikhonov", ridge regression;
        see :mod:`kronbench.pairs.spectral_filters`.

    Attributes
    ----------
    dual_coef_ : (m, q) array
        A.
    shape_ : tuple
        (m, q).
    """

    _parameter_constraints: ClassVar = {
        "reg": [AT_LEAST_0],
        "row_kernel": KERNEL,
        "col_kernel": KERNEL,
        "row_gamma": WIDTH,
        "col_gamma": WIDTH,
        "filter": [StrOptions(set(FILTERS)), callable],
    }

    def __init__(
        self,
        *,
        reg: float = 1.0,
        row_kernel: str | Callable = "linear",
        col_kernel: str | Callable = "linear",
        row_gamma: float | None = None,
        col_gamma: float | None = None,
        filter: str | Callable = "tikhonov",
    ):
        self.reg = reg
        self.row_kernel = row_kernel
        self.col_kernel = col_kernel
        self.row_gamma = row_gamma
        self.col_gamma = col_gamma
        self.filter = filter

    def _fit(self, row_features, row_vertices, col_features, col_vertices, Y):
        filter = as_filter(self.filter)
        reg = check_positive(self.reg, "reg", or_zero=filter is tikhonov)
        rows = VertexKernel(row_features, row_vertices, self.row_kernel, self.row_gamma, "row")
        cols = VertexKernel(col_features, col_vertices, self.col_kernel, self.col_gamma, "col")
        U, V = rows.spectrum.vectors, cols.spectrum.vectors
        filtered = joint_filter(filter, rows.spectrum.values, cols.spectrum.values, reg)
        if reg == 0:
            products = np.outer(rows.spectrum.values, cols.spectrum.values)
            warn_if_ill_conditioned(products, "the Kronecker product kernel")
        self.dual_coef_ = U @ (filtered * (U.T @ Y @ V)) @ V.T
        self.shape_ = Y.shape
        self._rows, self._cols, self._labels = rows, cols, Y
        return self

    def _scores(self, row_features, col_features):
        return self._rows.cross(row_features) @ self.dual_coef_, self._cols.cross(col_features)

    @classmethod
    def warm_up(cls) -> None:
        """Compile, or load, what fits and left-out predictions need: before a clock starts."""
        pairs, y = small_pairs()
        cls().fit(pairs, y).loo("D")

    def loo(self, setting: str) -> np.ndarray:
        """Leave-one-out predictions (m, q) of the training labels.

        Parameters
        ----------
        setting : {"A", "B", "C", "D"}
            What is left out to predict the pair (i, j): its label, row i, column j, or both.

        Raises
        ------
        InputError
            Unknown setting, reg = 0, or a filter without an exact shortcut.

        Notes
        -----
        Corollary 1 of Stock et al. 2016 for A. For B to D the paper knows no shortcut; these are
        exact all the same: B and C by one ridge regression in each direction of the other side's
        eigenvectors, D by a separable expansion of 1 / (x s + reg). After the eigenpairs they cost
        O(m^2 q + m q^2) for A, B and C, and O(log(kappa) log(1/eps)) times that for D, where
        kappa = x_max s_max / reg is the condition number of the system. The rounding of the
        kernels alone moves the solution by eps * kappa.
        """
        return next(iter(self.loo_grid(setting, [self.reg])))[1]

    def loo_grid(
        self, setting: str, regs: ArrayLike, score: Callable[[np.ndarray], float] | None = None
    ) -> np.ndarray | Iterator[tuple[int, np.ndarray]]:
        """Leave-one-out predictions for a grid of weights, from one eigendecomposition a side.

        Parameters
        ----------
        setting : {"A", "B", "C", "D"}
        regs : (s,) array of positive numbers
        score : callable((m, q) array) -> float, optional

        Returns
        -------
        (s,) array of scores; without ``score`` an iterator over (index, (m, q) predictions).
        """
        check_is_fitted(self)
        check_setting(setting)
        check_exact(as_filter(self.filter))
        regs = check_regs(regs, "regs")
        grid = enumerate(
            kron_leave_one_out(
                setting, self._rows.spectrum, self._cols.spectrum, self._labels, regs
            )
        )
        return grid if score is None else np.array([score(F) for _, F in grid])
