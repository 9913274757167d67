"""The training vertices of one side, rows or columns, of complete data: kernel, ridge system."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, LinAlgWarning, cho_factor, cho_solve
from sklearn.preprocessing import KernelCenterer

from kronbench.errors import InputError, check_positive
from kronbench.linalg import dense, gram
from kronbench.linalg.eigen import Spectrum, check_symmetric, feature_factors, kernel_spectrum
from kronbench.linalg.gram_matrix import as_floats
from kronbench.models._pair_classifier import check_columns
from kronbench.pairs.spectral_filters import as_filter, tikhonov

Matrix: TypeAlias = np.ndarray | sparse.csr_array

# Condition number beyond which a solution without regularization has lost half of its digits.
_ILL_CONDITIONED = 1e8
# A product of the batch with the old inverse that is larger than this costs Woodbury's identity so
# many digits that the 1e-8 of an exact update is at risk: then the system is factorized afresh.
_LARGEST_UPDATE = 1e5

# The rounding of a kernel matrix is felt where it may move predictions by more than this part of
# the labels. Then linear features are decomposed in place of their kernel, which costs more.
FELT_ROUNDING = 1e-5
# Beyond this part of the labels a warning says that predictions may be wrong.
_WRONG_ROUNDING = 1e-2
_EPS = np.finfo(np.float64).eps


class VertexKernel:
    """Training vertices of a side of a model and their kernel; all for ``vertices`` None."""

    folded = False  # whether predictions come from the factors of the features, not the kernel
    centred = False  # whether the kernel is that of the features less their mean

    def __init__(self, model, name, features, vertices):
        self.kernel, self.gamma = (getattr(model, f"{name}_{of}") for of in ("kernel", "gamma"))
        self.name, self.precomputed = name, self.kernel == "precomputed"
        # Vertices of the caller without labels count, since a precomputed kernel has columns of
        # them, but take no part in the fit.
        self.n_given, features = features.shape[0], as_floats(features)
        self.vertices = np.arange(self.n_given) if vertices is None else vertices
        everything = len(self.vertices) == self.n_given
        self._n_columns = self.n_given if self.precomputed else features.shape[1]
        self.check_columns(features)
        features = dense(features) if self.precomputed else features
        if not everything:
            features = features[np.ix_(vertices, vertices) if self.precomputed else vertices]
        self.features = features

    def check_columns(self, features: Matrix) -> None:
        """InputError unless other vertices have the columns of the training vertices."""
        check_columns(features, self._n_columns, self.name, self.precomputed)

    @property
    def thin(self) -> bool:
        """Whether explicit features span less than the space of labels."""
        return self.kernel == "linear" and self.features.shape[1] < len(self.vertices)

    def gram(self) -> np.ndarray:
        """The kernel matrix (n, n) of the training vertices, checked to be symmetric."""
        K = gram(self.features, kernel=self.kernel, gamma=self.gamma)
        check_symmetric(K, f"the {self.name} kernel")
        return K.astype(np.float64, copy=False)

    def cross(self, features: Matrix) -> np.ndarray:
        """Kernel values (p, n) of other vertices with the training vertices."""
        self.check_columns(features)
        if self.precomputed:
            everything = len(self.vertices) == self.n_given
            return dense(features if everything else features[:, self.vertices])
        return gram(features, self.features, kernel=self.kernel, gamma=self.gamma)

    def embed(self, features: Matrix) -> Matrix:
        """Other vertices (p, .) in the space of the coefficients."""
        if not self.folded:
            return self.cross(features)
        self.check_columns(features)
        return dense(as_floats(features) @ self.factors[1])

    @cached_property
    def factors(self) -> tuple[Spectrum, np.ndarray]:
        """The eigenpairs of a linear kernel from its features, and the features' axes (d, k)."""
        features = dense(self.features).astype(np.float64, copy=False)
        return feature_factors(features - features.mean(axis=0) if self.centred else features)

    @cached_property
    def spectrum(self) -> Spectrum:
        """All n eigenpairs of the kernel matrix."""
        K, name = self.gram(), f"the {self.name} kernel"
        if self.centred:
            K, name = KernelCenterer().fit_transform(K), f"the centred {self.name} kernel"
        return kernel_spectrum(K, name)

    @property
    def thin_spectrum(self) -> Spectrum:
        """The eigenpairs that matter: from features where they are fewer than the vertices."""
        return self.factors[0] if self.thin or self.folded else self.spectrum


def eigenpairs(sides: Sequence[VertexKernel], reg: float) -> list[Spectrum]:
    """The eigenpairs of each side that matter where products of eigenvalues have the weight reg.

    Where the rounding of the kernels is felt, those of linear kernels come from the features.
    """
    spectra = [side.thin_spectrum for side in sides]
    ends = [(each.values.max(initial=0.0), each.values.min(initial=1e100)) for each in spectra]
    # Eigenvalues of a kernel matrix are right to the rounding of its largest one, and the system
    # of all pairs divides by the least product of eigenvalues plus reg.
    largest, least = np.prod(ends, axis=0)
    if _EPS * largest <= FELT_ROUNDING * (least + reg):
        return spectra
    return [side.factors[0] if side.kernel == "linear" else side.spectrum for side in sides]


