"""Truncated Newton methods for regularized risk, dual and primal (Airola & Pahikkala 2018).

Both minimize J(z) = L(p, y) + reg/2 ||f||^2 over the coefficients z of a linear model of the
predictions, p = B z: in the dual form (Algorithm 2) z = a, B is the Gram operator Q of the
training pairs and ||f||^2 = a'Q a; in the primal form (Algorithm 3) z = w, B is the design
operator X and ||f||^2 = w'w. A Newton step x is found by a few Krylov iterations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from kronbench.errors import InputError, check_positive
from kronbench.linalg.blas1 import axpy, dot, norm
from kronbench.linalg.krylov import ConjugateGradients, Operator, qmr
from kronbench.pairs.losses import Loss

_INNER_SOLVERS = ("qmr", "cg")

# Products of all pairs that it takes to go over to the active ones and back
_TO_ACTIVE = 2

# Share of active pairs up to which "cg" holds no more memory with them than with all pairs
_LEAN = 0.5


@dataclass(frozen=True)
class Iterate:
    """What a callback sees after an iteration; the next one overwrites the arrays.

    Dual (n,) or primal (d*r,) coefficients, the predictions p (n,) for the training pairs, and
    J = L(p, y) + reg/2 ||f||^2.
    """

    n_iter: int
    coef: np.ndarray
    scores: np.ndarray
    objective: float


@dataclass(frozen=True)
class NewtonResult:
    """Coefficients, predictions (n,) for the training pairs, J after each outer iteration.

    ``stop`` says why it ended: "tol", "max_iter", "callback", "no_descent" (the line search found
    no lower objective along the step), "breakdown" (the inner solver broke down before its first
    iterate) or "diverged" (the objective or its gradient is not finite).
    """

    coef: np.ndarray
    scores: np.ndarray
    objective_path: np.ndarray
    stop: str

    @property
    def n_iter(self) -> int:
        """Outer iterations."""
        return len(self.objective_path)


def newton_dual(
    gram: Operator,
    loss: Loss,
    y: np.ndarray,
    reg: float,
    *,
    solver: str = "qmr",
    iterated: bool = False,
    **options: Any,
) -> NewtonResult:
    """Algorithm 2: truncated Newton method for the dual coefficients a (n,).

    Parameters
    ----------
    gram : (n, n) LinearOperator, array or sparse matrix
        Q = R (G kron K) R', symmetric positive semidefinite. Its method ``restrict(out, in_)``,
        where it has one, makes products of the size of the active set.
    loss : Loss
    y : (n,) float array
        Labels, in {-1, 1} for a loss with ``margin``.
    reg : float
        lambda > 0.
    max_iter, max_inner : int
        Newton steps, and Krylov iterations for each.
    solver : {"qmr", "cg"}
        How (H Q + reg I) x = g + reg a, Eq. 9, is solved by k inner iterations.

        - "qmr": the nonsymmetric system; 2 k products a step.
        - "cg": conjugate gradients in the inner product of Q, in which H Q + reg I is
          self-adjoint; k + 1 products. x is a direction of descent however early it stops, and
          equals the primal form's.

        Products are of the size of the active set where that saves more than it costs.
    iterated : bool
        Iterated Tikhonov regularization (Engl, Hanke & Neubauer 1996, section 5.1): a step has
        reg/2 ||x||^2 in place of reg/2 ||f||^2; the number of steps regularizes.
    line_search : bool
        delta minimizes J along x, at O(n) an evaluation without further products, and the method
        ends if x is not a direction of descent; otherwise delta = 1.
    tol : float
        Ends when the norm of g + reg a, which is zero at the optimum, has fallen by this factor
        ("cg": the norm of Q); the same for each inner system.
    callback : callable(Iterate) -> bool, optional
        Called after each outer iteration; True stops, e.g. when the AUC of a validation set falls.

    Raises
    ------
    InputError
        reg is not positive, the solver is unknown, shapes do not fit, or "cg" met a direction of
        negative curvature: then Q is not positive semidefinite.
    """
    form = _DualInGramProduct if solver == "cg" else _Dual
    return _minimize(form(gram, reg, solver, iterated), loss, y, **options)


def newton_primal(
    design: Operator,
    loss: Loss,
    y: np.ndarray,
    reg: float,
    *,
    solver: str = "qmr",
    preconditioner: Callable[[np.ndarray, float], Callable] | None = None,
    iterated: bool = False,
    **options: Any,
) -> NewtonResult:
    """Algorithm 3: truncated Newton method for the primal coefficients w (d,).

    Each step solves (X' H X + reg I) x = X' g + reg w, symmetric positive definite, by k products
    with X and as many with X', and one of each besides ("cg": one with X').

    Parameters
    ----------
    design : (n, d) LinearOperator, array or sparse matrix
        X = R (T kron D), with ``rmatvec``.
    preconditioner : function of the weights (n,) and reg, optional
        Returns a function of (d,) vectors near the inverse of X' H X + reg I; for "cg".
    loss, y, reg, solver, iterated, **options
        As for :func:`newton_dual`, and its errors.
    """
    return _minimize(_Primal(design, reg, solver, iterated, preconditioner), loss, y, **options)


def _minimize(
    form, loss, y, *, max_iter=10, max_inner=10, line_search=False, tol=1e-8, callback=None
):
    y = np.asarray(y)
    if y.shape != (form.operator.shape[0],):
        raise InputError(f"y has shape {y.shape}: give ({form.operator.shape[0]},)")
    z, p = np.zeros(form.operator.shape[1], y.dtype), np.zeros_like(y)
    objectives: list[float] = []
    target, stop = None, "max_iter"
    while len(objectives) < max_iter:
        residual, size = form.residual(loss.gradient(p, y), z)
        target = tol * size if target is None else target
        if not np.isfinite(size):
            stop = "diverged"
            break
        if size <= target:
            stop = "tol"
            break
        x, Bx = form.step(loss, y, p, residual, tol=tol, max_iter=max_inner)
        if not x.any():
            stop = "breakdown"
            break
        delta = _line_minimum(form, loss, y, p, z, x, Bx) if line_search else 1.0
        if delta == 0:
            stop = "no_descent"
            break
        if delta != 1:
            x *= delta
            Bx *= delta
        axpy(-1.0, x, z)
        axpy(-1.0, Bx, p)
        del x, Bx
        objectives.append(loss.value(p, y) + 0.5 * form.pull * form.inner(z, z, p))
        if callback is not None and callback(Iterate(len(objectives), z, p, objectives[-1])):
            stop = "callback"
            break
        if not np.isfinite(objectives[-1]):
            stop = "diverged"
            break
    return NewtonResult(z, p, np.array(objectives), stop)


class _Form:
    """What differs between the forms: the residual of the optimum, a step and its image B x.

    A step may overwrite the residual.
    """

    def __init__(self, operator, reg, solver, iterated):
        self.reg = check_positive(reg, "reg")
        self.pull = 0.0 if iterated else self.reg  # towards zero; reg holds back a step
        if solver not in _INNER_SOLVERS:
            raise InputError(
                f"solver={solver!r} is unknown: give one of {', '.join(_INNER_SOLVERS)}"
            )
        self.operator = aslinearoperator(operator)
        self.solver = solver


class _Dual(_Form):
    def __init__(self, gram, reg, solver, iterated):
        super().__init__(gram, reg, solver, iterated)
        if self.operator.shape[0] != self.operator.shape[1]:
            raise InputError(f"gram has shape {self.operator.shape}: give a square operator")

    def inner(self, u, v, Bv):
        """<f_u, f_v> of the functions with coefficients u and v."""
        return dot(u, Bv)

    def residual(self, g, a):
        """G + reg a, the gradient of J without its factor Q (Eq. 8), and its norm."""
        residual = g + self.pull * a
        return residual, norm(residual)

    def step(self, loss, y, p, rhs, **options):
        system = self._system(loss, loss.weights(p, y), rhs, options["max_iter"])
        Q, weights, reg = system.gram, system.weights, self.reg

        def product(v):
            Av = system.project(Q(v))
            Av *= weights
            axpy(reg, v, Av)
            return Av

        def adjoint(v):
            Av = Q(weights * system.project(v))
            axpy(reg, v, Av)
            return Av

        shape = (len(weights), len(weights))
        A = LinearOperator(shape, matvec=product, rmatvec=adjoint, dtype=rhs.dtype)
        x = system.expand(qmr(A, system.reduce(rhs), verify=False, **options).x)
        return x, self.operator.matvec(x)

    def _system(self, loss, weights, rhs, max_iter, most=1.0):
        """Where the inner iterations take place: on all pairs, or on the active ones."""
        share = np.count_nonzero(weights) / len(weights)
        worth = share <= most and max_iter * (1 - share) > _TO_ACTIVE
        if worth and hasattr(self.operator, "restrict"):
            # A loss with pairs without curvature is a sum over pairs: nothing to project
            return _ActiveSystem(self.operator, weights, rhs)
        return _WholeSystem(self.operator, weights, loss.project)


class _DualInGramProduct(_Dual):
    """Conjugate gradients for (H Q + reg I) x = g + reg a with <u, v> = u'Q v.

    Each vector v is carried with Q v, updated by the same recurrence. The part of a vector in the
    null space of Q is not seen; it is the zero function.
    """

    gram_norm = 0.0  # lower bound, from the products made
    rounding = 0.0  # of Q r

    def residual(self, g, a):
        r = g + self.pull * a
        Qr = self.operator.matvec(r)
        size = norm(r)
        if size > 0:
            self.gram_norm = max(self.gram_norm, norm(Qr) / size)
        self.rounding = 10 * np.finfo(r.dtype).eps * self.gram_norm * size
        return (r, Qr), np.sqrt(self._square(r, Qr))

    def step(self, loss, y, p, rhs, **options):
        tol, max_iter = options["tol"], options["max_iter"]
        system = self._system(loss, loss.weights(p, y), rhs[0], max_iter, most=_LEAN)
        r, Qr = map(system.reduce, rhs)
        x, Qx = np.zeros_like(r), np.zeros_like(r)
        steps = ConjugateGradients((x, Qx), (r, Qr))
        rr = first = self._square(r, Qr)
        for _ in range(max_iter):
            d, Qd = steps.direction((r, Qr), rr)
            Ad = system.weights * system.project(Qd)
            axpy(self.reg, d, Ad)
            QAd = system.gram(Ad)
            if not steps.move((d, Qd), (Ad, QAd), dot(d, QAd)):
                break
            del Ad, QAd
            rr = self._square(r, Qr)
            if rr <= tol**2 * first:
                break
        if isinstance(system, _WholeSystem):
            return x, Qx
        x = system.expand(x)
        return x, self.operator.matvec(x)

    def _square(self, r, Qr):
        """R'Q r; zero where it is no more than rounding, r then being in the null space of Q."""
        square = dot(r, Qr)
        size = norm(r)
        if abs(square) <= self.rounding * size:
            return 0.0
        if square < 0:
            self._check_semidefinite(square / size**2)
            return 0.0
        return square

    def _check_semidefinite(self, curvature):
        v = np.random.default_rng(0).standard_normal(self.operator.shape[0])
        gram_norm = norm(self.operator.matvec(v)) / norm(v)
        if curvature < -np.sqrt(np.finfo(self.operator.dtype).eps) * gram_norm:
            raise InputError(
                "the kernel of the pairs is not positive semidefinite: use solver='qmr', or make "
                "the kernel matrices positive semidefinite"
            )


