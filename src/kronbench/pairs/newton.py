"""Truncated Newton methods for regularized risk, dual and primal (Airola & Pahikkala 2018).

Both minimize J(z) = L(p, y) + reg/2 ||f||^2 over the coefficients z of a linear model of the
predictions, p = B z: in the dual form (Algorithm 2) z = a, B is the Gram operator Q of the
training pairs and ||f||^2 = a'Q a; in the primal form (Algorithm 3) z = w, B is the design
operator X and ||f||^2 = w'w. A Newton step x is found by a few Krylov iterations.

The symbols are the paper's: K (m, m) and D (m, d) are kernel matrix and features of the row
vertices, G (q, q) and T (q, r) those of the column vertices; g and H are gradient and Hessian of
L by p. The paper writes vec for the stacked columns of a matrix of coefficients (d, r), where the
code stores its rows one after the other; the two orders are permutations of each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from kronbench.errors import InputError, check_positive
from kronbench.linalg.blas1 import axpy, dot, norm
from kronbench.linalg.krylov import ConjugateGradients, Operator, qmr
from kronbench.pairs.losses import Loss

# The products of all pairs that it takes to go over to the active ones and back.
_PRODUCTS_OF_A_SWITCH = 2

# A gradient may be small beside the first one only because one large feature rules both. So an end
# by "tol" also asks how far J may be above its minimum. These are the shares of what J has fallen
# that a bound of it, and an estimate that correlated features may exceed, are allowed. Scores are
# then right to some 1e-2.
_BOUNDED_SHARE_OF_FALL = 1e-3
_ESTIMATED_SHARE_OF_FALL = 1e-6

# A tolerance larger than some 1e-4 asks for less: the estimate of features of one scale is about
# its square, as a share, and up to ten times as much where they are correlated.
_SHARE_PER_SQUARED_TOL = 10

# The share of the scores that rounding of a product may change at the end.
_SCORE_ROUNDING = 3e-3

# The share of active pairs up to which "cg" holds no more memory with them than with all pairs.
_ACTIVE_SHARE_OF_CG = 0.5


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
    iterate), "rounding" (the residual is below the tolerance and falls no further, yet J may be
    far above its minimum: features differ much in scale) or "diverged" (the objective or its
    gradient is not finite).
    """

    coef: np.ndarray
    scores: np.ndarray
    objective_path: np.ndarray
    stop: str


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
        Q = R (G kron K) R' of Eq. 7, symmetric positive semidefinite. Its method
        ``restrict(out, in_)``, where it has one, makes products of the size of the active set,
        where that saves more than it costs.
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
          equals the primal form's. InputError where Q is not positive semidefinite.
    iterated : bool
        Iterated Tikhonov regularization (Engl, Hanke & Neubauer 1996, section 5.1): a step has
        reg/2 ||x||^2 in place of reg/2 ||f||^2; the number of steps regularizes.
    line_search : bool
        delta minimizes J along x, at O(n) an evaluation without further products, and the method
        ends if x is not a direction of descent; otherwise delta = 1.
    tol : float
        Ends when the norm of g + reg a, which is zero at the optimum, has fallen by this factor
        ("cg": the norm of Q) and J is near its minimum; the same factor for each inner system.
    callback : callable(Iterate) -> bool, optional
        Called after each outer iteration; True stops, e.g. when the AUC of a validation set falls.
    """
    operator = aslinearoperator(gram)
    if operator.shape[0] != operator.shape[1]:
        raise InputError(f"gram has shape {operator.shape}: give a square operator")
    form = _DualInGramProduct if solver == "cg" else _Dual
    return _minimize(form(operator, reg, solver, iterated), loss, y, **options)


def newton_primal(
    design: Operator,
    loss: Loss,
    y: np.ndarray,
    reg: float,
    *,
    solver: str = "qmr",
    preconditioner: Callable[[np.ndarray, float], Callable] | None = None,
    diagonal: Callable[[np.ndarray], np.ndarray] | None = None,
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
    diagonal : function of the weights (n,), optional
        Returns the diagonal (d,) of X' H X in double precision, with which an end by ``tol`` is
        judged in each feature's own scale. Without it a bound that knows reg alone asks for more.
    loss, y, reg, solver, iterated, **options
        As for :func:`newton_dual`, and its errors.
    """
    form = _Primal(aslinearoperator(design), reg, solver, iterated)
    if preconditioner is not None:
        if solver != "cg":
            raise InputError(f"solver is {solver!r}: a preconditioner needs 'cg'")
        form.preconditioner = preconditioner
    form.diagonal = diagonal
    return _minimize(form, loss, y, **options)


