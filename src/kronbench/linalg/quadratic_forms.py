"""Quadratic forms b'(A + shift I)^-1 b for many b, between bounds that are measured."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator

from kronbench.errors import InputError


def inverse_forms(
    A: LinearOperator, B: np.ndarray, *, shift: float, atol: np.ndarray, max_iter: int = 2000
) -> tuple[np.ndarray, np.ndarray]:
    """b'(A + shift I)^-1 b for the columns of B by conjugate gradients, their products together.

    The sum of (step length) ||residual||^2 over the iterations is the form of the iterate, which
    grows (Hestenes & Stiefel 1952, theorem 6:1; Strakos & Tichy 2002 for rounding); what it lacks
    is r'(A + shift I)^-1 r <= ||r||^2 / shift.

    A is symmetric and positive semidefinite. A column is done when its bounds are as close as its
    ``atol``; after ``max_iter`` products bounds are given as they are.
    """
    low = np.zeros(B.shape[1])
    R = np.array(B, order="C")
    squares = _column_squares(R)
    high = squares / shift
    open_, P = np.arange(B.shape[1]), R.copy()
    for _ in range(max_iter):
        left = high[open_] - low[open_] > atol[open_]
        if not left.all():
            open_, squares = open_[left], squares[left]
            R, P = np.ascontiguousarray(R[:, left]), np.ascontiguousarray(P[:, left])
        if not open_.size:
            break
        AP = A.matmat(P) + shift * P
        curvature = np.einsum("ij,ij->j", P, AP, dtype=np.float64)
        if not (curvature > 0).all():
            raise InputError(
                "the kernel of the training pairs is not positive semidefinite: give one that is"
            )
        steps = squares / curvature
        R -= steps.astype(R.dtype) * AP
        before, squares = squares, _column_squares(R)
        low[open_] += steps * before
        high[open_] = low[open_] + squares / shift
        P *= (squares / before).astype(R.dtype)
        P += R
    return low, high


def _column_squares(block):
    return np.einsum("ij,ij->j", block, block, dtype=np.float64)
