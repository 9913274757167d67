"""Krylov methods on linear operators, stopped early, with the residual of each iterate.

Ours instead of scipy's because the experiments stop the iterations early and look at each
iterate: the callback gets the residual b - A x by recurrence, with which the caller knows A x
without a product (scipy's gives x alone), and ``max_iter`` is kept (scipy's minres also ends on
its own estimate of the condition number). The iterates are scipy's; the tests compare them.

Scalars are Python floats, so that vectors of single precision stay so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from math import hypot
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from kronbench.errors import InputError
from kronbench.linalg.blas1 import axpby, axpy, dot, norm

# Relative residual at which a method stops, by default.
_TOL = 1e-8

# Units of rounding, relative to b, up to which a residual b - A x is no sign of a lost solution.
_ROUNDING_UNITS = 100

# How far, relative to b, the residual of the recurrence may be from that of a product
LOST = 1e-3

Operator: TypeAlias = Any  # LinearOperator, array or sparse matrix


class Solution(NamedTuple):
    """Last iterate x (n,), its residual b - A x (n,), the iterations made, why they ended.

    ``stop`` is "tol", "max_iter", "callback", "breakdown" (the method cannot go on: A is singular
    for it, or its recurrences divide by what rounding left of zero) or "rounding" (the residual
    itself did not reach ``tol``; or it has parted from that of the recurrence, and x is an earlier
    iterate). The residual is that of one more product with A, unless ``verify=False``.
    """

    x: np.ndarray
    residual: np.ndarray
    n_iter: int
    stop: str


def _solver(solve):
    """Check the system for ``solve``, and the solution it claims.

    ``verify`` is an argument of the methods in their signatures alone: the decorator takes it.
    """

    @wraps(solve)
    def checked(A, b, *, verify=True, callback=None, **options):
        A, b = _as_system(A, b)
        solution = solve(A, b, callback=callback, **options)
        if not verify:
            return solution
        # Where the residual of a product is another than that of the recurrence, half as many
        # iterations are made anew, until they agree; those of none do. They are the same as
        # before, so that no callback sees them again.
        b_norm, lost = norm(b), False
        while solution.n_iter:
            residual = b - A.matvec(solution.x) - options.get("shift", 0.0) * solution.x
            if norm(residual - solution.residual) <= LOST * b_norm:
                break
            lost = True  # also where a number is not finite
            solution = solve(A, b, **{**options, "max_iter": solution.n_iter // 2})
        else:  # no iteration is left, or none was made
            return solution._replace(stop="rounding") if lost else solution
        # A method that claims ``tol`` must have it in the residual of a product. Twice: the
        # recurrence and the product may differ by their last digits.
        stop = solution.stop
        attained = max(2 * options.get("tol", _TOL), _ROUNDING_UNITS * np.finfo(b.dtype).eps)
        if lost or (stop == "tol" and norm(residual) > attained * b_norm):
            stop = "rounding"
        return solution._replace(residual=residual, stop=stop)

    return checked


@_solver
def minres(
    A: Operator,
    b: np.ndarray,
    *,
    shift: float = 0.0,
    tol: float = _TOL,
    max_iter: int = 100,
    callback: Callable[[np.ndarray, np.ndarray], bool] | None = None,
    verify: bool = True,
) -> Solution:
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
    verify : bool, default True
        Whether one more product checks the residual.
    """
    # The names are those of Choi, Paige & Saunders (2011, SIAM J. Sci. Comput. 33), with rotations
    # in place of their reflections: signs differ. The directions w_k here are their d_k, the
    # columns of V_k R_k^-1, where R_k is the triangular factor of T_k + shift I.
    x, residual = np.zeros_like(b), b.copy()
    w, w_old = np.zeros_like(b), np.zeros_like(b)
    rotations = Rotations(norm(b), shift)
    first, target = rotations.phi, tol * rotations.phi
    n_iter, stop = 0, "tol" if first == 0 else "max_iter"
    for v, alpha, beta, v_next in lanczos(A, b, max_iter):
        tau, rho, delta, epsilon = map(float, rotations.rotate(alpha, beta))
        # w_k = (v_k - delta w_{k-1} - epsilon w_{k-2}) / rho, in the memory of w_{k-2}
        axpby(-delta / rho, w, -epsilon / rho, w_old)
        axpy(1 / rho, v, w_old)
        w, w_old = w_old, w
        # x_k = x_{k-1} + tau_k w_k
        axpy(tau, w, x)
        # r_k = s_k^2 r_{k-1} + c_k phi_k v_{k+1}; its norm is |phi_k|
        gain = float(rotations.cosine * rotations.phi)
        axpby(gain, v_next, float(rotations.sine) ** 2, residual)
        n_iter += 1
        if callback is not None and callback(x, residual):
            stop = "callback"
            break
        if abs(rotations.phi) <= target:
            stop = "tol"
            break
        if beta == 0:  # the Krylov space is exhausted: nothing lowers the residual any more
            exact = abs(rotations.phi) <= _ROUNDING_UNITS * np.finfo(b.dtype).eps * first
            stop = "tol" if exact else "breakdown"
    return Solution(x, residual, n_iter, stop)