def _minimize(
    form, loss, y, *, max_iter=10, max_inner=10, line_search=False, tol=1e-8, callback=None
):
    """Algorithms 2 and 3, which differ in the form alone."""
    y = np.asarray(y)
    if y.shape != (form.operator.shape[0],):
        raise InputError(f"y has shape {y.shape}: give ({form.operator.shape[0]},)")
    # Line 1 sets the coefficients z (a or w) to zero, where p = B z (line 3) is zero too. Later p
    # follows the recurrence of z, so that line 3 costs no product.
    z, p = np.zeros(form.operator.shape[1], y.dtype), np.zeros_like(y)
    objectives: list[float] = []
    target, last, stop = None, np.inf, "max_iter"
    while len(objectives) < max_iter:
        # Line 4 computes g, and from it the right-hand side of line 5. It vanishes at the optimum.
        residual, size = form.residual(loss.gradient(p, y), z)
        target = tol * size if target is None else target
        if not np.isfinite(size):
            stop = "diverged"
            break
        # The convergence of line 7 is a small right-hand side and a J that is near its minimum.
        if size <= target:
            first = loss.value(np.zeros_like(p), y)
            gained = first - (objectives[-1] if objectives else first)
            near = form.is_near(loss, y, p, z, residual, gained, tol)
            # Where J is not near, more steps help as long as the residual goes on falling.
            if near or not 0 < size < last:
                stop = "tol" if near else "rounding"
                break
        last = size
        # Line 5 is the truncated solve; its image B x comes along for line 3 of the next step.
        x, Bx = form.step(loss, y, p, residual, tol=tol, max_iter=max_inner)
        if not x.any():
            stop = "breakdown"
            break
        # Line 6 is z <- z - delta x. The arrays are scaled in place, and freed early.
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
        # The objective is J of Eq. 4; an iterated method has no penalty of z itself.
        objectives.append(loss.value(p, y) + 0.5 * form.penalty_weight * form.inner(z, z, p))
        if callback is not None and callback(Iterate(len(objectives), z, p, objectives[-1])):
            stop = "callback"
            break
        if not np.isfinite(objectives[-1]):
            stop = "diverged"
            break
    return NewtonResult(z, p, np.array(objectives), stop)


class _Form:
    """What differs between the two algorithms.

    ``residual`` is the right-hand side of line 5 and its norm; ``step`` solves line 5, in which it
    may overwrite the residual, and returns x and its image B x; ``inner`` is the inner product of
    two functions; ``is_near`` says whether J, which has ``gained`` so much, is near its minimum.
    """

    def __init__(self, operator, reg, solver, iterated):
        self.reg = check_positive(reg, "reg")
        # J has half this weight on ||f||^2. A step x always has half of ``reg`` on ||x||^2.
        self.penalty_weight = 0.0 if iterated else self.reg
        if solver not in ("qmr", "cg"):
            raise InputError(f"solver={solver!r} is unknown: give one of qmr, cg")
        self.operator, self.solver = operator, solver


class _Dual(_Form):
    """Algorithm 2, where line 5 is Eq. 9: (H Q + reg I) x = g + reg a."""

    def inner(self, u, v, Bv):
        """<f_u, f_v> of the functions with coefficients u and v."""
        return dot(u, Bv)

    def residual(self, g, a):
        """G + reg a, the gradient of J without its factor Q (Eq. 8), and its norm."""
        residual = g + self.penalty_weight * a
        return residual, norm(residual)

    def is_near(self, loss, y, p, a, residual, gained, tol):
        # The scores are off by no more than this residual, whatever the scale of Q, but those of
        # a product with large entries may be off by its rounding.
        return norm(self.operator.matvec(a) - p) <= _SCORE_ROUNDING * norm(p)

    def step(self, loss, y, p, rhs, **options):
        system = self._system(loss, loss.weights(p, y), rhs, options["max_iter"])
        Q, weights, reg = system.gram, system.weights, self.reg

        # Line 5 has the matrix A = H Q + reg I with H = W P, and QMR needs A' = Q P W + reg I too.
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

    def _system(self, loss, weights, rhs, max_iter, largest_share=1.0):
        """Where the inner iterations take place: on all pairs, or on the active ones.

        The active pairs are the set S of section 4.2, those with a weight in the Hessian.
        """
        share = np.count_nonzero(weights) / len(weights)
        # A product with Q on the active pairs costs about ``share`` of one on all pairs.
        pays = share <= largest_share and max_iter * (1 - share) > _PRODUCTS_OF_A_SWITCH
        if pays and hasattr(self.operator, "restrict"):
            # A loss with pairs without curvature is a sum over pairs, so that P is the identity.
            return _active_system(self.operator, weights, rhs)
        return _System(self.operator.matvec, weights, loss.project, _same, _same)


