"""The cross-validation log likelihood of a Gaussian class model.

Seeger (2006), sections 5, 6.3 and 6.4: Psi = sum over folds of minus the log likelihood of the
fold under the mode fitted to the other folds. A fold is a mask over the rows: products are those
of all rows, with coefficients that are zero on the fold, and held-out scores come with them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kronbench.classes.covariance import Covariance
from kronbench.classes.posterior_mode import conjugate_gradients, posterior_mode, run, run_together
from kronbench.classes.printed_mode import symmetrized_adjoint, symmetrized_mode
from kronbench.classes.softmax import SoftmaxLoss
from kronbench.classes.tree_preconditioner import tree_preconditioner
from kronbench.errors import InputError
from kronbench.linalg.blas1 import dot

# A correction larger than this part of Psi comes from a fit that did not converge.
_LARGEST_CORRECTION = 0.01


@dataclass(frozen=True)
class Evaluation:
    """Psi and what its gradient is made of.

    Attributes
    ----------
    value : float
        Psi, corrected to second order for what the fits left.
    correction : float
        What was added for it; 0 where it was refused.
    coefs, adjoints : lists of vectors
        E and F of Eq. 7, one a fold; E is y - pi, which at the mode is its coefficients.
    n_products : float
        Products with K~, each of all classes and one fold.
    n_iter, n_inner, n_adjoint : int
        Newton steps, steps of conjugate gradients of the fits, and those of the gradient systems.
    converged : bool
        Whether all fits came down to their tolerance: a search takes no other evaluation.
    """

    value: float
    correction: float
    coefs: list
    adjoints: list
    n_products: float
    n_iter: int
    n_inner: int
    n_adjoint: int
    converged: bool


@dataclass(frozen=True)
class Known:
    """An evaluation that another search may take over.

    Attributes
    ----------
    at : (m,) array
        The hyperparameters: of all nodes, then of the bias, then widths.
    evaluation : Evaluation
    starts : list of pairs of vectors
        Where the next evaluation begins.
    """

    at: np.ndarray
    evaluation: Evaluation
    starts: list

    def is_at(self, at: np.ndarray) -> bool:
        """Whether these are the same hyperparameters up to rounding; all else is the caller's."""
        return self.at.shape == at.shape and np.allclose(self.at, at, rtol=1e-12, atol=0)


