"""Kronecker kernel ridge regression on complete data (Stock et al. 2016, Section 3.2)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.utils._param_validation import StrOptions

from kronbench.errors import InputError, check_positive
from kronbench.models._label_matrix_model import FILTER, LabelMatrixModel, check_exact
from kronbench.models._parameters import AT_LEAST_0, KERNEL, WIDTH, estimator, parameter
from kronbench.models._vertex_kernel import (
    VertexKernel,
    eigenpairs,
    rounding,
    warn_if_ill_conditioned,
    warn_if_rounded,
)
from kronbench.pairs.data import small_pairs
from kronbench.pairs.leave_folds_out import kron_leave_folds_out, kron_symmetric_pairs
from kronbench.pairs.leave_one_out import kron_leave_one_out
from kronbench.pairs.spectral_filters import as_filter, tikhonov


@estimator
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
        Positive semidefinite kernels of the row and the column vertices, as in
        :func:`kronbench.linalg.gram`.
    row_gamma, col_gamma : float, optional
        Inverse squared widths of Gaussian kernels, exp(-gamma ||x - x'||^2).
    filter : {"tikhonov", "cutoff", "iterated-tikhonov", "landweber"} or callable, \
default "tikhonov"
        "tikhonov" is ridge regression; a callable is a function of (eigenvalues, reg). See
        :mod:`kronbench.pairs.spectral_filters`.
    loss : {"squared", "ranking"}, default "squared"
        "ranking" ranks the columns for each row (conditional ranking, RankRLS; Pahikkala et al.
        2013): 1/(2 q) times the sum, over each row and each two of its q columns, of
        ((y - y') - (p - p'))^2. Then G and Y are centred; scores of a row are known up to a
        constant.

    Attributes
    ----------
    dual_coef_ : (m, q) array
        A.
    shape_ : tuple
        (m, q).

    Notes
    -----
    ``loo`` is exact for reg > 0 and Tikhonov's filter, by Corollary 1 of Stock et al. 2016 for A;
    for B to D, where the paper has no shortcut, in O(m^2 q + m q^2) after the eigenpairs, for D
    times N = O(log(kappa) log(1/eps)) with the condition number kappa of the system. k folds add
    O(N (m + q) m^2 / k + q m^3 / k^2) in B, the same with m and q exchanged in C, and
    O(N (m^3 + q^3) / k) in D; in A they take iterations of O(m^2 q + m q^2). Where ``symmetric``,
    A has a shortcut of O(N m^3), and the others have none. With loss="ranking" B alone has one,
    whose predictions have the mean 0 in each row.
    """

    reg: float = parameter(1.0, AT_LEAST_0)
    row_kernel: str | Callable = parameter("linear", *KERNEL)
    col_kernel: str | Callable = parameter("linear", *KERNEL)
    row_gamma: float | None = parameter(None, *WIDTH)
    col_gamma: float | None = parameter(None, *WIDTH)
    filter: str | Callable = parameter("tikhonov", *FILTER)
    loss: str = parameter("squared", StrOptions({"squared", "ranking"}))

    def _fit(self, row_features, row_vertices, col_features, col_vertices, Y):
        """Solve (G kron K + reg I) vec(A) = vec(Y) by the eigenpairs of both kernels (Eq. 5)."""
        # Conditional ranking centres the labels of each row and the kernel of the columns.
        filter = as_filter(self.filter)
        reg = check_positive(self.reg, "reg", or_zero=filter is tikhonov)
        rows = VertexKernel(self, "row", row_features, row_vertices)
        cols = VertexKernel(self, "col", col_features, col_vertices)
        if self.loss == "ranking":
            cols.centred, Y = True, Y - Y.mean(axis=1, keepdims=True)
        self._rows, self._cols, self._labels, self.shape_ = rows, cols, Y, Y.shape
        self._filter, self._reg = filter, reg
        # K is U X U' and G is V S V', with factors of the features in place of a kernel where that
        # is better. The coefficients are A = U (phi(x s') * (U'Y V)) V' for the filter phi.
        spectra = eigenpairs((rows, cols), reg)
        rows.folded, cols.folded = ("factors" in vars(side) for side in (rows, cols))
        x, s = (spectrum.values for spectrum in spectra)
        weights = self._filtered(*spectra)
        if reg == 0 and not (rows.folded and cols.folded):
            warn_if_ill_conditioned(np.outer(x, s), "the Kronecker product kernel", stacklevel=4)
        # A kernel has the rounding of its largest eigenvalue, and features that of each
        # axis alone.
        felt = weights * (x[:, None] if rows.folded else np.linalg.norm(x))
        felt = felt * (s if cols.folded else np.linalg.norm(s))
        warn_if_rounded(rounding(felt, Y), stacklevel=4)
        # A folded side keeps weights of the axes of its features, another side coefficients.
        left = np.sqrt(x)[:, None] * weights if rows.folded else spectra[0].vectors @ weights
        self._coef = left * np.sqrt(s) if cols.folded else left @ spectra[1].vectors.T
        return self

    def _filtered(self, rows, cols):
        """Dual coefficients, in the directions of the eigenvectors."""
        filtered = self._filter(np.outer(rows.values, cols.values), self._reg)
        return filtered * (rows.vectors.T @ self._labels @ cols.vectors)

    @property
    def dual_coef_(self) -> np.ndarray:
        """Dual coefficients (m, q); of linear kernels computed at each call."""
        if not (self._rows.folded or self._cols.folded):
            return self._coef
        # The null spaces of linear kernels count too: of zero, the filter of ridge is 1 / reg.
        rows, cols = (side.thin_spectrum.completed() for side in (self._rows, self._cols))
        return rows.vectors @ self._filtered(rows, cols) @ cols.vectors.T

    def _scores(self, row_features, col_features):
        """Factors of the predictions K^ A G^' (Eq. 7)."""
        return self._rows.embed(row_features) @ self._coef, self._cols.embed(col_features)

    @classmethod
    def warm_up(cls) -> None:
        """Compile, or load, what fits and left-out predictions need: before a clock starts."""
        pairs, y = small_pairs()
        cls().fit(pairs, y).loo("D")

    def _left_out(self, setting, regs, folds, symmetric):
        """Corollary 1 in setting A, and shortcuts of our own in the others."""
        check_exact(as_filter(self.filter))
        if self.loss == "ranking" and setting != "B":
            raise InputError(
                f"setting {setting!r} leaves out columns of a row, and loss='ranking' compares "
                "them: only 'B' has a shortcut"
            )
        if symmetric and setting != "A":
            raise InputError(
                f"symmetric=True has no shortcut in setting {setting!r}, only in 'A': "
                "TwoStepRidge has one in each"
            )
        rows, cols = eigenpairs((self._rows, self._cols), min(regs[0]))
        # The hat matrix of the settings A to C needs the null spaces of the kernels too.
        if setting != "D":
            rows, cols = rows.completed(), cols.completed()
        problem = rows, cols, self._labels, regs[0]
        if symmetric:
            return enumerate(kron_symmetric_pairs(*problem))
        if folds is None:
            return enumerate(kron_leave_one_out(setting, *problem))
        return enumerate(kron_leave_folds_out(setting, *problem, folds))
