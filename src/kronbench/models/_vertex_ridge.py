"""Ridge systems on the vertices of one side, rows or columns, that take in new vertices."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from kronbench.errors import InputError
from kronbench.models._vertex_kernel import VertexKernel
from kronbench.models.spectral import tikhonov
from kronbench.operators import dense, gram

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
        self._cholesky_suits = filter is tikhonov and reg > 0
        self.primal = self._cholesky_suits and self.thin
        self.forgotten = False
        self._inverse = None
        self._factor = None
        if self.primal:
            self._system = dense(self.features.T @ self.features).astype(np.float64)
            np.fill_diagonal(self._system, self._system.diagonal() + reg)

    def project(self, Y):
        """Labels (n, p), dense or sparse, in the space in which the system is solved."""
        if self.primal:
            return dense(self.features.T @ Y)
        return dense(Y)

    def embed(self, features):
        """Other vertices (p, .) in that space."""
        if self.primal:
            self.check_width(features)
            return features
        return self.cross(features)

    def solve(self, T):
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

    def dual_solve(self, Y):
        """The filtered inverse of the kernel matrix times labels Y (n, p)."""
        if not self.primal:
            return self.solve(dense(Y))
        fitted = self.features @ self.solve(self.project(Y))
        return (dense(Y) - fitted) / self.reg

    def extend(self, features, keep):
        """Take in l new vertices.

        Primal: M is updated by Woodbury's identity in O(l^3 + d^2 l) for l < d, and its inverse is
        factorized again in O(d^2 l + d^3) otherwise (Stock et al. 2016, Algorithms 1 and 2). Dual:
        the inverse grows by the Schur complement of its new block, O(n^2 l + l^3).

        Parameters
        ----------
        features : (l, d), or (l, v + l) kernel values with the v old and the l new vertices
        keep : bool
            Whether features stay in memory; the dual needs them in any case.
        """
        if self.filter is not tikhonov or not self.reg > 0:
            raise InputError(
                f"only ridge regression with a positive weight takes new {self.name}s: use the "
                "tikhonov filter with reg > 0, or fit again"
            )
        new = features.shape[0]
        if self.primal:
            self.check_width(features)
            self._extend_primal(features)
        else:
            across, corner = self._new_blocks(features)
            self._extend_dual(across, corner)
        if self.precomputed:
            old = self.features
            self.features = np.block([[old, across.T], [across, corner]])
        elif (keep and not self.forgotten) or not self.primal:
            stack = sparse.vstack if sparse.issparse(self.features) else np.vstack
            self.features = stack([self.features, features])
        self.vertices = np.concatenate([self.vertices, self.n_given + np.arange(new)])
        self.n_given += new
        self.__dict__.pop("spectrum", None)
        self.__dict__.pop("thin_spectrum", None)

    def forget_features(self):
        """Of the features of a primal side, keep no more than their number of columns."""
        if self.primal:
            self.features, self.forgotten = self.features[:0], True

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
            size = len(self._system) if self.primal else self.n
            self._inverse = self.solve(np.eye(size))
            self._factor = None
        return self._inverse

    def _new_blocks(self, features):
        if not self.precomputed:
            return (
                self.cross(features),
                gram(features, kernel=self.kernel, gamma=self.gamma),
            )
        new = features.shape[0]
        if features.shape[1] != self.n_given + new:
            raise InputError(
                f"{self.name}_features is a precomputed kernel of shape {features.shape}: give "
                f"one column for each of the {self.n_given} old and the {new} new vertices"
            )
        features = dense(features)
        return features[:, self.vertices], features[:, self.n_given :]

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

    def _extend_dual(self, across, corner):
        B = self._explicit_inverse()
        solved = B @ across.T
        schur = corner - across @ solved
        np.fill_diagonal(schur, schur.diagonal() + self.reg)
        corner = np.linalg.inv((schur + schur.T) / 2)
        side = -solved @ corner
        self._inverse = np.block([[B - side @ solved.T, side], [side.T, corner]])
