"""Quadratic forms b'(A + shift I)^-1 b for many b, between bounds that are measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, qr
from scipy.sparse.linalg import LinearOperator

from kronbench.errors import InputError

_BLOCK = 16  # columns of a product
# What is left of a block after projection, relative to the block, that is taken for rounding.
_DEPENDENT = 1e-12
# Rounding of a squared residual that is a difference of sums, relative to ||b||^2.
_ROUNDING = 1e-13


def inverse_forms(
    A: LinearOperator, B: np.ndarray, *, shift: float, atol: np.ndarray, max_iter: int = 2000
) -> tuple[np.ndarray, np.ndarray]:
    """b'(A + shift I)^-1 b for the columns of B by conjugate gradients, their products together.

    The sum of (step length) ||residual||^2 over the iterations is the form of the iterate, which
    grows (Hestenes & Stiefel 1952, theorem 6:1; Strakos & Tichy 2002 for rounding); what it lacks
    is r'(A + shift I)^-1 r <= ||r||^2 / shift.

    Parameters
    ----------
    A : (n, n) LinearOperator
        Symmetric, positive semidefinite.
    B : (n, t) array
    shift : float > 0
    atol : (t,) array
        A column is done when its bounds are so close.
    max_iter : int
        Products with A; bounds that are still apart then are given as they are.

    Returns
    -------
    low, high : (t,) float64 arrays

    Raises
    ------
    InputError
        A direction of negative curvature: A is not positive semidefinite.
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


@dataclass(frozen=True)
class KrylovSpace:
    """An orthonormal basis V of a block Krylov space of A, with A V = V T + Z C in its last block.

    Attributes
    ----------
    basis : (n, p + s) array
        V, and behind it Z, the s directions that a next block would have.
    projected : (p, p) array
        T = V'A V.
    coupling : (s, c) array
        C: A times the last c columns of V leaves V by Z C.
    """

    basis: np.ndarray
    projected: np.ndarray
    coupling: np.ndarray

    def inverse_forms(
        self, images: np.ndarray, squares: np.ndarray, shift: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of b'(A + shift I)^-1 b for any number of vectors b, O(p^2) each.

        The lower bound is the form of the projected matrix; as above, it lacks at most
        ||r||^2 / shift, with the residual of the projected solution.

        Parameters
        ----------
        images : (t, p + s) array
            b'[V Z].
        squares : (t,) array
            ||b||^2.
        shift : float > 0

        Returns
        -------
        low, high : (t,) arrays
        """
        p = len(self.projected)
        inside, beyond = images[:, :p].T, images[:, p:].T
        solved = cho_solve(cho_factor(self.projected + shift * np.eye(p)), inside)
        low = np.einsum("ij,ij->j", inside, solved)
        outside = squares - _column_squares(inside) - _column_squares(beyond)
        last = solved[p - self.coupling.shape[1] :]
        left = np.maximum(outside, 0) + _column_squares(beyond - self.coupling @ last)
        return low, low + (left + _ROUNDING * squares) / shift


def krylov_space(A: LinearOperator, rank: int, rng: np.random.Generator) -> KrylovSpace:
    """A block Krylov space of a random block, orthogonalized in full (Golub & Underwood 1977).

    ``rank`` products with A, 16 at a time, O(n rank^2) beside them and n (rank + 16) numbers of
    memory. It ends early where the space is invariant under A.

    Parameters
    ----------
    A : (n, n) LinearOperator
        Symmetric.
    rank : int
        Dimension p, up to a block more; at most n.
    rng : numpy.random.Generator
        Draws the block.
    """
    n = A.shape[0]
    rank = min(rank, n)
    start = rng.standard_normal((n, min(_BLOCK, rank))).astype(A.dtype)
    block = np.linalg.qr(start)[0]
    basis = np.empty((n, rank + 2 * _BLOCK), A.dtype, order="F")
    projected = np.zeros((rank + _BLOCK, rank + _BLOCK))
    p = 0
    while True:
        end = p + block.shape[1]
        basis[:, p:end] = block
        image = A.matmat(np.ascontiguousarray(block))
        size = np.linalg.norm(image)
        for _ in range(2):  # for T, once leaves too much
            inner = basis[:, :end].T @ image
            image = image - basis[:, :end] @ inner
            projected[:end, p:end] += inner
        Q, R, order = qr(image, mode="economic", pivoting=True)
        dependent = np.abs(np.diagonal(R)) <= _DEPENDENT * size
        kept = min(len(dependent) - int(np.count_nonzero(dependent)), n - end)
        coupling = np.empty((kept, block.shape[1]))
        coupling[:, order] = R[:kept]
        # Q came of a small difference of large vectors: it is orthogonal to V to rounding only now
        p, block = end, Q[:, :kept]
        block, R = np.linalg.qr(block - basis[:, :p] @ (basis[:, :p].T @ block))
        coupling = R @ coupling
        if not kept or p >= rank:
            basis[:, p : p + kept] = block
            upper = np.triu(projected[:p, :p])
            return KrylovSpace(basis[:, : p + kept], upper + np.triu(upper, 1).T, coupling)


def _column_squares(block):
    return np.einsum("ij,ij->j", block, block, dtype=np.float64)