class ConjugateGradients:
    """Preconditioned conjugate gradients for A x = b, a step at a time (Hestenes & Stiefel 1952).

    The caller makes the products, applies the preconditioner M, measures in its inner product <,>
    and stops. A step is

        d = steps.direction(z, square)               with z = M r and square = <r, z>
        steps.move(d, Ad, curvature)                 with curvature = <d, A d>

    A vector is a tuple of arrays: itself and images of it, say B x beside x, which follow the
    recurrences of the vector, so that no product is made for them. The iterates overwrite x and
    the residual r = b - A x.
    """

    def __init__(self, x: tuple[np.ndarray, ...], r: tuple[np.ndarray, ...]):
        self._x, self._r = x, r
        self._direction: tuple[np.ndarray, ...] | None = None
        self._square = 0.0

    def direction(self, z: tuple[np.ndarray, ...], square: float) -> tuple:
        """The next direction: z, made conjugate to the last one; the next call overwrites it."""
        if self._direction is None:
            self._direction = tuple(v.copy() for v in z)
        else:
            for v, d in zip(z, self._direction, strict=True):
                axpby(1.0, v, square / self._square, d)
        self._square = square
        return self._direction

    def move(
        self, d: tuple[np.ndarray, ...], Ad: tuple[np.ndarray, ...], curvature: float
    ) -> bool:
        """Step along the direction d, given with all images that x has.

        False, and no step, where the curvature is not positive: rounding has left nothing of the
        residual, or A is not positive definite.
        """
        if not curvature > 0:
            return False
        length = self._square / curvature
        for v, x in zip(d, self._x, strict=True):
            axpy(length, v, x)
        for v, r in zip(Ad, self._r, strict=True):
            axpy(-length, v, r)
        return True


@_solver
def cg(
    A: Operator,
    b: np.ndarray,
    *,
    tol: float = _TOL,
    max_iter: int = 100,
    callback: Callable[[np.ndarray, np.ndarray], bool] | None = None,
    verify: bool = True,
) -> Solution:
    """Conjugate gradient method for A x = b, A symmetric positive definite.

    Parameters: as for :func:`minres`. It also stops at a direction of no curvature.
    """
    x, residual = np.zeros_like(b), b.copy()
    # Squared norms are compared: one inner product serves the step and the test for the end.
    steps = ConjugateGradients((x,), (residual,))
    rr = dot(residual, residual)
    target = tol**2 * rr
    n_iter, stop = 0, "max_iter" if rr > 0 else "tol"
    while n_iter < max_iter and rr > 0:
        (p,) = steps.direction((residual,), rr)
        # One product for each step; the residual r serves as z, since nothing is preconditioned.
        Ap = A.matvec(p)
        if not steps.move((p,), (Ap,), dot(p, Ap)):
            stop = "breakdown"
            break
        rr = dot(residual, residual)
        n_iter += 1
        # Numbers that overflowed are a breakdown, and no callback sees them.
        if not np.isfinite(rr):
            stop = "breakdown"
            break
        if callback is not None and callback(x, residual):
            stop = "callback"
            break
        if rr <= target:
            stop = "tol"
            break
    return Solution(x, residual, n_iter, stop)


