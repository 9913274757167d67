"""The posterior mode of the softmax likelihood under a Gaussian prior (Seeger 2006, section 6.1).

Minimizes Phi = -sum_i log P(y_i | u_i) + 1/2 a'K~ a over vectors a, u = K~ a. What needs a product
with K~ is written as a generator: it yields a vector and is sent the vector's image. So one
method serves one fit (:func:`run`) and many in step, which share each pass over the kernel
(:func:`run_together`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from kronbench.class_tree.covariance import Covariance
from kronbench.class_tree.softmax import SoftmaxLoss, softmax
from kronbench.class_tree.tree_preconditioner import tree_preconditioner
from kronbench.linalg.blas1 import axpy, dot
from kronbench.linalg.krylov import ConjugateGradients

# Steps shorter than this part of the Newton step do not help any more.
_SHORTEST_STEP = 1e-6

# An inner system is solved until the square of its residual has fallen to this part, or to the
# gap that the Newton step itself is likely to leave: gap^2 / Phi.
_FORCING_TERM = 0.05

# Drift of a score that is left as it is; a probability changes by at most a quarter of it.
_LARGEST_DRIFT = 0.01

# Each class has a factor of its own up to so many of them: their Hessian is (C, C).
_MOST_CLASSES_WITH_FACTORS = 64


@dataclass
class Mode:
    """A posterior mode and how it was found."""

    coef: np.ndarray  # a
    image: np.ndarray  # K~ a
    scores: np.ndarray  # (n, C); the same array as ``image`` in the dual space
    probabilities: np.ndarray  # (n, C)
    value: float  # Phi
    residual: Any = None  # -(g + a), zero at the mode
    residual_image: Any = None
    gap: float = np.inf  # bound on Phi - Phi*: half the squared norm of the residual in K~
    path: list = field(default_factory=list)  # Phi at the start and after each Newton step
    gaps: list = field(default_factory=list)  # at the same points
    n_inner: int = 0  # steps of conjugate gradients in all
    converged: bool = False  # whether the gap came down to the tolerance
    preconditioner: Any = None  # of the steps

    @property
    def n_iter(self) -> int:
        """Newton steps made."""
        return len(self.path) - 1

    def certify(self, covariance: Covariance, largest: float) -> None:
        """Set the gap from the residual and its image, and whether it is at most ``largest`` Phi.

        A square below the rounding errors of its terms, or below zero by them, certifies nothing:
        the gap is at least these errors.
        """
        gap = abs(0.5 * dot(self.residual, self.residual_image))
        self.gap = max(gap, covariance.rounding(self.residual))
        self.gaps.append(self.gap)
        self.converged = self.gap <= largest * self.value


def run_alone(steps: Generator[Any, Any, Any], covariance: Covariance) -> Any:
    """The result of a generator that asks for images, one at a time."""
    return run_together([steps], covariance)[0]


def run_together(many: list[Generator[Any, Any, Any]], covariance: Covariance) -> list:
    """Results of several such generators in step: each pass over the kernel serves all of them.

    Say three folds are fitted. In a round each fold goes on until it needs a product, and hands
    out the vector: a Newton step of the first, a residual of the others, whatever it is. The three
    vectors are multiplied by K~ in one pass over the stored kernel, and the next round hands each
    fold its image. A fold that returns leaves; the others go on without it.
    """
    # A generator that has not begun is sent None.
    results, images = [None] * len(many), dict.fromkeys(range(len(many)))
    while images:
        vectors = {}
        for index, image in images.items():
            try:
                vectors[index] = many[index].send(image)
            except StopIteration as stop:
                results[index] = stop.value
        products = covariance.images(list(vectors.values())) if vectors else []
        images = dict(zip(vectors, products, strict=True))
    return results


@dataclass(frozen=True)
class NewtonCG:
    """Newton steps by conjugate gradients in the inner product of K~, to a certified gap.

    The step x of (I + W K~) x = -(g + a) is found in <u, v> = u'K~ v, in which the system is
    self-adjoint: one product a step, each iterate lowers the quadratic model of Phi, and the first
    inner product is twice the duality gap, at which the method stops. While the gap is larger than
    Phi the curvature W is taken at (pi + y)/2: where the fit is poor, that at pi is tiny and the
    Newton step far too long.

    A fit stops when its duality gap is at most ``tol`` Phi. ``preconditioned`` is by elimination
    along the tree. The gradient system is solved to a relative residual of at most 1e-3 in the
    norm of K~. That norm hardly sees what lies near the null space of K~, but derivatives by
    widths do; that part is made exact afterwards without a product, so that gradients are right to
    some parts in a thousand.
    """

    tol: float = 1e-6
    max_iter: int = 100
    max_inner: int = 200
    preconditioned: bool = False

    in_features: ClassVar = True  # works on vectors of few features too
    certified: ClassVar = True  # whether a mode converged says how near it is
    largest_gap = property(lambda self: self.tol)

    def met(self, mode: Mode) -> bool:
        """Whether the mode was found to the tolerance."""
        return mode.converged

    def mode(
        self,
        covariance: Covariance,
        loss: SoftmaxLoss,
        start: np.ndarray | None = None,
        callback: Callable[[Mode], bool] | None = None,
    ) -> Generator[np.ndarray, np.ndarray, Mode]:
        """The posterior mode (generator), from zero or from a vector, which is rescaled first."""
        preconditioner = tree_preconditioner(covariance, loss) if self.preconditioned else None
        # Before the first Newton step come a, K~ a, the scores, pi and Phi (Eq. 1).
        if start is None:
            coef = np.zeros(covariance.shape, covariance.dtype)
            image = np.zeros_like(coef)
        else:
            coef = start.copy()
            image = yield coef
        scores = covariance.scores(image)
        if start is not None:
            _rescale(covariance, loss, coef, image, scores)
        likelihood, probabilities = loss.evaluate(scores)
        value = likelihood + 0.5 * dot(coef, image)
        mode = Mode(coef, image, scores, probabilities, value, path=[value])
        mode.preconditioner = preconditioner
        may_drift = False
        while True:
            # Certify: the gradient of Phi is K~ (g + a), and with r = -(g + a) half of r'K~ r is a
            # bound of Phi - Phi*.
            residual = covariance.gather(loss.gradient(mode.probabilities))
            residual += mode.coef
            residual *= -1
            mode.residual = residual
            mode.residual_image = yield residual
            mode.certify(covariance, self.tol)
            if mode.converged and may_drift:
                # Updates in single precision let the scores drift from K~ a, and the gap is then
                # that of another point: a product says how far, and puts right what matters.
                image = yield mode.coef
                scores, may_drift = covariance.scores(image), False
                if abs(scores - mode.scores).max() > _LARGEST_DRIFT:
                    likelihood, probabilities = loss.evaluate(scores)
                    mode.image, mode.scores, mode.probabilities = image, scores, probabilities
                    mode.value = mode.path[-1] = likelihood + 0.5 * dot(mode.coef, image)
                    continue
            if mode.converged or mode.n_iter >= self.max_iter:
                return mode
            # Solve for the step: Eq. 4, (I + W K~) a' = W u - g, less the same of a. It need be no
            # better than the gap that the step itself leaves, gap^2 / Phi, or than the tolerance.
            poor = mode.gap > mode.value
            weights = loss.mixed(mode.probabilities) if poor else mode.probabilities
            relative = min(_FORCING_TERM, mode.gap / mode.value)
            step, step_image, n_inner = yield from _conjugate_gradients(
                covariance,
                loss,
                weights,
                residual,
                mode.residual_image,
                goal=max(2 * mode.gap * relative, 0.2 * self.tol * mode.value),
                max_iter=self.max_inner,
                inverse=preconditioner and preconditioner.at(weights),
            )
            mode.n_inner += n_inner
            # Go as far along the step as Phi falls (section 6.1.2).
            if line_search(covariance, loss, mode, step, step_image) == 0:
                return mode
            mode.path.append(mode.value)
            may_drift = covariance.dtype == np.float32
            if callback is not None and callback(mode):
                return mode

    def adjoint(
        self,
        covariance: Covariance,
        loss: SoftmaxLoss,
        mode: Mode,
        held_out: np.ndarray,
        held_out_image: np.ndarray,
        start: np.ndarray | None = None,
    ) -> Generator[np.ndarray, np.ndarray, tuple[np.ndarray, int]]:
        """S of (I + W K~) s = g_I (Eq. 7), and the steps made (generator)."""
        weights, square = mode.probabilities, dot(held_out, held_out_image)
        residual, image = held_out, held_out_image
        # Go on from the last solution, where that leaves less than zero does.
        if start is not None:
            old_image = yield start
            residual = held_out - start
            residual -= covariance.gather(loss.curvature(weights, covariance.scores(old_image)))
            image = yield residual
            if dot(residual, image) > square:
                start, residual, image = None, held_out, held_out_image
        tol = min(1e-3, 0.3 * np.sqrt(self.tol))
        inverse = mode.preconditioner and mode.preconditioner.at(weights)
        _, image, n_iter = yield from _conjugate_gradients(
            covariance,
            loss,
            weights,
            residual,
            image,
            goal=tol**2 * square,
            max_iter=self.max_inner,
            inverse=inverse,
        )
        # The image of s is all that is needed of the solution.
        if start is not None:
            image += old_image
        # Once more s = g_I - W K~ s: exact where K~ is small, which its norm does not see.
        curvature = loss.curvature(weights, covariance.scores(image))
        return held_out - covariance.gather(curvature), n_iter


def _conjugate_gradients(
    covariance, loss, weights, residual, residual_image, *, goal, max_iter, inverse
):
    """Solve (I + W K~) x = r in <u, v> = u'K~ v (generator, returns x, its image, steps made).

    Stops when the square <r, r> of what is left is at most ``goal``; with ``inverse`` its square
    in the norm of the preconditioner, relative to the first one.
    """
    # The inner product <r, z> = r'K~ z needs the image of one of both. Each step has one product,
    # that of r; the images of x and d follow their recurrences.
    r, r_image = residual.copy(), residual_image
    z, z_image = (r, r_image) if inverse is None else inverse(r, r_image)
    x, x_image = np.zeros(r.shape, r.dtype), np.zeros(r.shape, r.dtype)
    steps = ConjugateGradients((x, x_image), (r,))
    rz = dot(r, z_image)
    # The goal is a square <r, r>; with a preconditioner squares are <r, z>, on another scale.
    if inverse is not None:
        goal *= rz / max(dot(r, r_image), np.finfo(float).tiny)
    n_iter = 0
    while n_iter < max_iter and rz > goal and rz > 0:
        d, d_image = steps.direction((z, z_image), rz)
        # The system times d is d + W K~ d. In the dual space scores are the image, and the sum
        # takes one pass; in feature space the curvature is gathered first.
        scores = covariance.scores(d_image)
        if scores is d_image:
            Sd = loss.curvature(weights, scores, add=d)
        else:
            Sd = covariance.gather(loss.curvature(weights, scores))
            Sd += d
        if not steps.move((d, d_image), (Sd,), dot(d_image, Sd)):
            break
        del Sd
        n_iter += 1
        # The last iterate needs no image of its residual.
        if n_iter == max_iter:
            break
        r_image = yield r
        z, z_image = (r, r_image) if inverse is None else inverse(r, r_image)
        rz = dot(r, z_image)
    return x, x_image, n_iter


def line_search(
    covariance: Covariance, loss: SoftmaxLoss, mode: Mode, step: np.ndarray, step_image: np.ndarray
) -> float:
    """Move along the step where Phi falls, from length 1 on; 0 where it does not fall.

    "Pair optimization" (section 6.1.2): Phi along (u + t s, a + t x) costs O(n C).
    """
    # Along a + t x the prior part of Phi is a parabola: a'K~ a / 2 + t x'K~ a + t^2 x'K~ x / 2.
    scores_step = covariance.scores(step_image)
    linear, quadratic = dot(step_image, mode.coef), dot(step, step_image)
    slope = linear + dot(scores_step, loss.gradient(mode.probabilities))
    if not slope < 0:
        return 0.0
    prior = 0.5 * dot(mode.coef, mode.image)
    # Armijo's rule is tried from the classical Newton step on.
    length = 1.0
    while length > _SHORTEST_STEP:
        scores = mode.scores + scores_step.dtype.type(length) * scores_step
        likelihood, probabilities = loss.evaluate(scores)
        value = likelihood + prior + length * linear + 0.5 * length**2 * quadratic
        if value <= mode.value + 1e-4 * length * slope + 1e-14 * abs(mode.value):
            break
        # The next length is the minimum of the parabola through slope and values, within bounds.
        curvature = 2 * (value - mode.value - length * slope) / length**2
        length *= float(np.clip(-slope / curvature / length, 0.1, 0.5))
    else:
        return 0.0
    # In the dual space scores and image are one array, as DualCovariance.scores returns its
    # argument: the new scores are the new image, and stay one array.
    scores_are_image = mode.scores is mode.image
    axpy(length, step, mode.coef)
    if scores_are_image:
        mode.image = scores
    else:
        axpy(length, step_image, mode.image)
    mode.scores, mode.probabilities, mode.value = scores, probabilities, value
    return length


def _rescale(covariance, loss, coef, image, scores):
    """Scale a start vector in place so that Phi is least, without a product.

    After a change of the hyperparameters an old vector is about right but for its size. Without a
    coupling of classes each gets a factor of its own, else all share one.
    """
    coupling = covariance.coupling
    single = not coupling.is_flat or coupling.n_classes > _MOST_CLASSES_WITH_FACTORS

    def by_factor(columns):
        """Sums for each factor of what there is for each class."""
        return columns.sum(keepdims=True) if single else columns

    # Phi by the factors f is a parabola and the normalizers of the scaled scores: with
    # a_c <- f_c a_c it is sum_i logsumexp(f o u_i) - f'linear + (f o f)'squares / 2.
    U = scores[loss.trains].astype(np.float64)
    squares = by_factor(np.einsum("ij,ij->j", coef, image, dtype=np.float64))
    target = -loss.gradient(np.zeros_like(scores))[loss.trains]
    linear = by_factor(np.einsum("ij,ij->j", target, U))

    def value(factors):
        _, normalizers = softmax(U * factors)
        return normalizers.sum() - factors @ linear + 0.5 * factors**2 @ squares

    # These few factors take Newton steps, halved where they do not descend.
    factors = np.ones(len(linear))
    best = value(factors)
    for _ in range(20):
        P, _ = softmax(U * factors)
        # Logsumexp has the Hessian diag(pi) - pi pi' by scores, which is taken to the factors.
        PU = P * U
        gradient = by_factor(PU.sum(axis=0)) - linear + factors * squares
        if single:
            means = PU.sum(axis=1)
            hessian = np.array([[np.vdot(PU, U) - means @ means]])
        else:
            hessian = np.diag((PU * U).sum(axis=0)) - PU.T @ PU
        hessian += np.diag(squares)
        hessian += 1e-12 * max(np.trace(hessian), 1e-300) * np.eye(len(factors))
        step = -np.linalg.solve(hessian, gradient)
        slope, length = gradient @ step, 1.0
        if -slope <= 1e-5 * abs(best):
            break
        while length > 1e-3 and not value(factors + length * step) < best + 1e-4 * length * slope:
            length /= 2
        if length <= 1e-3:
            break
        factors = factors + length * step
        best = value(factors)
    # In the dual space the scores are the image itself, which is scaled once.
    for block in (coef, image) if scores is image else (coef, image, scores):
        block *= factors.astype(block.dtype)
