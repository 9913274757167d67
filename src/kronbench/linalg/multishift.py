"""MINRES for many shifts of one matrix, from one Krylov space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from kronbench.linalg.blas1 import norm
from kronbench.linalg.krylov import Rotations, as_system, lanczos


@dataclass(frozen=True)
class ShiftedSolutions:
    """All iterates of MINRES for (A + shift_j I) x = b, j = 1..s, in one Lanczos basis.

    Attributes
    ----------
    shifts : (s,) array
    basis : (K + 1, n) array
        Lanczos vectors, b = b_norm basis[0]; the last is zero if the Krylov space is exhausted.
    tridiagonal : (K + 1, K) array
        T with A V_K = V_{K+1} T, where the rows of ``basis`` are the columns of V.
    coefficients : (s, K, K) array
        Iterate k + 1 for shift j is ``coefficients[j, k] @ basis[:K]``.
    residual_norms : (s, K) array
        ||b - (A + shift_j I) x||, by recurrence.
    b_norm : float
    """

    shifts: np.ndarray
    basis: np.ndarray
    tridiagonal: np.ndarray
    coefficients: np.ndarray
    residual_norms: np.ndarray
    b_norm: float

    @property
    def n_iter(self) -> int:
        """Number of iterations K."""
        return self.residual_norms.shape[1]

    def iterate(self, j: int, k: int = -1) -> np.ndarray:
        """X (n,) for ``shifts[j]`` after k + 1 iterations, by default the last."""
        return self.coefficients[j, k] @ self.basis[:-1]

    def images(self, j: int, basis_images: np.ndarray) -> np.ndarray:
        """B x (K, t) of all iterates for ``shifts[j]`` from the images B V_K, given as (K, t)."""
        return self.coefficients[j] @ basis_images

    def quadratic_forms(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """X' A x, ||A x - b||^2 and a bound of ||b - (A + shift_j I) x|| of all iterates, (s, K).

        From the (K + 1)^2 inner products of the basis, which need not have stayed orthogonal:
        A V = V T holds to rounding, and what that adds to the residual is in the bound.
        """
        gram, found = self.basis @ self.basis.T, self.coefficients
        Ax = found @ self.tridiagonal.T
        xAx = np.einsum("jki,jki->jk", found @ gram[:-1], Ax)
        Ax[:, :, 0] -= self.b_norm
        square = np.einsum("jki,jki->jk", Ax @ gram, Ax)
        Ax[:, :, :-1] += self.shifts[:, None, None] * found
        residual = np.einsum("jki,jki->jk", Ax @ gram, Ax)
        eps = float(np.finfo(self.basis.dtype).eps)
        size = eps * np.linalg.norm(self.tridiagonal) * np.linalg.norm(found, axis=2)
        return xAx, square, np.sqrt(np.maximum(residual, 0)) + size


def multishift_minres(
    A: LinearOperator | np.ndarray | sparse.sparray,
    b: np.ndarray,
    shifts: np.ndarray,
    *,
    tol: float = 1e-8,
    max_iter: int = 100,
) -> ShiftedSolutions:
    """MINRES for (A + shift_j I) x = b, all shifts from one Lanczos run.

    A + shift I has the Krylov space of A, so the K products with A serve every shift. Beyond them
    a shift costs O(K^2), an iterate a linear combination of stored vectors. There is no
    reorthogonalization: MINRES alone loses orthogonality in the same way, so that the iterates
    agree with separate runs. Memory is (K + 1) n.

    It stops when the relative residual of every one of the ``shifts`` (s,) is at most ``tol``.
    Other parameters: as for :func:`kronbench.linalg.minres`.
    """
    A, b = as_system(A, b)
    shifts = np.atleast_1d(np.asarray(shifts, dtype=np.float64))
    basis = np.zeros((max_iter + 1, len(b)), dtype=b.dtype)
    tridiagonal = np.zeros((max_iter + 1, max_iter))
    directions = np.zeros((max_iter + 2, len(shifts), max_iter))  # two zero ones come first
    steps, residual_norms = np.zeros((2, max_iter, len(shifts)))
    b_norm = norm(b)
    rotations = Rotations(b_norm, shifts)
    k = 0
    for v, alpha, beta, v_next in lanczos(A, b, max_iter):
        basis[k], basis[k + 1] = v, v_next
        tridiagonal[k, k], tridiagonal[k + 1, k] = alpha, beta
        steps[k], rho, delta, epsilon = rotations.rotate(alpha, beta)
        if k + 1 < max_iter:
            tridiagonal[k, k + 1] = beta
        direction = directions[k + 2]
        direction[:, k] = 1
        direction -= delta[:, None] * directions[k + 1] + epsilon[:, None] * directions[k]
        direction /= rho[:, None]
        residual_norms[k] = np.abs(rotations.phi)
        k += 1
        if residual_norms[k - 1].max() <= tol * b_norm:
            break
    increments = steps[:k, :, None] * directions[2 : k + 2, :, :k]
    return ShiftedSolutions(
        shifts=shifts,
        basis=basis[: k + 1],
        tridiagonal=tridiagonal[: k + 1, :k],
        coefficients=np.cumsum(increments, axis=0).transpose(1, 0, 2).copy(),
        residual_norms=residual_norms[:k].T.copy(),
        b_norm=b_norm,
    )