class _WholeSystem:
    """Iterations on all pairs: the product with Q, the weights and the projection of H."""

    def __init__(self, operator, weights, project):
        self.gram, self.weights, self.project = operator.matvec, weights, project

    def reduce(self, v):
        return v

    def expand(self, v):
        return v


class _ActiveSystem:
    """The same iterations on the active pairs and one coordinate for all others.

    On a pair without curvature H Q + reg I is reg I, so that each Krylov vector of a right-hand
    side is a multiple of it on those pairs. With B, whose orthonormal columns are the active pairs
    and the right-hand side on the others, (H Q + reg I) B = B A: right vectors of the iterations
    are B v. Left vectors of QMR and images under Q occur in inner products with those alone, for
    which B' w and B' Q B v are enough.
    """

    def __init__(self, operator, weights, rhs):
        self._active = active = weights != 0
        flat = np.where(active, 0, rhs)
        size = norm(flat)
        column = np.zeros_like(rhs)
        if size > 0:
            flat /= size
            column = operator.matvec(flat)
        self._flat, self._column, self._corner = flat, column[active], dot(flat, column)
        self._inside = operator.restrict(active, active)
        self.weights = np.append(weights[active], 0).astype(rhs.dtype, copy=False)

    def project(self, v):
        return v

    def gram(self, v):
        """B' Q B v."""
        inside, last = v[:-1], float(v[-1])
        Qv = np.empty_like(v)
        Qv[:-1] = self._inside.matvec(inside)
        axpy(last, self._column, Qv[:-1])
        Qv[-1] = dot(self._column, inside) + last * self._corner
        return Qv

    def reduce(self, v):
        return np.append(v[self._active], v.dtype.type(dot(self._flat, v)))

    def expand(self, v):
        whole = float(v[-1]) * self._flat
        whole[self._active] = v[:-1]
        return whole


