"""Low-rank factors of a given matrix, accepted only where all of its entries come out."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import svdvals

from kronbench.errors import InputError
from kronbench.linalg.gemm import one_blas_thread
from kronbench.linalg.lowrank import incomplete_cholesky

# Largest error of an entry of the approximation, relative to the largest entry of the matrix.
TOLERANCE = {np.dtype(np.float64): 1e-11, np.dtype(np.float32): 1e-6}

_ROWS = 512  # rows of the residual that are formed at a time
_BLOCK = 64  # columns the range finder adds at a time


def low_rank_factors(matrix: np.ndarray, max_rank: int) -> tuple[np.ndarray, np.ndarray] | None:
    """P (a, k) and Q (b, k) with P Q' ~ matrix to TOLERANCE, or None where k > max_rank.

    Pivoted Cholesky in O(a k^2) for a positive semidefinite matrix; for others a randomized range
    finder in O(a b k). Either is checked against every entry. None too for a matrix of full rank.
    """
    tolerance = TOLERANCE[matrix.dtype]
    factors: Any = None
    if matrix.shape[0] == matrix.shape[1]:
        factors = _cholesky(matrix, max_rank, tolerance)
    if factors is None:
        if _full_rank(matrix, tolerance):
            return None
        factors = _range(matrix, max_rank, tolerance)
    P, Q = factors
    if not _reproduces(P, Q, matrix, tolerance):
        return None
    return np.ascontiguousarray(P, matrix.dtype), np.ascontiguousarray(Q, matrix.dtype)


def _cholesky(matrix, max_rank, tolerance):
    """Factors of a semidefinite matrix, too coarse where max_rank ends them; else None."""
    try:
        found = incomplete_cholesky(matrix, max_rank, tolerance / 2)
    except InputError:
        return None
    # Afresh from the columns of the pivots: the factor is zero where it fell below tol
    factor = found.transform(matrix[:, found.pivots])
    ended = found.rank == max_rank
    return (factor, factor) if ended or np.array_equal(matrix, matrix.T) else None


def _full_rank(matrix, tolerance):
    """Whether a matrix much longer on one side has no factors thinner than its other side.

    Factors of lower rank leave at least the smallest singular value in the Frobenius norm.
    """
    a, b = matrix.shape
    if max(a, b) < 4 * min(a, b):
        return False
    with one_blas_thread:  # others would go on spinning beside the products
        triangle = np.linalg.qr(matrix if a > b else matrix.T, mode="r")
    residual = tolerance * np.abs(matrix).max() * np.sqrt(a * b)
    return svdvals(triangle)[-1] > residual


def _range(matrix, max_rank, tolerance):
    """Orthonormal P and Q = matrix' P, block by block until P takes nothing more (Halko 2011)."""
    rng = np.random.default_rng(0)
    a, b = matrix.shape
    max_rank = min(max_rank, a, b)
    P, Q = np.empty((a, 0)), np.empty((b, 0))
    smallest = tolerance * np.linalg.norm(matrix)
    found = np.inf
    while P.shape[1] < max_rank and found > smallest:
        probes = rng.standard_normal((b, min(_BLOCK, max_rank - P.shape[1])))
        new = matrix @ probes - P @ (Q.T @ probes)
        for _ in range(2):  # once is not enough where the images are nearly dependent
            new = np.linalg.qr(new - P @ (P.T @ new))[0]
        images = matrix.T @ new
        P, Q = np.hstack([P, new]), np.hstack([Q, images])
        found = float(np.linalg.norm(images))
    return P, Q


def _reproduces(P, Q, matrix, tolerance):
    largest = max(matrix.max(initial=0.0), -matrix.min(initial=0.0))
    for first in range(0, len(matrix), _ROWS):
        rows = slice(first, first + _ROWS)
        residual = P[rows] @ Q.T
        residual -= matrix[rows]
        if max(residual.max(), -residual.min()) > tolerance * largest:
            return False
    return True
