"""Thin factors of a given matrix, accepted only where all of its entries come out."""

from __future__ import annotations

import numpy as np

from kronbench.errors import InputError
from kronbench.operators.lowrank import incomplete_cholesky

# Largest error of an entry of the approximation, relative to the largest entry of the matrix.
TOLERANCE = {np.dtype(np.float64): 1e-11, np.dtype(np.float32): 1e-6}

_ROWS = 512  # rows of the residual that are formed at a time
_BLOCK = 64  # columns a range finder adds at a time


def thin_factors(matrix, max_rank):
    """P (a, k) and Q (b, k) with P Q' ~ matrix to TOLERANCE, or None where k > max_rank.

    Pivoted Cholesky in O(a k^2) for a positive semidefinite matrix; for others, prediction
    matrices among them, a randomized range finder in O(a b k). Either is checked against every
    entry of the matrix, in O(a b k).
    """
    tolerance = TOLERANCE[matrix.dtype]
    factors = None
    if matrix.shape[0] == matrix.shape[1]:
        factors = _cholesky(matrix, max_rank, tolerance)
    if factors is None:
        factors = _range(matrix, max_rank, tolerance)
    if factors is None:
        return None
    return tuple(np.ascontiguousarray(factor, matrix.dtype) for factor in factors)


def _cholesky(matrix, max_rank, tolerance):
    try:
        factor = incomplete_cholesky(matrix, max_rank, tolerance).factor
    except InputError:  # not positive semidefinite
        return None
    return (factor, factor) if _reproduces(factor, factor, matrix, tolerance) else None


def _range(matrix, max_rank, tolerance):
    rng = np.random.default_rng(0)
    a, b = matrix.shape
    max_rank = min(max_rank, a, b)
    P, Q = np.empty((a, 0)), np.empty((b, 0))
    size = np.linalg.norm(matrix)
    while P.shape[1] < max_rank:
        probes = rng.standard_normal((b, min(_BLOCK, max_rank - P.shape[1])))
        images = matrix @ probes - P @ (Q.T @ probes)
        images -= P @ (P.T @ images)
        new = np.linalg.qr(images)[0]
        new = np.linalg.qr(new - P @ (P.T @ new))[0]
        P, Q = np.hstack([P, new]), np.hstack([Q, matrix.T @ new])
        found = np.linalg.norm(Q[:, -new.shape[1] :])
        if found <= tolerance * size and _reproduces(P, Q, matrix, tolerance):
            return P, Q
    return (P, Q) if _reproduces(P, Q, matrix, tolerance) else None


def _reproduces(P, Q, matrix, tolerance):
    largest = max(abs(matrix.max()), abs(matrix.min()))
    for first in range(0, len(matrix), _ROWS):
        rows = slice(first, first + _ROWS)
        residual = P[rows] @ Q.T
        residual -= matrix[rows]
        if max(residual.max(), -residual.min()) > tolerance * largest:
            return False
    return True