class VertexRidge(VertexKernel):
    """A side with its own filter and weight, by the names of the model's parameters.

    Predictions are ``embed(new) @ weigh(project(Y))``. With Tikhonov's filter and d < n explicit
    features Phi this is the primal: project is Phi', solve is M = (Phi'Phi + reg I)^-1. Else it is
    the dual: project is the identity, solve is B = (K + reg I)^-1 or another filter of K.
    """

    def __init__(self, model, name, features, vertices, filter_name, reg_name):
        self.filter = as_filter(getattr(model, filter_name))
        reg = getattr(model, reg_name)
        self.reg = check_positive(reg, reg_name, or_zero=self.filter is tikhonov)
        super().__init__(model, name, features, vertices)
        self._inverse = None  # M of the primal, once Woodbury's identity has updated it
        self._set_system()
        # Linear features keep the digits that their kernel, of squares, loses.
        if self.reg == 0 and self.kernel != "linear":
            warn_if_ill_conditioned(self.spectrum.values, f"the {name} kernel", stacklevel=5)

    def _set_system(self):
        """Choose the primal or the dual system, and in the primal form Phi'Phi + reg I."""
        self._factor = None
        # Only ridge regression with reg > 0 inverts a positive definite matrix; other filters, and
        # the pseudo-inverse, need eigenpairs.
        self._cholesky_suits = self.filter is tikhonov and self.reg > 0
        self.primal = self._cholesky_suits and self.thin
        if self.primal:
            self._system = dense(self.features.T @ self.features).astype(np.float64)
            np.fill_diagonal(self._system, self._system.diagonal() + self.reg)

    def project(self, Y: Matrix) -> np.ndarray:
        """Labels (n, p), dense or sparse, in the space in which the system is solved."""
        return dense(self.features.T @ Y if self.primal else Y)

    def embed(self, features: Matrix) -> Matrix:
        """Other vertices (p, .) in the space of ``weigh``."""
        if self.primal:
            self.check_columns(features)
            return as_floats(features)
        return super().embed(features)

    def solve(self, projected: np.ndarray) -> np.ndarray:
        """The filtered inverse times what ``project`` returns."""
        if self._inverse is not None:
            return self._inverse @ projected
        if self._cholesky_suits and not self.folded:
            try:
                return cho_solve(self._cholesky(), projected)
            except LinAlgError:  # reg is below the rounding of the kernel
                self._cholesky_suits = False
                self.fold(False)
                if self.primal:
                    # The least eigenvalue of Phi'Phi + reg I is at least reg without rounding.
                    values, vectors = np.linalg.eigh(self._system)
                    turned = (vectors.T @ projected) / np.maximum(values, self.reg)[:, None]
                    return vectors @ turned
        # Other systems are phi(K) Y for the filter phi of the eigenvalues (Eq. 24).
        spectrum = self.thin_spectrum.completed()
        self._size = np.linalg.norm(spectrum.values)
        filtered = self.filter(spectrum.values, self.reg)
        return spectrum.vectors @ (filtered[:, None] * spectrum.coordinates(projected))

    def fold(self, asked: bool) -> None:
        """Settle whether predictions come from factors of linear features."""
        self.folded = False
        if self.kernel == "linear" and not self.primal:
            # Eigenpairs that come from the features already are used as such, without asking.
            if not (asked or self._cholesky_suits):
                asked = eigenpairs([self], self.reg)[0] is not vars(self).get("spectrum")
            self.folded = asked

    def weigh(self, projected: np.ndarray) -> np.ndarray:
        """What embedded vertices are multiplied with: of a folded side, weights of its axes."""
        if not self.folded:
            return self.solve(projected)
        # Predictions are k'U phi(S) U'Y = z'S^(1/2) phi(S) U'Y, with the coordinates z of a vertex
        # along the features' axes and its kernel values k' = z'S^(1/2) U'.
        spectrum = self.factors[0]
        filtered = self.filter(spectrum.values, self.reg) * np.sqrt(spectrum.values)
        return filtered[:, None] * spectrum.coordinates(projected)

    @property
    def sizes(self) -> np.ndarray:
        """The norm, over all vertices, of what a row of ``weigh`` is multiplied with."""
        if self.primal:
            return np.sqrt(self._system.diagonal())
        return np.sqrt(self.factors[0].values) if self.folded else np.array([self._size])

    def _cholesky(self):
        """The Cholesky factor of the system, made when first asked for."""
        if self._factor is None:
            if self.primal:
                system = self._system.copy()
            else:
                system = np.array(self.gram(), order="F")  # what LAPACK overwrites in place
                self._size = np.linalg.norm(system)
                np.fill_diagonal(system, system.diagonal() + self.reg)
            self._factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        return self._factor

    def dual_solve(self, Y: Matrix) -> np.ndarray:
        """The filtered inverse of the kernel matrix times labels Y (n, p)."""
        if not self.primal:
            return self.solve(dense(Y))
        # (K + reg I) A = Y and K A = Phi W give A = (Y - Phi W) / reg, without a dual system.
        fitted = self.features @ self.solve(self.project(Y))
        return (dense(Y) - fitted) / self.reg

    def extend(
        self, features: Matrix, projected: Matrix, labels: Matrix, keep: bool = True
    ) -> Matrix:
        """Take in l new vertices; the projected labels of all, which ``solve`` takes.

        Primal: M is updated by Woodbury's identity for l < d, and factorized again otherwise
        (Stock et al. 2016, Algorithms 1 and 2). Dual: ``solve`` factorizes the system of all
        vertices afresh, O(n^3); the paper's inverse would lose digits with the square of the
        condition number. A side that comes to have more vertices than explicit features changes to
        the primal: it does not see the null space of the kernel. ``keep`` says whether features
        stay in memory; the dual needs them in any case.
        """
        if self.filter is not tikhonov or not self.reg > 0:
            raise InputError(
                f"only ridge regression with a positive weight takes new {self.name}s: use the "
                "tikhonov filter with reg > 0, or fit again"
            )
        # The features of all come first: a precomputed kernel gets new rows and columns.
        features, new = as_floats(features), features.shape[0]
        if self.precomputed:
            if features.shape[1] != self.n_given + new:
                raise InputError(
                    f"{self.name}_features is a precomputed kernel of shape {features.shape}: "
                    f"give one column for each of the {self.n_given} old and the {new} new "
                    "vertices"
                )
            features = dense(features)
            across, corner = features[:, self.vertices], features[:, self.n_given :]
            check_symmetric(corner, f"the {self.name} kernel of the new vertices")
            self.features = np.block([[self.features, across.T], [across, corner]])
            self._n_columns += new
        else:
            self.check_columns(features)
            # Algorithm 1, line 2, makes M of all vertices from M of the old ones.
            if self.primal:
                self._update_inverse(features)
            if keep or not self.primal:
                stack = sparse.vstack if sparse.issparse(self.features) else np.vstack
                self.features = stack([self.features, features])
        # The projected labels of all are Phi'Y + Phi_new'Y_new, as in Algorithm 1, line 3.
        if self.primal:
            projected = projected + dense(features.T @ labels)
        else:
            projected = stacked(projected, labels)
        self.vertices = np.concatenate([self.vertices, self.n_given + np.arange(new)])
        self.n_given += new
        # Eigenpairs and the dual system are of the old vertices. With more vertices than features
        # the side changes to the primal, and its labels are projected on the features.
        self.__dict__.pop("spectrum", None)
        self.__dict__.pop("factors", None)
        if not self.primal:
            self._set_system()
            projected = self.project(projected)
        return projected

    def _update_inverse(self, features):
        """Algorithm 1, line 2: M - M Phi_new'(Phi_new M Phi_new' + I)^-1 Phi_new M (Eq. 27).

        Without an inverse left, ``solve`` factorizes the system of all vertices.
        """
        few, M = features.shape[0] < features.shape[1], self._inverse
        if few and M is None:
            M = self.solve(np.eye(len(self._system)))
        self._inverse = self._factor = None
        if few:
            across = features @ M
            core = dense(across @ features.T)
            if np.trace(core) < _LARGEST_UPDATE:
                np.fill_diagonal(core, core.diagonal() + 1.0)
                self._inverse = M - across.T @ cho_solve(cho_factor(core), across)
        self._system = self._system + dense(features.T @ features)

    def forget_features(self) -> None:
        """Of the features of a primal side, keep no more than their number of columns."""
        if self.primal:
            self.features = self.features[:0]


