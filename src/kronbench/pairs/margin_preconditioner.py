"""A preconditioner for primal Newton steps on pairs: curvature as if its margins were independent.

The weights of the pairs, zero where there is no pair, are a matrix over row and column vertices.
Replaced by the product of its margins, the system X'W X + reg I becomes a Kronecker product plus a
multiple of the identity, which two small eigendecompositions invert. It is exact where all pairs
are there and weigh the same, and close where the pairs are a random part of them. The factored
curvature of Martens & Grosse (2015) does the same for the layers of a neural network.

D (m, d) are the features of the row vertices, T (q, r) those of the column vertices, as in Airola
& Pahikkala (2018). A vector of coefficients (d*r,) has the rows of a matrix W (d, r) one after the
other, so that the prediction for a pair (i, j) is D_i' W T_j.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigh

from kronbench.linalg import multiply

# Total variation between margins up to which their spectra stand for each other: the eigenvalues
# of two preconditioners then differ by less than what independence already leaves.
_LARGEST_DRIFT_OF_MARGINS = 0.05


class MarginPreconditioner:
    """(T' diag(c) T kron D' diag(r) D + reg I)^-1 for the design X = R (T kron D).

    r (m,) and c (q,) are the sums of the pairs' weights over the pairs of a row and of a column
    vertex, divided by the root of the sum of all.

    ``row_features`` D are (m, d), ``col_features`` T (q, r), and the (n,) integer arrays ``rows``
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
        # The margins (row, column) of the kept ``_spectra``, each one eigenvalues and vectors.
        self._margins: Any = None
        self._spectra: list = []

    def __call__(self, weights: np.ndarray, reg: float) -> Callable[[np.ndarray], np.ndarray]:
        """The preconditioner for these weights (n,): a function of (d*r,) vectors.

        O(n + m d^2 + q r^2 + d^3 + r^3), then O(d r (d + r)) for each application.
        """
        # The product of these margins of sum one, times the total, stands for the weights.
        total = max(weights.sum(dtype=float), np.finfo(float).tiny)
        margins = [
            np.bincount(index, weights, minlength=features.shape[0]) / total
            for features, index in self._sides
        ]
        drifted = self._margins is None or any(
            abs(new - old).sum() / 2 > _LARGEST_DRIFT_OF_MARGINS
            for new, old in zip(margins, self._margins, strict=True)
        )
        if drifted:
            self._margins, self._spectra = margins, []
            # D' diag(r) D and T' diag(c) T are decomposed, for margins of sum one.
            for (features, _), margin in zip(self._sides, margins, strict=True):
                curvature = multiply(features.T * margin.astype(features.dtype), features)
                values, U = eigh(curvature.astype(float), overwrite_a=True, check_finite=False)
                self._spectra.append((np.maximum(values, 0), U.astype(features.dtype, copy=False)))
        # In both bases of eigenvectors the system is diagonal.
        (row_values, U), (col_values, V) = self._spectra
        scale = (1 / (total * np.outer(row_values, col_values) + reg)).astype(U.dtype)

        def solve(v):
            """U ((U' W V) o scale) V' for v, the rows of W."""
            turned = multiply(multiply(U.T, v.reshape(scale.shape)), V)
            turned *= scale
            return multiply(multiply(U, turned), V.T).ravel()

        return solve