class _Primal(_Form):
    def __init__(self, design, reg, solver, iterated, preconditioner):
        super().__init__(design, reg, solver, iterated)
        if preconditioner is not None and solver != "cg":
            raise InputError(f"solver is {solver!r}: a preconditioner needs 'cg'")
        self.preconditioner = preconditioner

    def inner(self, u, v, Bv):
        return dot(u, v)

    def residual(self, g, w):
        """The gradient of J and its norm."""
        residual = self.operator.rmatvec(g) + self.pull * w
        return residual, norm(residual)

    def step(self, loss, y, p, rhs, **options):
        weights = loss.weights(p, y)
        if self.solver == "cg":
            return self._conjugate_step(loss, weights, rhs, **options)
        X = self.operator

        def product(v):
            return X.rmatvec(weights * loss.project(X.matvec(v))) + self.reg * v

        d = X.shape[1]
        system = LinearOperator((d, d), matvec=product, rmatvec=product, dtype=rhs.dtype)
        x = qmr(system, rhs, verify=False, symmetric=True, **options).x
        return x, X.matvec(x)

    def _conjugate_step(self, loss, weights, r, tol, max_iter):
        """Conjugate gradients that carry X x along, which saves a product for each step."""
        X = self.operator
        solve = self.preconditioner(weights, self.reg) if self.preconditioner else lambda v: v
        x, Xx = np.zeros_like(r), np.zeros(X.shape[0], r.dtype)
        steps = ConjugateGradients((x, Xx), (r,))
        target = tol * norm(r)
        for _ in range(max_iter):
            z = solve(r)
            rz = dot(r, z)
            if not rz > 0:  # squares of what is left are too small for a number
                break
            (d,) = steps.direction((z,), rz)
            Xd = X.matvec(d)
            Ad = X.rmatvec(weights * loss.project(Xd))
            axpy(self.reg, d, Ad)
            if not steps.move((d, Xd), (Ad,), dot(d, Ad)):
                break
            if norm(r) <= target:
                break
        return x, Xx


def _line_minimum(form, loss, y, p, z, x, Bx):
    """Delta >= 0 that minimizes J(z - delta x); 0 where x is no direction of descent."""
    linear, quadratic = form.inner(x, z, p), form.inner(x, x, Bx)

    def slope(delta):
        penalty = form.reg * delta * quadratic - form.pull * linear
        return penalty - dot(Bx, loss.gradient(p - delta * Bx, y))

    start = slope(0.0)
    if not start < 0:
        return 0.0
    if abs(slope(1.0)) <= 1e-3 * -start:
        return 1.0
    low, high = 0.0, 1.0
    while slope(high) < 0 and high < 1e6:
        low, high = high, 2 * high
    if slope(high) < 0:
        return high
    return brentq(slope, low, high, rtol=1e-3)