class _DualInGramProduct(_Dual):
    """Conjugate gradients for (H Q + reg I) x = g + reg a with <u, v> = u'Q v.

    Each vector v is carried with Q v, updated by the same recurrence. The part of a vector in the
    null space of Q is not seen; it is the zero function.
    """

    gram_norm = 0.0  # a lower bound of ||Q||, from the products made
    rounding = 0.0  # of Q r

    def residual(self, g, a):
        """The vector r = g + reg a, with its image Q r, the gradient of J (Eq. 8); its Q-norm."""
        r = g + self.penalty_weight * a
        Qr = self.operator.matvec(r)
        size = norm(r)
        if size > 0:
            self.gram_norm = max(self.gram_norm, norm(Qr) / size)
        self.rounding = 10 * np.finfo(r.dtype).eps * self.gram_norm * size
        return (r, Qr), np.sqrt(self._square(r, Qr))

    def is_near(self, loss, y, p, a, residual, gained, tol):
        # J is strongly convex: it is at most r'Q r / (2 reg) above its minimum.
        square = max(dot(*residual), self.rounding * norm(residual[0]))
        return square <= 2 * self.reg * _BOUNDED_SHARE_OF_FALL * gained

    def step(self, loss, y, p, rhs, **options):
        tol, max_iter = options["tol"], options["max_iter"]
        system = self._system(loss, loss.weights(p, y), rhs[0], max_iter, _ACTIVE_SHARE_OF_CG)
        # The start x = 0 leaves the right-hand side as residual. Each vector has its image by Q.
        r, Qr = map(system.reduce, rhs)
        x, Qx = np.zeros_like(r), np.zeros_like(r)
        steps = ConjugateGradients((x, Qx), (r, Qr))
        rr = first = self._square(r, Qr)
        for _ in range(max_iter):
            d, Qd = steps.direction((r, Qr), rr)
            # The product A d = H Q d + reg d needs no product with Q, but its image Q A d does.
            Ad = system.weights * system.project(Qd)
            axpy(self.reg, d, Ad)
            QAd = system.gram(Ad)
            # The curvature is <d, A d> = d'Q A d.
            if not steps.move((d, Qd), (Ad, QAd), dot(d, QAd)):
                break
            del Ad, QAd
            rr = self._square(r, Qr)
            if rr <= tol**2 * first:
                break
        if system.expand is _same:
            return x, Qx
        # On the active pairs Q x is known there alone.
        x = system.expand(x)
        return x, self.operator.matvec(x)

    def _square(self, r, Qr):
        """R'Q r; zero where it is no more than rounding, r then being in the null space of Q."""
        square = dot(r, Qr)
        size = norm(r)
        if abs(square) <= self.rounding * size:
            return 0.0
        # A negative square is an error of the caller where it is large beside ||Q|| ||r||^2. A
        # random vector estimates ||Q||, of which the residuals so far may have seen little.
        if square < 0:
            v = np.random.default_rng(0).standard_normal(self.operator.shape[0])
            gram_norm = norm(self.operator.matvec(v)) / norm(v)
            if square / size**2 < -np.sqrt(np.finfo(self.operator.dtype).eps) * gram_norm:
                raise InputError(
                    "the kernel of the pairs is not positive semidefinite: use solver='qmr', or "
                    "make the kernel matrices positive semidefinite"
                )
            return 0.0
        return square


class _System(NamedTuple):
    """The product with Q, the weights and the projection of H, and the way there and back."""

    gram: Callable
    weights: np.ndarray
    project: Callable
    reduce: Callable
    expand: Callable


def _same(v):
    return v


