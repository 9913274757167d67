"""A preconditioner for primal Newton steps on pairs: curvature as if its margins were independent.

The weights of the pairs, zero where there is no pair, are a matrix over row and column vertices.
Replaced by the product of its margins, the system X'W X + reg I becomes a Kronecker product plus a
multiple of the identity, which two small eigendecompositions invert. It is exact where all pairs
are there and weigh the same, and close where the pairs are a random part of them. The factored
curvature of Martens & Grosse (2015) does the same for the layers of a neural network.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigh

from kronbench.linalg import multiply

# Total variation between margins up to which their spectra stand for each other: the eigenvalues
# of two preconditioners then differ by less than what independence already leaves
_NEAR = 0.05


class MarginPreconditioner:
    """(T' diag(r) T kron D' diag(c) D + reg I)^-1 for the design X = R (T kron D).

    r (m,) and c (q,) are the sums of the pairs' weights over the pairs of a row and of a column
    vertex, divided by the root of the sum of all.

    ``row_features`` T are (m, d), ``col_features`` D (q, r), and the (n,) integer arrays ``rows``
    and ``cols`` the vertices of the pairs.
    """

    def __init__(
        self,
        row_features: np.ndarray,
        col_features: np.ndarray,
        rows: np.ndarray,
        cols: np.ndarray,
    ):
        self._sides = (row_features, rows), (col_features, cols)
        self._margins: Any = None
        self._spectra: list = []

    def __call__(self, weights: np.ndarray, reg: float) -> Callable[[np.ndarray], np.ndarray]:
        """The preconditioner for these weights (n,): a function of (d*r,) vectors.

        O(n + m d^2 + q r^2 + d^3 + r^3), then O(d r (d + r)) for each application.
        """
        total = max(weights.sum(dtype=float), np.finfo(float).tiny)
        margins = [
            np.bincount(index, weights, minlength=len(features)) / total
            for features, index in self._sides
        ]
        far = self._margins is None or any(
            abs(a - b).sum() / 2 > _NEAR for a, b in zip(margins, self._margins, strict=True)
        )
        if far:
            self._margins, self._spectra = margins, []
            for (features, _), margin in zip(self._sides, margins, strict=True):
                curvature = multiply(features.T * margin.astype(features.dtype), features)
                values, U = eigh(curvature.astype(float), overwrite_a=True, check_finite=False)
                self._spectra.append((np.maximum(values, 0), U.astype(features.dtype, copy=False)))
        (rows, U), (cols, V) = self._spectra
        scale = (1 / (total * np.outer(rows, cols) + reg)).astype(U.dtype)

        def solve(v):
            turned = multiply(multiply(U.T, v.reshape(scale.shape)), V)
            turned *= scale
            return multiply(multiply(U, turned), V.T).ravel()

        return solve