class CrossValidation:
    """Evaluations of Psi that start from the last one whose fits converged.

    The printed iteration has no test of that: there each starts from the last one.

    Parameters
    ----------
    targets : (n,) integer array, or (n, C) array
    n_classes : int
    folds : (n,) integer array
        The fold of each row. At least two; one will do beside rows of none (a negative number),
        which train in every fold.
    tol : float
        Relative duality gap of the fits; for the printed iteration the relative fall of Phi in a
        Newton step at which it stops.
    adjoint_tol : float
        Relative residual of the gradient system in the norm of K~. The norm hardly sees what lies
        near the null space of K~, but derivatives by widths do; that part is made exact afterwards
        without a product, so that 1e-3 gives gradients to some parts in a thousand.
    solver : {"cg", "pcg", "printed"}
        Of the linear systems: conjugate gradients in the inner product of K~, the same with the
        preconditioner of the class tree, or the iteration as printed.
    max_iter, max_inner : int
        Newton steps, and steps for each linear system: k1 and k2 of the printed one.
    max_adjoint : int, optional
        Steps for the gradient system, k3; ``max_inner`` when None.
    known : Known, optional
        The first evaluation of the same tree, rows and folds, with the same settings: at its
        hyperparameters the first evaluation here is the same, and is not made again.

    Attributes
    ----------
    first : Known or None
        The first evaluation.
    """

    def __init__(
        self,
        targets: np.ndarray,
        n_classes: int,
        folds: np.ndarray,
        *,
        tol: float = 1e-6,
        adjoint_tol: float = 1e-3,
        solver: str = "cg",
        max_iter: int = 100,
        max_inner: int = 200,
        max_adjoint: int | None = None,
        known: Known | None = None,
    ):
        self.losses = [
            SoftmaxLoss(targets, n_classes, folds != fold)
            for fold in checked_folds(folds, targets)
        ]
        self.tol, self.adjoint_tol, self.solver = tol, adjoint_tol, solver
        self.max_iter, self.max_inner = max_iter, max_inner
        self.max_adjoint = max_inner if max_adjoint is None else max_adjoint
        self._starts = [(None, None)] * len(self.losses)
        self._known, self.first = known, None

    def evaluate(self, covariance: Covariance) -> Evaluation:
        """Fit all folds and solve their gradient systems under these hyperparameters."""
        if self.first is not None:
            return self._made(covariance)
        gamma = getattr(covariance.kernels, "gamma", None)
        widths = [] if gamma is None else np.ravel(gamma)
        at = np.concatenate([covariance.variance, [covariance.bias_variance], widths])
        if self._known is not None and self._known.is_at(at):
            self.first, self._starts = self._known, self._known.starts
        else:
            evaluation = self._made(covariance)
            self.first = Known(at, evaluation, self._starts)
        return self.first.evaluation

    def _made(self, covariance):
        before = covariance.n_products
        steps = [
            self._fold(covariance, loss, *start)
            for loss, start in zip(self.losses, self._starts, strict=True)
        ]
        if covariance.is_stored:
            results = run_together(steps, covariance)
        else:
            results = [run(fold, covariance) for fold in steps]
        modes, adjoints, values, adjoint_steps = zip(*results, strict=True)
        plain = sum(values)
        correction = sum(
            dot(adjoint, mode.residual_image)
            for mode, adjoint in zip(modes, adjoints, strict=True)
        )
        if not abs(correction) <= _LARGEST_CORRECTION * plain or self.solver == "printed":
            correction = 0.0
        converged = all(mode.converged for mode in modes)
        if converged or self.solver == "printed":
            self._starts = [
                (mode.coef, adjoint) for mode, adjoint in zip(modes, adjoints, strict=True)
            ]
        return Evaluation(
            plain + correction,
            correction,
            [mode.coef + mode.residual for mode in modes],
            list(adjoints),
            covariance.n_products - before,
            sum(mode.n_iter for mode in modes),
            sum(mode.n_inner for mode in modes),
            sum(adjoint_steps),
            converged,
        )

    def _fold(self, covariance, loss, start, start_adjoint):
        """(Mode, s, Psi of the fold, steps for s); s solves (I + W_J K~) s = g_I on all rows."""
        preconditioner = tree_preconditioner(covariance, loss) if self.solver == "pcg" else None
        if self.solver == "printed":
            mode = yield from symmetrized_mode(
                covariance,
                loss,
                start=start,
                max_iter=self.max_iter,
                max_inner=self.max_inner,
                tol=self.tol,
            )
        else:
            mode = yield from posterior_mode(
                covariance,
                loss,
                start=start,
                tol=self.tol,
                max_iter=self.max_iter,
                max_inner=self.max_inner,
                preconditioner=preconditioner,
            )
        held_out = covariance.gather(loss.gradient(mode.probabilities, ~loss.rows))
        image = yield held_out
        if self.solver == "printed":
            adjoint, _, n_adjoint = yield from symmetrized_adjoint(
                covariance, loss, mode.probabilities, held_out, image, self.max_adjoint
            )
            return mode, adjoint, loss.held_out(mode.scores), n_adjoint
        goal = self.adjoint_tol**2 * dot(held_out, image)
        residual, residual_image = held_out, image
        if start_adjoint is not None:
            old_image = yield start_adjoint
            scores = covariance.scores(old_image)
            residual = held_out - start_adjoint
            residual -= covariance.gather(loss.curvature(mode.probabilities, scores))
            residual_image = yield residual
            if dot(residual, residual_image) > dot(held_out, image):
                start_adjoint, residual, residual_image = None, held_out, image
        _, image, n_adjoint = yield from conjugate_gradients(
            covariance,
            loss,
            mode.probabilities,
            residual,
            residual_image,
            goal=goal,
            max_iter=self.max_adjoint,
            inverse=preconditioner and preconditioner.at(mode.probabilities),
        )
        if start_adjoint is not None:
            image += old_image
        # Once more s = g_I - W K~ s: exact where K~ is small, which its norm does not see
        curvature = loss.curvature(mode.probabilities, covariance.scores(image))
        adjoint = held_out - covariance.gather(curvature)
        return mode, adjoint, loss.held_out(mode.scores), n_adjoint


def checked_folds(folds: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The distinct folds of an (n,) array of them; negative numbers are none."""
    folds = np.asarray(folds)
    if folds.shape != (len(targets),) or folds.dtype.kind not in "iu":
        raise InputError(
            f"folds has shape {folds.shape} and dtype {folds.dtype}: give the fold of each of "
            f"{len(targets)} rows as an integer"
        )
    distinct = np.unique(folds)
    if len(distinct) < 2 or distinct[-1] < 0:
        raise InputError("folds holds one fold: give at least two")
    return distinct[distinct >= 0]
