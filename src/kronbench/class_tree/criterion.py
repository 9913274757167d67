"""The cross-validation log likelihood of a Gaussian class model and its gradient.

Seeger (2006), sections 5, 6.3 and 6.4: Psi = sum over folds of minus the log likelihood of the
fold under the mode fitted to the other folds. A fold is a mask over the rows: products are those
of all rows, with coefficients that are zero on the fold, and held-out scores come with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kronbench.class_tree.covariance import Covariance, space_of
from kronbench.class_tree.kernels import Kernels
from kronbench.class_tree.posterior_mode import NewtonCG, run_alone, run_together
from kronbench.class_tree.printed_mode import PrintedNewton
from kronbench.class_tree.softmax import SoftmaxLoss
from kronbench.class_tree.tree import Coupling, DenseCoupling
from kronbench.errors import InputError
from kronbench.linalg.blas1 import dot

# A correction larger than this share of Psi comes from a fit that did not converge.
_LARGEST_CORRECTION_SHARE = 0.01


@dataclass(frozen=True)
class Evaluation:
    """Psi and what its gradient is made of."""

    value: float  # Psi, corrected to second order for what the fits left
    correction: float  # what was added for it; 0 where it was refused
    coefs: list  # E of Eq. 7, one a fold: y - pi, which at the mode is its coefficients
    adjoints: list  # F of Eq. 7
    counts: dict  # products with K~ of one fold, Newton steps, steps of both linear systems
    converged: bool  # whether all fits came down to their tolerance
    at: np.ndarray  # the hyperparameters: of all nodes, then of the bias, then widths
    starts: list  # pairs of vectors where the next evaluation begins


class CrossValidation:
    """Evaluations of Psi that start from the last one whose fits converged.

    The printed iteration has no test of that: there each starts from the last one. ``folds`` (n,)
    are at least two; one will do beside rows of none (a negative number), which train in every
    fold. ``first_evaluation`` is the first one of the same tree, rows, folds and solver: at its
    hyperparameters the first one here is the same, and is not made again.
    """

    def __init__(
        self,
        targets: np.ndarray,
        n_classes: int,
        folds: np.ndarray,
        solver: NewtonCG | PrintedNewton,
        first_evaluation: Evaluation | None = None,
    ):
        folds = np.asarray(folds)
        if folds.shape != (len(targets),) or folds.dtype.kind not in "iu":
            raise InputError(
                f"folds has shape {folds.shape} and dtype {folds.dtype}: give the fold of each of "
                f"{len(targets)} rows as an integer"
            )
        distinct = np.unique(folds)
        if len(distinct) < 2 or distinct[-1] < 0:
            raise InputError("folds holds one fold: give at least two")
        self.losses = [
            SoftmaxLoss(targets, n_classes, folds != fold) for fold in distinct[distinct >= 0]
        ]
        self.solver = solver
        self._starts = [(None, None)] * len(self.losses)
        self._offered = first_evaluation
        self.first: Evaluation | None = None

    def evaluate(self, covariance: Covariance) -> Evaluation:
        """Fit all folds and solve their gradient systems under these hyperparameters."""
        gamma = getattr(covariance.kernels, "gamma", None)
        widths: Any = [] if gamma is None else np.ravel(gamma)
        at = np.concatenate([covariance.variance, [covariance.bias_variance], widths])
        # An evaluation that a caller brings along is taken where the hyperparameters are its own.
        offered = self._offered if self.first is None else None
        if offered is not None and offered.at.shape == at.shape:
            if np.allclose(offered.at, at, rtol=1e-12, atol=0):
                self.first, self._starts = offered, offered.starts
                return offered
        # "Accumulation" (section 6.3): each fold is fitted, then its gradient system is solved.
        # Stored kernels are passed once for all folds; others have nothing to share.
        before = covariance.n_products
        steps = [
            self._fold(covariance, loss, *start)
            for loss, start in zip(self.losses, self._starts, strict=True)
        ]
        if covariance.kernels.is_stored:
            results = run_together(steps, covariance)
        else:
            results = [run_alone(fold, covariance) for fold in steps]
        modes, adjoints, values, adjoint_steps = zip(*results, strict=True)
        # Eq. 3: Psi is the sum over folds. The built-in sum rounds otherwise from Python 3.12 on.
        plain = float(np.sum(values))
        # To second order the fits change Psi by s'K~ r, with r what they left of the residual.
        images = [mode.residual_image for mode in modes]
        correction = float(np.sum([dot(*pair) for pair in zip(adjoints, images, strict=True)]))
        certified = self.solver.certified
        if not (certified and abs(correction) <= _LARGEST_CORRECTION_SHARE * plain):
            correction = 0.0
        # A fit that failed is no start for the next evaluation.
        converged = all(mode.converged for mode in modes)
        if converged or not certified:
            self._starts = [
                (mode.coef, adjoint) for mode, adjoint in zip(modes, adjoints, strict=True)
            ]
        counts = {
            "n_products": covariance.n_products - before,
            "n_iter": sum(mode.n_iter for mode in modes),
            "n_inner": sum(mode.n_inner for mode in modes),
            "n_adjoint": sum(adjoint_steps),
        }
        evaluation = Evaluation(
            plain + correction,
            correction,
            [mode.coef + mode.residual for mode in modes],
            list(adjoints),
            counts,
            converged,
            at,
            self._starts,
        )
        self.first = self.first or evaluation
        return evaluation

    def _fold(self, covariance, loss, start, start_adjoint):
        """(Mode, s, Psi of the fold, steps for s); s solves (I + W_J K~) s = g_I on all rows."""
        # The mode of the rows J that train gives a_[J], and scores of all rows, also of I (Eq. 3).
        mode = yield from self.solver.mode(covariance, loss, start)
        # The right-hand side is g_I = pi - y on the held-out rows I; s is a column of F (Eq. 7).
        held_out = covariance.gather(loss.gradient(mode.probabilities, ~loss.trains))
        image = yield held_out
        adjoint, n_adjoint = yield from self.solver.adjoint(
            covariance, loss, mode, held_out, image, start_adjoint
        )
        return mode, adjoint, loss.held_out(mode.scores), n_adjoint


class Criterion:
    """Psi (Seeger 2006, section 6.3) by logarithms of hyperparameters that nodes may share.

    The vector holds the logarithm of the variance of each group, then of the width of each group
    (Gaussian kernel), then the entries of the coupling where it is learned. The scale of a
    coupling is that of the variances: where it is learned they stay. ``kernels`` makes them from
    widths (L,). ``start`` lies at the geometric means of ``variance`` and ``gamma`` (P,) in each
    of the groups (P,) 0..G-1; ``gamma_groups`` is None where the kernel has no width.
    """

    _coupling: Any
    _kernels: Any

    def __init__(
        self,
        kernels: Callable[[np.ndarray], Kernels],
        coupling: Coupling,
        folds: CrossValidation,
        *,
        bias_variance: float,
        variance: np.ndarray,
        gamma: np.ndarray,
        variance_groups: np.ndarray,
        gamma_groups: np.ndarray | None,
        in_features: bool = True,
        learn_coupling: bool = False,
    ):
        self.folds, self._coupling, self._learn_coupling = folds, coupling, learn_coupling
        self._bias_variance, self._in_features = bias_variance, in_features
        self._variance, self._variance_groups = variance, variance_groups
        self._gamma_groups = gamma_groups
        # The vector x is laid out as logarithms of variances, of widths, then entries of B.
        logs = [] if learn_coupling else [_mean_logs(variance, variance_groups)]
        self._n_variances = sum(map(len, logs))
        if gamma_groups is not None:
            logs.append(_mean_logs(gamma, gamma_groups))
        self._n_logs = sum(map(len, logs))
        if learn_coupling:
            if not isinstance(coupling, DenseCoupling):
                raise InputError("coupling is None: give the matrix to start from")
            logs.append(coupling.matrix.ravel())
        self.start = np.concatenate(logs)
        self._kernels = kernels(gamma[:1] if gamma_groups is None else self._widths(self.start))

    def parameters(self, x: np.ndarray) -> dict:
        """``variance`` (P,), and ``gamma`` (P,) and ``coupling`` (C, P) where they are free."""
        values = {"variance": self._variance}
        if self._n_variances:
            values["variance"] = np.exp(x[: self._n_variances])[self._variance_groups]
        if self._gamma_groups is not None:
            values["gamma"] = self._widths(x)[self._gamma_groups]
        if self._learn_coupling:
            values["coupling"] = x[self._n_logs :].reshape(self._coupling.matrix.shape)
        return values

    def evaluate(self, x: np.ndarray) -> tuple:
        """(Evaluation, gradient (m,), derivative by the logarithm of the bias variance)."""
        # The covariance follows the hyperparameters of x; distances of the kernels are kept.
        values = self.parameters(x)
        variance, coupling = values["variance"], self._coupling
        if self._gamma_groups is not None:
            self._kernels = self._kernels.with_gamma(self._widths(x))
        if self._learn_coupling:
            coupling = DenseCoupling(values["coupling"])
        space = space_of(self._kernels, self._in_features)
        covariance = space(
            self._kernels, coupling, variance, self._bias_variance, self._gamma_groups
        )
        evaluation = self.folds.evaluate(covariance)
        # Eq. 7 gives d Psi = tr E'(dK~) F by logarithms of variances and widths, then by B.
        # By log v_p it is v_p e~_p' M^(p) f~_p (section 6.4), which the nodes of a group add up.
        vectors = evaluation.coefs, evaluation.adjoints
        pairs = list(zip(*vectors, strict=True))
        gradient: list[np.ndarray] = []
        if self._n_variances:
            by_node = variance * covariance.node_products(*vectors)
            gradient.append(np.bincount(self._variance_groups, by_node))
        if self._gamma_groups is not None:
            by_node = variance * covariance.node_products(*vectors, derivative=True)
            gradient.append(np.bincount(self._gamma_groups, by_node))
        if self._learn_coupling:
            each = (covariance.coupling_gradient(E, F) for E, F in pairs)
            gradient.append(sum(each, np.zeros(1)).ravel())
        by_bias = covariance.bias_variance * sum(covariance.bias_product(E, F) for E, F in pairs)
        return evaluation, np.concatenate(gradient), by_bias

    def _widths(self, x):
        return np.exp(x[self._n_variances : self._n_logs])


def _mean_logs(values, groups):
    """(G,) mean logarithms of values (P,) in each group."""
    return np.bincount(groups, np.log(values)) / np.bincount(groups)