@_solver
def qmr(
    A: Operator,
    b: np.ndarray,
    *,
    tol: float = _TOL,
    max_iter: int = 100,
    callback: Callable[[np.ndarray, np.ndarray], bool] | None = None,
    symmetric: bool = False,
    verify: bool = True,
) -> Solution:
    """Quasi-minimal residual method for A x = b, A square (Freund & Nachtigal 1991).

    The coupled two-term recurrences without look-ahead; stops at a breakdown of the two-sided
    Lanczos process. Needs ``A.rmatvec``, but where A is ``symmetric``: the left vectors are then
    the right ones, to the last bit. Parameters: as for :func:`minres`.
    """
    # The names are those of figure 2.8 in Barrett et al. (1994), "Templates for the Solution of
    # Linear Systems", without a preconditioner: right and left Lanczos vectors v and w with their
    # norms rho and xi, directions p and q, the steps d of x and s = A d of the residual.
    residual = b.copy()
    x, v, p, d, s = np.zeros_like(b), b.copy(), *(np.zeros_like(b) for _ in range(3))
    w, q = (v, p) if symmetric else (b.copy(), np.zeros_like(b))
    tiny = 10 * np.finfo(b.dtype).eps
    rho = xi = norm(b)
    target = tol * rho
    epsilon, gamma, eta, theta = 1.0, 1.0, -1.0, 0.0
    n_iter, stop = 0, "max_iter" if rho > 0 else "tol"
    while n_iter < max_iter and rho > 0:
        if not 0 < xi < np.inf:
            stop = "breakdown"
            break
        # The next pair of Lanczos vectors, of norm 1, and their inner product delta. The process
        # ends where they are orthogonal: look-ahead would go on.
        v /= rho
        if not symmetric:
            w /= xi
        delta = dot(w, v)
        if not abs(delta) > tiny:
            stop = "breakdown"
            break
        # p = v - (xi delta / epsilon) p and q = w - (rho delta / epsilon) q: the two sides of the
        # LU factorization of the tridiagonal matrix, with pivots epsilon = q'A p.
        axpby(1.0, v, -xi * delta / epsilon, p)
        if not symmetric:
            axpby(1.0, w, -rho * delta / epsilon, q)
        Ap = A.matvec(p)
        epsilon = dot(q, Ap)
        # A pivot within the rounding of the product is noise, by which what follows would divide.
        if not abs(epsilon) > tiny * norm(q) * norm(Ap):
            stop = "breakdown"
            break
        # The right Lanczos vector, unscaled: v = A p - beta v, of norm rho
        beta = epsilon / delta
        axpby(1.0, Ap, -beta, v)
        rho, rho_old = norm(v), rho
        if not (gamma * abs(beta) > 0 and rho < np.inf):
            stop = "breakdown"
            break
        # The rotation that minimizes the quasi-residual: theta is the tangent and gamma the cosine
        # of its angle, eta the length of the step along p.
        theta, theta_old = rho / (gamma * abs(beta)), theta
        gamma, gamma_old = 1 / hypot(1, theta), gamma
        eta *= -rho_old / beta * (gamma / gamma_old) ** 2
        # d = eta p + (theta_{k-1} gamma_k)^2 d, and s = A d by the same recurrence from A p
        axpby(eta, p, (theta_old * gamma) ** 2, d)
        axpby(eta, Ap, (theta_old * gamma) ** 2, s)
        del Ap  # its memory serves the next product
        x += d
        residual -= s
        n_iter += 1
        if callback is not None and callback(x, residual):
            stop = "callback"
            break
        if norm(residual) <= target:
            stop = "tol"
            break
        # The left Lanczos vector: w = A'q - beta w, of norm xi. The last iteration needs none.
        if symmetric:
            xi = rho
        elif n_iter < max_iter:
            axpby(1.0, A.rmatvec(q), -beta, w)
            xi = norm(w)
    return Solution(x, residual, n_iter, stop)


def lanczos(
    A: LinearOperator, b: np.ndarray, max_iter: int
) -> Iterator[tuple[np.ndarray, float, float, np.ndarray]]:
    """Yield v_k, alpha_k, beta_{k+1}, v_{k+1}; ends after a beta that is zero to rounding.

    A v_k = beta_{k+1} v_{k+1} + alpha_k v_k + beta_k v_{k-1}, v_1 = b / ||b||. The vectors are
    buffers: v_k is overwritten two steps later.
    """
    b_norm = norm(b)
    if b_norm == 0:
        return
    v, v_next = b / b_norm, np.zeros_like(b)
    beta = scale = 0.0
    for _ in range(max_iter):
        # v_next holds v_{k-1}, and becomes A v_k - beta_k v_{k-1}. alpha_k is taken after that
        # subtraction (Paige 1972), which loses less to rounding than v'A v before it.
        axpby(1.0, A.matvec(v), -beta, v_next)
        alpha = dot(v, v_next)
        axpy(-alpha, v, v_next)
        beta = norm(v_next)
        # The space is exhausted where beta is rounding beside the largest entry of T so far.
        scale = max(scale, abs(alpha), beta)
        if beta <= 10 * np.finfo(b.dtype).eps * scale:
            v_next[:] = 0
            yield v, alpha, 0.0, v_next
            return
        v_next /= beta
        yield v, alpha, beta, v_next
        v, v_next = v_next, v  # two buffers: the older one holds v_{k-1} next time


