"""Ridge systems on the vertices of one side, rows or columns, that take in new vertices."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from kronbench.errors import InputError
from kronbench.linalg import dense
from kronbench.linalg.eigen import check_symmetric
from kronbench.linalg.gram_matrix import as_floats
from kronbench.models._label_matrix_model import stacked
from kronbench.models._vertex_kernel import VertexKernel
from kronbench.pairs.spectral_filters import tikhonov

# A product of the batch with the old inverse that is larger than this costs Woodbury's identity so
# many digits that the 1e-8 of an exact update is at risk: then the system is factorized afresh.
_LARGEST_UPDATE = 1e5


class VertexRidge(VertexKernel):
    """A side with its own filter: a ridge system that can take in new vertices.

    Predictions are ``embed(new) @ solve(project(Y))``. With Tikhonov's filter and d < n explicit
    features Phi this is the primal: project is Phi', solve is M = (Phi'Phi + reg I)^-1. Else it is
    the dual: project is the identity, solve is B = (K + reg I)^-1 or another filter of K.
    """

    def __init__(self, features, vertices, kernel, gamma, name, filter, reg):
        super().__init__(features, vertices, kernel, gamma, name)
        self.filter, self.reg = filter, reg
        self._inverse = None  # in the primal, once Woodbury's identity has updated it
        self._set_system()

    def _set_system(self):
        self._factor = None
        self._cholesky_suits = self.filter is tikhonov and self.reg > 0
        self.primal = self._cholesky_suits and self.thin
        if self.primal:
            self._system = dense(self.features.T @ self.features).astype(np.float64)
            np.fill_diagonal(self._system, self._system.diagonal() + self.reg)

    def project(self, Y: np.ndarray | sparse.csr_array) -> np.ndarray:
        """Labels (n, p), dense or sparse, in the space in which the system is solved."""
        if self.primal:
            return dense(self.features.T @ Y)
        return dense(Y)

    def embed(self, features: np.ndarray | sparse.csr_array) -> np.ndarray | sparse.csr_array:
        """Other vertices (p, .) in that space."""
        if self.primal:
            self.check_width(features)
            return as_floats(features)
        return self.cross(features)

    def solve(self, T: np.ndarray) -> np.ndarray:
        """The filtered inverse times T."""
        if self._inverse is not None:
            return self._inverse @ T
        if self._cholesky_suits:
            try:
                return cho_solve(self._cholesky(), T)
            except LinAlgError:  # reg is below the rounding of the kernel
                self._cholesky_suits = False
                if self.primal:
                    values, vectors = np.linalg.eigh(self._system)
                    return vectors @ ((vectors.T @ T) / np.maximum(values, self.reg)[:, None])
        spectrum = self.spectrum
        filtered = self.filter(spectrum.values, self.reg)
        return spectrum.vectors @ (filtered[:, None] * spectrum.coordinates(T))

    def dual_solve(self, Y: np.ndarray | sparse.csr_array) -> np.ndarray:
        """The filtered inverse of the kernel matrix times labels Y (n, p)."""
        if not self.primal:
            return self.solve(dense(Y))
        fitted = self.features @ self.solve(self.project(Y))
        return (dense(Y) - fitted) / self.reg

    def extend(
        self,
        features: np.ndarray | sparse.csr_array,
        projected: np.ndarray | sparse.csr_array,
        labels: np.ndarray | sparse.csr_array,
        keep: bool,
    ) -> np.ndarray | sparse.csr_array:
        """Take in l new vertices; the projected labels of all, which ``solve`` takes.

        Primal: M is updated by Woodbury's identity in O(l^3 + d^2 l) for l < d, and its inverse is
        factorized again in O(d^2 l + d^3) otherwise (Stock et al. 2016, Algorithms 1 and 2). Dual:
        ``solve`` factorizes the system of all vertices afresh, O(n^3); the paper's inverse would
        lose digits with the square of the condition number. A side that comes to have more
        vertices than explicit features changes to the primal, as a new one would be: it does not
        see the null space of the kernel. ``keep`` says whether features stay in memory; the dual
        needs them in any case.
        """
        if self.filter is not tikhonov or not self.reg > 0:
            raise InputError(
                f"only ridge regression with a positive weight takes new {self.name}s: use the "
                "tikhonov filter with reg > 0, or fit again"
            )
        features = as_floats(features)
        if self.primal:
            self.check_width(features)
            self._extend_primal(features)
            projected = projected + dense(features.T @ labels)
            if keep:
                self._stack(features)
        elif self.precomputed:
            across, corner = self._new_blocks(features)
            self.features = np.block([[self.features, across.T], [across, corner]])
            projected = stacked(projected, labels)
        else:
            self.check_width(features)
            self._stack(features)
            projected = stacked(projected, labels)
        new = features.shape[0]
        self.vertices = np.concatenate([self.vertices, self.n_given + np.arange(new)])
        self.n_given += new
        self.__dict__.pop("spectrum", None)
        self.__dict__.pop("thin_spectrum", None)
        if not self.primal:
            self._set_system()
            projected = self.project(projected)
        return projected

    def forget_features(self) -> None:
        """Of the features of a primal side, keep no more than their number of columns."""
        if self.primal:
            self.features = self.features[:0]

    def _cholesky(self):
        if self._factor is None:
            if self.primal:
                system = self._system.copy()
            else:
                system = np.array(self.gram(), order="F")  # what LAPACK overwrites in place
                np.fill_diagonal(system, system.diagonal() + self.reg)
            self._factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        return self._factor

    def _explicit_inverse(self):
        if self._inverse is None:
            self._inverse = self.solve(np.eye(len(self._system)))
            self._factor = None
        return self._inverse

    def _new_blocks(self, features):
        new = features.shape[0]
        if features.shape[1] != self.n_given + new:
            raise InputError(
                f"{self.name}_features is a precomputed kernel of shape {features.shape}: give "
                f"one column for each of the {self.n_given} old and the {new} new vertices"
            )
        features = dense(features)
        corner = features[:, self.n_given :]
        check_symmetric(corner, f"the {self.name} kernel of the new vertices")
        return features[:, self.vertices], corner

    def _stack(self, features):
        stack = sparse.vstack if sparse.issparse(self.features) else np.vstack
        self.features = stack([self.features, features])

    def _extend_primal(self, features):
        if features.shape[0] < features.shape[1]:
            M = self._explicit_inverse()
            across = features @ M
            core = dense(across @ features.T)
            if np.trace(core) < _LARGEST_UPDATE:
                np.fill_diagonal(core, core.diagonal() + 1.0)
                self._inverse = M - across.T @ cho_solve(cho_factor(core), across)
            else:
                self._inverse = None
        else:
            self._inverse = None
        self._system = self._system + dense(features.T @ features)
        self._factor = None
