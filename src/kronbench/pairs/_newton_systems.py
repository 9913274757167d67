"""The pairs on which a dual Newton step iterates: all of them, or those with curvature."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse.linalg import LinearOperator

from kronbench.linalg.blas1 import axpy, dot, norm


class WholeSystem:
    """Iterations on all pairs: the product with Q, the weights and the projection of H.

    ``grams`` makes two products at once; None where the operator cannot.
    """

    def __init__(
        self,
        operator: LinearOperator,
        weights: np.ndarray,
        project: Callable[[np.ndarray], np.ndarray],
    ):
        self.gram, self.weights, self.project = operator.matvec, weights, project
        self.grams = getattr(operator, "two_matvecs", None)

    def reduce(self, v: np.ndarray) -> np.ndarray:
        return v

    def expand(self, v: np.ndarray) -> np.ndarray:
        return v


class ActiveSystem:
    """The same iterations on the active pairs and one coordinate for all others.

    On a pair without curvature H Q + reg I is reg I, so that each Krylov vector of a right-hand
    side is a multiple of it on those pairs. With B, whose orthonormal columns are the active pairs
    and the right-hand side on the others, (H Q + reg I) B = B A: right vectors of the iterations
    are B v. Left vectors of QMR and images under Q occur in inner products with those alone, for
    which B' w and B' Q B v are enough.
    """

    def __init__(self, operator: LinearOperator, weights: np.ndarray, rhs: np.ndarray):
        self._active = active = weights != 0
        flat = np.where(active, 0, rhs)
        size = norm(flat)
        column = np.zeros_like(rhs)
        if size > 0:
            flat /= size
            column = operator.matvec(flat)
        self._flat, self._column, self._corner = flat, column[active], dot(flat, column)
        self._inside = operator.restrict(active, active)
        self.grams = self._two_grams if hasattr(self._inside, "two_matvecs") else None
        self.weights = np.append(weights[active], 0).astype(rhs.dtype, copy=False)

    def project(self, v: np.ndarray) -> np.ndarray:
        return v

    def gram(self, v: np.ndarray) -> np.ndarray:
        """B' Q B v."""
        return self._bordered(v, self._inside.matvec(v[:-1]))

    def _two_grams(self, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        inside = self._inside.two_matvecs(u[:-1], v[:-1])
        return self._bordered(u, inside[0]), self._bordered(v, inside[1])

    def _bordered(self, v, inner):
        inside, last = v[:-1], float(v[-1])
        Qv = np.empty_like(v)
        Qv[:-1] = inner
        axpy(last, self._column, Qv[:-1])
        Qv[-1] = dot(self._column, inside) + last * self._corner
        return Qv

    def reduce(self, v: np.ndarray) -> np.ndarray:
        return np.append(v[self._active], v.dtype.type(dot(self._flat, v)))

    def expand(self, v: np.ndarray) -> np.ndarray:
        whole = float(v[-1]) * self._flat
        whole[self._active] = v[:-1]
        return whole