class Rotations:
    """Givens rotations that keep T + shift I triangular, for one shift or an array of shifts.

    Column k of T has beta_k, alpha_k, beta_{k+1}. Rotations k-2 and k-1 turn it into epsilon,
    delta, gamma, beta_{k+1}; rotation k, with cosine and sine, makes rho of the last two.
    """

    def __init__(self, b_norm: float, shift: float | np.ndarray):
        self.cosine: Any  # as the shift: a number, or an array
        self.sine: Any
        self.phi = b_norm * np.ones_like(shift)
        self.shift = shift
        self.cosine, self.sine = 1.0, 0.0
        self.cosine_old, self.sine_old = 1.0, 0.0
        self.beta = 0.0

    def rotate(self, alpha: float, beta: float) -> tuple[np.ndarray, ...]:
        """Tau, rho, delta, epsilon: rho w_k = v_k - delta w_{k-1} - epsilon w_{k-2}, step tau."""
        # Rotation k-2 makes epsilon and delta_bar of beta_k. Choi, Paige & Saunders (2011) call
        # them epsilon^(1) and delta^(1), and the next three delta^(2), gamma^(1) and gamma^(2).
        epsilon, delta_bar = self.sine_old * self.beta, self.cosine_old * self.beta
        # Rotation k-1 acts on delta_bar and the diagonal entry, which alone has the shift.
        delta = self.cosine * delta_bar + self.sine * (alpha + self.shift)
        gamma = self.cosine * (alpha + self.shift) - self.sine * delta_bar
        # Rotation k removes beta_{k+1} below the diagonal.
        rho = np.hypot(gamma, beta)
        # rho = 0: A + shift I is singular on the Krylov space and no further step lowers the
        # residual; a rotation by -90 degrees keeps both
        singular = rho == 0
        rho = np.where(singular, 1.0, rho)
        self.cosine_old, self.sine_old = self.cosine, self.sine
        self.cosine, self.sine = gamma / rho, np.where(singular, -1.0, beta / rho)
        # The right-hand side ||b|| e_1 under the rotations: tau stays, |phi| is the residual norm.
        tau = self.cosine * self.phi
        self.phi = -self.sine * self.phi
        self.beta = beta
        return tau, rho, delta + 0 * tau, epsilon + 0 * tau  # each of the shape of the shifts


def _as_system(A: Operator, b: np.ndarray) -> tuple[LinearOperator, np.ndarray]:
    """A as an operator and b as an array of floats, checked."""
    A = aslinearoperator(A)
    b = np.asarray(b)
    if b.dtype.kind != "f":
        b = b.astype(np.float64)
    if b.ndim != 1 or A.shape != (len(b), len(b)):
        raise InputError(f"a system of shape {A.shape} with b {b.shape}: give (n, n) and (n,)")
    if not np.isfinite(b).all():
        raise InputError("b holds NaN or infinite values: give finite numbers")
    return A, b