def _active_system(operator, weights, rhs):
    """Iterations on the active pairs and one coordinate for all others.

    On a pair without curvature H Q + reg I is reg I, so that each Krylov vector of a right-hand
    side is a multiple of it on those pairs. With B, whose orthonormal columns are the active pairs
    and the right-hand side on the others, (H Q + reg I) B = B A: right vectors of the iterations
    are B v. Left vectors of QMR and images under Q occur in inner products with those alone, for
    which B' w and B' Q B v are enough.
    """
    active = weights != 0
    # The last column of B is the right-hand side on the flat pairs, over its norm; ``column`` is
    # its image by Q.
    flat = np.where(active, 0, rhs)
    size = norm(flat)
    column = np.zeros_like(rhs)
    if size > 0:
        flat /= size
        column = operator.matvec(flat)
    # B'Q B is Q on the active pairs, bordered by this column and corner.
    column, corner = column[active], dot(flat, column)
    inside = operator.restrict(active, active)

    def gram(v):
        """B' Q B v."""
        last = float(v[-1])
        Qv = np.empty_like(v)
        Qv[:-1] = inside.matvec(v[:-1])
        axpy(last, column, Qv[:-1])
        Qv[-1] = dot(column, v[:-1]) + last * corner
        return Qv

    def reduce(v):
        """B'v."""
        return np.append(v[active], v.dtype.type(dot(flat, v)))

    def expand(v):
        """B v."""
        whole = float(v[-1]) * flat
        whole[active] = v[:-1]
        return whole

    # Flat pairs have no weight: the last row of A is reg times its unit vector.
    inner_weights = np.append(weights[active], 0).astype(rhs.dtype, copy=False)
    return _System(gram, inner_weights, _same, reduce, expand)


class _Primal(_Form):
    """Algorithm 3, where line 5 is (X' H X + reg I) x = X' g + reg w with X = R (T kron D)."""

    preconditioner: Callable | None = None
    diagonal: Callable | None = None

    def inner(self, u, v, Bv):
        return dot(u, v)

    def residual(self, g, w):
        """The gradient of J by w, the right-hand side of line 5, and its norm."""
        residual = self.operator.rmatvec(g) + self.penalty_weight * w
        return residual, norm(residual)

    def is_near(self, loss, y, p, w, residual, gained, tol):
        # J can fall by r'(X'H X + reg I)^-1 r / 2 more. The diagonal in place of the system is
        # the gradient of features scaled to size one, in which no large feature hides another.
        weights = loss.weights(p, y).astype(float)
        curvature = self.reg + (self.diagonal(weights) if self.diagonal else 0.0)
        # J is a square of what ``tol`` is about.
        share = max(_ESTIMATED_SHARE_OF_FALL, _SHARE_PER_SQUARED_TOL * tol**2)
        return dot(residual / curvature, residual) <= 2 * share * gained

    def step(self, loss, y, p, rhs, tol, max_iter):
        weights, X, r = loss.weights(p, y), self.operator, rhs
        if self.solver == "qmr":

            def product(v):
                return X.rmatvec(weights * loss.project(X.matvec(v))) + self.reg * v

            system = LinearOperator((len(r),) * 2, product, product, dtype=r.dtype)
            x = qmr(system, r, verify=False, symmetric=True, tol=tol, max_iter=max_iter).x
            return x, X.matvec(x)
        # Conjugate gradients carry X x along, which saves the last product with X.
        solve = self.preconditioner(weights, self.reg) if self.preconditioner else _same
        x, Xx = np.zeros_like(r), np.zeros(X.shape[0], r.dtype)
        steps = ConjugateGradients((x, Xx), (r,))
        target = tol * norm(r)
        for _ in range(max_iter):
            z = solve(r)
            rz = dot(r, z)
            if not rz > 0:  # squares of what is left are too small for a number
                break
            (d,) = steps.direction((z,), rz)
            # The product A d = X' H X d + reg d gives X d on the way, the image of x.
            Xd = X.matvec(d)
            Ad = X.rmatvec(weights * loss.project(Xd))
            axpy(self.reg, d, Ad)
            if not steps.move((d, Xd), (Ad,), dot(d, Ad)):
                break
            if norm(r) <= target:
                break
        return x, Xx


def _line_minimum(form, loss, y, p, z, x, Bx):
    """Delta >= 0 that minimizes J(z - delta x), line 6; 0 where x is no direction of descent."""
    linear, quadratic = form.inner(x, z, p), form.inner(x, x, Bx)

    def slope(delta):
        """The derivative of J(z - delta x) by delta, in O(n) from p and B x."""
        penalty = form.reg * delta * quadratic - form.penalty_weight * linear
        return penalty - dot(Bx, loss.gradient(p - delta * Bx, y))

    start = slope(0.0)
    if not start < 0:
        return 0.0
    # The full Newton step is taken where it is as good as a minimum.
    if abs(slope(1.0)) <= 1e-3 * -start:
        return 1.0
    # J is convex, so that its slope changes sign once: it is bracketed by doubling, then found.
    low, high = 0.0, 1.0
    while slope(high) < 0 and high < 1e6:
        low, high = high, 2 * high
    if slope(high) < 0:
        return high
    from scipy.optimize import brentq  # a tenth of the time in which a model is loaded

    return brentq(slope, low, high, rtol=1e-3)
