"""Krylov methods on linear operators, stopped early, with the residual of each iterate.

Ours instead of scipy's because the experiments stop the iterations early and look at each
iterate: the callback gets the residual b - A x by recurrence, with which the caller knows A x
without a product (scipy's gives x alone), and ``max_iter`` is kept (scipy's minres also ends on
its own estimate of the condition number). The iterates are scipy's; the tests compare them.

An iteration makes one product with A; qmr makes another with its transpose, except in the last.
Scalars are Python floats, so that vectors of single precision stay so. A right-hand side whose
squares would leave the range of numbers is scaled by a power of two, which changes no digit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from math import frexp, hypot
from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import aslinearoperator

from kronbench.errors import InputError
from kronbench.linalg.vectors import inner, norm

# Entries updated at a time: 128 KiB of doubles, so that temporaries stay in the L2 cache
_BLOCK = 2**14

_TOL = 1e-8


# Rounding of b - A x relative to b that is no sign of a lost solution
_ROUNDING = 100


class Solution(NamedTuple):
    """Last iterate x (n,), its residual b - A x (n,), the iterations made, why they ended.

    ``stop`` is "tol", "max_iter", "callback", "breakdown" (the method cannot go on: A is singular
    for it, or its recurrences divide by what rounding left of zero) or "rounding" (the recurrence
    reached ``tol``, the residual itself did not). The residual is that of the recurrence unless it
    was checked, which costs a product and happens where the recurrence reached ``tol``.
    """

    x: np.ndarray
    residual: np.ndarray
    n_iter: int
    stop: str


def _solver(solve):
    """Check and scale the system for ``solve``, and the solution it claims."""

    @wraps(solve)
    def checked(A, b, *, callback=None, verify=True, **options):
        A, b = _as_system(A, b)
        scale = _safe_scale(b)
        if scale == 1:
            found = solve(A, b, callback=callback, **options)
        else:
            observe = callback and (lambda x, residual: callback(scale * x, scale * residual))
            found = solve(A, b / scale, callback=observe, **options)
            found = found._replace(x=scale * found.x, residual=scale * found.residual)
        if not verify or found.stop != "tol" or found.n_iter == 0 or options.get("overwrite_b"):
            return found
        residual = b - A.matvec(found.x) - options.get("shift", 0.0) * found.x
        size, whole = norm(residual / scale), norm(b / scale)
        # twice: the recurrence and the product may differ by their last digits
        attained = max(2 * options.get("tol", _TOL), _ROUNDING * np.finfo(b.dtype).eps)
        stop = "tol" if size <= attained * whole else "rounding"
        return found._replace(residual=residual, stop=stop)

    return checked


@_solver
def minres(A, b, *, shift=0.0, tol=_TOL, max_iter=100, callback=None) -> Solution:
    """Minimum residual method for (A + shift I) x = b, A symmetric (Paige & Saunders 1975).

    Parameters
    ----------
    A : (n, n) LinearOperator, array or sparse matrix
        Symmetric; need not be definite.
    b : (n,) array
    shift : float
    tol : float
        Stops when ||b - A x|| <= tol ||b||.
    max_iter : int
    callback : callable(x, residual) -> bool, optional
        Called after each iteration with arrays that the next one overwrites; True stops.
    verify : bool
        Whether a product checks the residual where the recurrence reached ``tol``.

    Raises
    ------
    InputError
        A is not square, b does not fit it or is not finite.
    """
    x, residual = np.zeros_like(b), b.copy()
    w, w_old = np.zeros_like(b), np.zeros_like(b)
    rotations = _Rotations(norm(b), shift)
    first, target = rotations.phi, tol * rotations.phi
    n_iter, stop = 0, "tol" if first == 0 else "max_iter"
    for v, alpha, beta, v_next in _lanczos(A, b, max_iter):
        tau, rho, delta, epsilon = map(float, rotations.advance(alpha, beta))
        update(w_old, -epsilon / rho, -delta / rho, w)
        update(w_old, 1.0, 1 / rho, v)
        w, w_old = w_old, w
        update(x, 1.0, tau, w)
        update(
            residual, float(rotations.sine) ** 2, float(rotations.cosine * rotations.phi), v_next
        )
        n_iter += 1
        if callback is not None and callback(x, residual):
            stop = "callback"
            break
        if abs(rotations.phi) <= target:
            stop = "tol"
            break
        if beta == 0:  # the Krylov space is exhausted: nothing lowers the residual any more
            exact = abs(rotations.phi) <= _ROUNDING * np.finfo(b.dtype).eps * first
            stop = "tol" if exact else "breakdown"
    return Solution(x, residual, n_iter, stop)


@_solver
def cg(A, b, *, tol=_TOL, max_iter=100, callback=None) -> Solution:
    """Conjugate gradient method for A x = b, A symmetric positive definite.

    Parameters, errors: as for :func:`minres`. It also stops at a direction of no curvature.
    """
    x, residual, p = np.zeros_like(b), b.copy(), b.copy()
    rr = inner(residual, residual)
    target = tol**2 * rr
    n_iter, stop = 0, "max_iter" if rr > 0 else "tol"
    while n_iter < max_iter and rr > 0:
        Ap = A.matvec(p)
        curvature = inner(p, Ap)
        if not curvature > 0:
            stop = "breakdown"
            break
        step = rr / curvature
        update(x, 1.0, step, p)
        update(residual, 1.0, -step, Ap)
        rr, rr_old = inner(residual, residual), rr
        n_iter += 1
        if not np.isfinite(rr):
            stop = "breakdown"
            break
        update(p, rr / rr_old, 1.0, residual)
        if callback is not None and callback(x, residual):
            stop = "callback"
            break
        if rr <= target:
            stop = "tol"
            break
    return Solution(x, residual, n_iter, stop)


@_solver
def qmr(A, b, *, tol=_TOL, max_iter=100, callback=None, overwrite_b=False) -> Solution:
    """Quasi-minimal residual method for A x = b, A square (Freund & Nachtigal 1991).

    The coupled two-term recurrences without look-ahead; stops at a breakdown of the two-sided
    Lanczos process. Needs ``A.rmatvec``. Parameters, errors: as for :func:`minres`; with
    ``overwrite_b`` the residual takes the memory of b and is not verified. Seven more vectors of
    its length are held, and two while A makes a product.
    """
    residual = b if overwrite_b else b.copy()
    x, v, w = np.zeros_like(b), b.copy(), b.copy()
    p, q, d, s = (np.zeros_like(b) for _ in range(4))
    tiny = 10 * np.finfo(b.dtype).eps
    rho = xi = norm(b)
    target = tol * rho
    epsilon, gamma, eta, theta = 1.0, 1.0, -1.0, 0.0
    n_iter, stop = 0, "max_iter" if rho > 0 else "tol"
    while n_iter < max_iter and rho > 0:
        if not 0 < xi < np.inf:
            stop = "breakdown"
            break
        v /= rho
        w /= xi
        delta = inner(w, v)
        if not abs(delta) > tiny:
            stop = "breakdown"
            break
        update(p, -xi * delta / epsilon, 1.0, v)
        update(q, -rho * delta / epsilon, 1.0, w)
        Ap = A.matvec(p)
        epsilon = inner(q, Ap)
        # no more than the rounding of the product: what follows would divide by noise
        if not abs(epsilon) > tiny * norm(q) * norm(Ap):
            stop = "breakdown"
            break
        beta = epsilon / delta
        update(v, -beta, 1.0, Ap)
        rho, rho_old = norm(v), rho
        if not (gamma * abs(beta) > 0 and rho < np.inf):
            stop = "breakdown"
            break
        theta, theta_old = rho / (gamma * abs(beta)), theta
        gamma, gamma_old = 1 / hypot(1, theta), gamma
        eta *= -rho_old / beta * (gamma / gamma_old) ** 2
        update(d, (theta_old * gamma) ** 2, eta, p)
        update(s, (theta_old * gamma) ** 2, eta, Ap)
        del Ap
        x += d
        residual -= s
        n_iter += 1
        if callback is not None and callback(x, residual):
            stop = "callback"
            break
        if norm(residual) <= target:
            stop = "tol"
            break
        if n_iter == max_iter:
            break
        update(w, -beta, 1.0, A.rmatvec(q))
        xi = norm(w)
    return Solution(x, residual, n_iter, stop)


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
        return self.tridiagonal.shape[1]

    def iterate(self, j, k=-1):
        """x (n,) for ``shifts[j]`` after k + 1 iterations, by default the last."""
        return self.coefficients[j, k] @ self.basis[:-1]

    def images(self, j, basis_images):
        """B x (K, t) of all iterates for ``shifts[j]`` from the images B V_K, given as (K, t)."""
        return self.coefficients[j] @ basis_images

    def quadratic_forms(self):
        """x' A x and ||A x - b||^2 of all iterates, each (s, K).

        From the (K + 1)^2 inner products of the basis: no vector of length n is formed for an
        iterate. The basis need not have stayed orthogonal; A V = V T holds to rounding.
        """
        gram = self.basis @ self.basis.T
        Ax = self.coefficients @ self.tridiagonal.T
        xAx = np.einsum("jki,jki->jk", self.coefficients @ gram[:-1], Ax)
        Ax[:, :, 0] -= self.b_norm
        return xAx, np.einsum("jki,jki->jk", Ax @ gram, Ax)


def multishift_minres(A, b, shifts, *, tol=1e-8, max_iter=100) -> ShiftedSolutions:
    """MINRES for (A + shift_j I) x = b, all shifts from one Lanczos run.

    A + shift I has the Krylov space of A, so the K products with A serve every shift. Beyond them
    a shift costs O(K^2), an iterate or its predictions a linear combination of stored vectors:
    much cheaper than s short recurrences of length n. There is no reorthogonalization: MINRES
    alone loses orthogonality in the same way, so that the iterates agree with separate runs, and
    nothing here relies on it. Memory is (K + 1) n.

    Parameters
    ----------
    A : (n, n) LinearOperator, array or sparse matrix
        Symmetric.
    b : (n,) array
    shifts : (s,) array
    tol : float
        Stops when the relative residual of every shift is at most tol.
    max_iter : int

    Raises
    ------
    InputError
        A is not square or b does not fit it.
    """
    A, b = _as_system(A, b)
    shifts = np.atleast_1d(np.asarray(shifts, dtype=np.float64))
    basis = np.zeros((max_iter + 1, len(b)), dtype=b.dtype)
    tridiagonal = np.zeros((max_iter + 1, max_iter))
    directions = np.zeros((max_iter + 2, len(shifts), max_iter))  # two zero ones come first
    steps, residual_norms = np.zeros((2, max_iter, len(shifts)))
    b_norm = norm(b)
    rotations = _Rotations(b_norm, shifts)
    k = 0
    for v, alpha, beta, v_next in _lanczos(A, b, max_iter):
        basis[k], basis[k + 1] = v, v_next
        tridiagonal[k, k], tridiagonal[k + 1, k] = alpha, beta
        steps[k], rho, delta, epsilon = rotations.advance(alpha, beta)
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


def update(y, scale, step, x):
    """y <- scale y + step x, in place and without a temporary of their length."""
    for start in range(0, len(y), _BLOCK):
        block = y[start : start + _BLOCK]
        block *= scale
        block += step * x[start : start + _BLOCK]


def _lanczos(A, b, max_iter):
    """Yield v_k, alpha_k, beta_{k+1}, v_{k+1}; ends after a beta that is zero to rounding.

    A v_k = beta_{k+1} v_{k+1} + alpha_k v_k + beta_k v_{k-1}, v_1 = b / ||b||. The vectors are
    buffers: v_k is overwritten two steps later.
    """
    size = norm(b)
    if size == 0:
        return
    v, v_next = b / size, np.zeros_like(b)
    beta = scale = 0.0
    for _ in range(max_iter):
        # v_next holds v_{k-1}
        update(v_next, -beta, 1.0, A.matvec(v))
        alpha = inner(v, v_next)
        update(v_next, 1.0, -alpha, v)
        beta = norm(v_next)
        scale = max(scale, abs(alpha), beta)
        if beta <= 10 * np.finfo(b.dtype).eps * scale:
            v_next[:] = 0
            yield v, alpha, 0.0, v_next
            return
        v_next /= beta
        yield v, alpha, beta, v_next
        v, v_next = v_next, v


class _Rotations:
    """Givens rotations that keep T + shift I triangular, for one shift or an array of shifts."""

    def __init__(self, norm, shift):
        self.phi = norm * np.ones_like(shift)
        self.shift = shift
        self.cosine, self.sine = 1.0, 0.0
        self.cosine_old, self.sine_old = 1.0, 0.0
        self.beta = 0.0

    def advance(self, alpha, beta):
        """Step tau along the new direction d_k, and rho, delta, epsilon of its recurrence

        rho d_k = v_k - delta d_{k-1} - epsilon d_{k-2}.
        """
        epsilon, delta_bar = self.sine_old * self.beta, self.cosine_old * self.beta
        delta = self.cosine * delta_bar + self.sine * (alpha + self.shift)
        gamma = self.cosine * (alpha + self.shift) - self.sine * delta_bar
        rho = np.hypot(gamma, beta)
        # rho = 0: A + shift I is singular on the Krylov space and no further step lowers the
        # residual; a rotation by -90 degrees keeps both
        singular = rho == 0
        rho = np.where(singular, 1.0, rho)
        self.cosine_old, self.sine_old = self.cosine, self.sine
        self.cosine, self.sine = gamma / rho, np.where(singular, -1.0, beta / rho)
        tau = self.cosine * self.phi
        self.phi = -self.sine * self.phi
        self.beta = beta
        return tau, rho, delta + 0 * tau, epsilon + 0 * tau


def _safe_scale(b):
    """A power of two by which to divide b so that its squares neither vanish nor overflow."""
    largest = float(max(b.max(), -b.min())) if len(b) else 0.0
    if not np.isfinite(largest):
        raise InputError("b holds NaN or infinite values: give finite numbers")
    info = np.finfo(b.dtype)
    if largest == 0 or float(info.tiny) ** 0.25 < largest < float(info.max) ** 0.25:
        return 1.0
    return 2.0 ** (frexp(largest)[1] - 1)


def _as_system(A, b):
    A = aslinearoperator(A)
    b = np.asarray(b)
    if b.dtype.kind != "f":
        b = b.astype(np.float64)
    if b.ndim != 1 or A.shape != (len(b), len(b)):
        raise InputError(f"a system of shape {A.shape} with b {b.shape}: give (n, n) and (n,)")
    return A, b