@dataclass(frozen=True)
class ShiftedSolutions:
    """All iterates of MINRES for (A + shift_j I) x = b, j = 1..s, in one Lanczos basis.

    The rows of ``basis`` (K + 1, n) are the columns of V, with b = ``b_norm`` V_1 and A V_K =
    V_{K+1} T for the ``tridiagonal`` T (K + 1, K); the last is zero where the Krylov space is
    exhausted. Iterate k + 1 for shift j is ``coefficients[j, k] @ basis[:K]``, and
    ``residual_norms[j, k]`` its ||b - (A + shift_j I) x|| by recurrence.
    """

    shifts: np.ndarray  # (s,)
    basis: np.ndarray
    tridiagonal: np.ndarray
    coefficients: np.ndarray  # (s, K, K)
    residual_norms: np.ndarray  # (s, K)
    b_norm: float

    @property
    def n_iter(self) -> int:
        """Number of iterations K."""
        return self.residual_norms.shape[1]

    def iterate(self, j: int, k: int = -1) -> np.ndarray:
        """X (n,) for ``shifts[j]`` after k + 1 iterations, by default the last."""
        return self.coefficients[j, k] @ self.basis[:-1]

    def quadratic_forms(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """X' A x, ||A x - b||^2 and a bound of ||b - (A + shift_j I) x|| of all iterates, (s, K).

        From the (K + 1)^2 inner products of the basis, which need not have stayed orthogonal:
        A V = V T holds to rounding, and what that adds to the residual is in the bound.
        """
        # With x = V y: A x = V_{K+1} T y, and each form is one of coordinates with V'V.
        gram, y = self.basis @ self.basis.T, self.coefficients
        Ax = y @ self.tridiagonal.T
        xAx = np.einsum("jki,jki->jk", y @ gram[:-1], Ax)
        # A x - b, as b is the first basis vector times its norm
        Ax[:, :, 0] -= self.b_norm
        square = np.einsum("jki,jki->jk", Ax @ gram, Ax)
        # A x + shift x - b
        Ax[:, :, :-1] += self.shifts[:, None, None] * y
        residual = np.einsum("jki,jki->jk", Ax @ gram, Ax)
        # The error of A V = V T, in the norm of T, which the coordinates do not show
        eps = float(np.finfo(self.basis.dtype).eps)
        size = eps * np.linalg.norm(self.tridiagonal) * np.linalg.norm(y, axis=2)
        return xAx, square, np.sqrt(np.maximum(residual, 0)) + size


def multishift_minres(
    A: Operator,
    b: np.ndarray,
    shifts: np.ndarray,
    *,
    tol: float = _TOL,
    max_iter: int = 100,
) -> ShiftedSolutions:
    """MINRES for (A + shift_j I) x = b, all shifts from one Lanczos run.

    A + shift I has the Krylov space of A, so the K products with A serve every shift. Beyond them
    a shift costs O(K^2), an iterate a linear combination of stored vectors. There is no
    reorthogonalization: MINRES alone loses orthogonality in the same way, so that the iterates
    agree with separate runs. Memory is (K + 1) n.

    It stops when the relative residual of every one of the ``shifts`` (s,) is at most ``tol``.
    Other parameters: as for :func:`minres`.
    """
    A, b = _as_system(A, b)
    shifts = np.atleast_1d(np.asarray(shifts, dtype=np.float64))
    # directions[k + 2, j] holds the coordinates of w_k in the basis, for shift j: minres keeps two
    # vectors w, here all are kept as K numbers each.
    basis = np.zeros((max_iter + 1, len(b)), dtype=b.dtype)
    tridiagonal = np.zeros((max_iter + 1, max_iter))
    directions = np.zeros((max_iter + 2, len(shifts), max_iter))  # two zero ones come first
    steps, residual_norms = np.zeros((2, max_iter, len(shifts)))
    b_norm = norm(b)
    rotations = Rotations(b_norm, shifts)
    k = 0
    for v, alpha, beta, v_next in lanczos(A, b, max_iter):
        # Column k of T and V; one rotation for each shift.
        basis[k], basis[k + 1] = v, v_next
        tridiagonal[k, k], tridiagonal[k + 1, k] = alpha, beta
        steps[k], rho, delta, epsilon = rotations.rotate(alpha, beta)
        if k + 1 < max_iter:
            tridiagonal[k, k + 1] = beta
        # w_k = (v_k - delta w_{k-1} - epsilon w_{k-2}) / rho, as in minres
        direction = directions[k + 2]
        direction[:, k] = 1
        direction -= delta[:, None] * directions[k + 1] + epsilon[:, None] * directions[k]
        direction /= rho[:, None]
        residual_norms[k] = np.abs(rotations.phi)
        k += 1
        if residual_norms[k - 1].max() <= tol * b_norm:
            break
    # x_k = x_{k-1} + tau_k w_k, summed for all k at once
    increments = steps[:k, :, None] * directions[2 : k + 2, :, :k]
    return ShiftedSolutions(
        shifts=shifts,
        basis=basis[: k + 1],
        tridiagonal=tridiagonal[: k + 1, :k],
        coefficients=np.cumsum(increments, axis=0).transpose(1, 0, 2).copy(),
        residual_norms=residual_norms[:k].T.copy(),
        b_norm=b_norm,
    )