def warn_if_ill_conditioned(values: np.ndarray, name: str, stacklevel: int) -> None:
    """LinAlgWarning where the eigenvalues ``values``, zeros apart, spread over half the digits."""
    positive = values[values > 0]
    if len(positive) and positive.max() > _ILL_CONDITIONED * positive.min():
        warnings.warn(
            f"{name} has condition number {positive.max() / positive.min():.1e}: without "
            "regularization the solution has few correct digits; give a positive reg",
            LinAlgWarning,
            stacklevel=stacklevel,
        )


def rounding(felt: np.ndarray, Y: Matrix) -> float:
    """What the rounding of terms of the size ``felt`` is, as a part of the size of the labels."""
    size = np.linalg.norm(Y.data if sparse.issparse(Y) else Y)
    return float(_EPS * np.linalg.norm(felt) / size) if size else 0.0


def warn_if_rounded(lost: float, stacklevel: int) -> None:
    """LinAlgWarning where ``rounding`` is more than predictions can bear."""
    if not lost <= _WRONG_ROUNDING:
        warnings.warn(
            f"the rounding of the kernel matrices may move predictions by {lost:.1e} times the "
            "size of the labels: scale the features, or give a larger reg",
            LinAlgWarning,
            stacklevel=stacklevel,
        )


def stacked(labels: Matrix, new: Matrix) -> Matrix:
    """New rows of labels under the old ones; sparse where both are."""
    if sparse.issparse(labels) and sparse.issparse(new):
        return sparse.csr_array(sparse.vstack([labels, new]))
    return np.vstack([dense(labels), dense(new)])
