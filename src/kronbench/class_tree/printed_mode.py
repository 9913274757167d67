"""The iteration as printed (Seeger 2006, Algorithm 3, Eq. 6, Appendix A), for comparison.

Same optimum as :class:`NewtonCG`. Conjugate gradients on the symmetrized system minimize the
dual functional, not the quadratic model of Phi, so that few steps need not descend.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kronbench.class_tree.covariance import DualCovariance
from kronbench.class_tree.posterior_mode import Mode, line_search
from kronbench.class_tree.softmax import SoftmaxLoss
from kronbench.linalg.blas1 import dot
from kronbench.linalg.krylov import ConjugateGradients

# The threshold kappa of Appendix A, log pi below which a probability is tiny. The paper does not
# print it; -30 works in double precision.
_TINY_LOG_PROBABILITY = -30.0

# How often k2 steps are made at most in a Newton step.
_MOST_ROUNDS_OF_STEPS = 5


@dataclass(frozen=True)
class PrintedNewton:
    """Newton steps by preconditioned steps on (I + V'K~V) b = V'u - D^-1/2 g.

    Stops when Phi falls by at most ``tol`` of it in a Newton step. ``max_iter`` is k1, and
    ``max_inner`` is k2 and, for the gradient system, k3.
    """

    tol: float = 1e-8
    max_iter: int = 25
    max_inner: int = 12

    in_features: ClassVar = False
    certified: ClassVar = False
    largest_gap: ClassVar = 1e-3  # of Phi, where a mode has converged

    def met(self, mode: Mode) -> bool:
        """Whether the last step fell by no more than the tolerance."""
        return mode.n_iter > 0 and mode.path[-2] - mode.path[-1] <= self.tol * mode.value

    def mode(
        self,
        covariance: DualCovariance,
        loss: SoftmaxLoss,
        start: np.ndarray | None = None,
        callback: Callable[[Mode], bool] | None = None,
    ) -> Generator[np.ndarray, np.ndarray, Mode]:
        """The mode (generator); its gap is computed at the end, by one product more."""
        # Algorithm 3 begins with a in ran W, whose rows sum to zero, and u = K~ a.
        coef = np.zeros(covariance.shape) if start is None else start.copy()
        coef[loss.trains] -= coef[loss.trains].mean(axis=1, keepdims=True)
        image = np.zeros_like(coef)
        if start is not None:
            image = yield coef
        # Sentences in quotes are those of Algorithm 3: "Compute l, log(pi) from u. Compute Phi."
        likelihood, probabilities = loss.evaluate(image)
        value = likelihood + 0.5 * dot(coef, image)
        mode = Mode(coef, image, image, probabilities, value, path=[value])
        while mode.n_iter < self.max_iter:
            # "Initialize beta = D^-1/2 a. Compute r.h.s. V'u - D^-1/2 g. Compute preconditioner."
            system = _Symmetrized(covariance, loss, mode.probabilities)
            gradient = loss.gradient(mode.probabilities)
            yield from system.begin_at(mode.coef, mode.image, gradient)
            # "Run preconditioned CG": k2 steps on Eq. 6, and more where these do not descend.
            for _ in range(_MOST_ROUNDS_OF_STEPS):
                n_inner = yield from system.more(self.max_inner)
                mode.n_inner += n_inner
                # "Compute a' = A D^1/2 beta'. Do line search along s = a' - a."
                step, step_image = system.V(system.beta) - mode.coef, system.image - mode.image
                length = line_search(covariance, loss, mode, step, step_image)
                if length > 0 or n_inner < self.max_inner:
                    break
            if length == 0:
                break
            # The printed test is the relative improvement of Phi.
            mode.path.append(mode.value)
            if (callback is not None and callback(mode)) or self.met(mode):
                break
        # The gap is no part of the printed iteration: it says how near the mode is.
        mode.residual = -(loss.gradient(mode.probabilities) + mode.coef)
        mode.residual_image = yield mode.residual
        mode.certify(covariance, self.largest_gap)
        return mode

    def adjoint(
        self,
        covariance: DualCovariance,
        loss: SoftmaxLoss,
        mode: Mode,
        held_out: np.ndarray,
        held_out_image: np.ndarray,
        start: np.ndarray | None = None,
    ) -> Generator[np.ndarray, np.ndarray, tuple[np.ndarray, int]]:
        """S of Eq. 7, by steps from zero on (I + V'K~V) b = V'K~ g_I, and their number."""
        system = _Symmetrized(covariance, loss, mode.probabilities, guarded=False)
        rhs = system.VT(held_out_image)
        system.begin(np.zeros_like(rhs), rhs, np.zeros_like(rhs))
        n_iter = yield from system.more(self.max_inner)
        return held_out - system.V(system.beta), n_iter


class _Symmetrized:
    """I + V'K~V with W = V V' at given probabilities, and the guards of Appendix A.

    Solved by conjugate gradients with the diagonal as preconditioner, which may be continued.
    Where pi is tiny and y is not (set I), (D^1/2 b) = y is fixed and left out of the system;
    where both are (I_0), the start value is zero.
    """

    def __init__(self, covariance, loss, probabilities, guarded=True):
        rows = loss.trains[:, None]
        # W = V V' with V = A D^1/2 and A = I - D P_cls (Eq. 5). Rows that do not train have no pi.
        self.pi = np.where(rows, probabilities, 0)
        self.root = np.sqrt(self.pi)
        self.targets = -loss.gradient(np.zeros_like(probabilities))
        # Appendix A has the sets I, whose (D^1/2 b) = y is fixed, and I_0, whose start is zero.
        threshold = np.exp(_TINY_LOG_PROBABILITY)
        tiny = rows & (probabilities < threshold) if guarded else np.zeros_like(rows)
        self.fixed, self.zero = tiny & (self.targets > 0), tiny & (self.targets == 0)
        self.free = np.broadcast_to(rows, probabilities.shape) & ~self.fixed
        # The preconditioner is the diagonal of I + V'K~V, last formula of Appendix A:
        # 1 + pi_ic (K_ic + sigma^2 - 2 w_ic + pi_i'w_i), w_i = K_i pi_i + sigma^2 pi_i.
        nodes = covariance.node_diagonals()
        coupling = covariance.coupling
        w = coupling.sum_paths(coupling.sum_below(self.pi) * nodes)
        w += covariance.bias_variance * self.pi
        diagonal = coupling.diagonal(nodes) + covariance.bias_variance
        mean = np.einsum("ij,ij->i", self.pi, w)[:, None]
        self._diagonal = 1 + self.pi * (diagonal - 2 * w + mean)

    def V(self, beta, direction=False):
        """V b, with the fixed entries of D^1/2 b in their place unless b is a direction."""
        s = self.root * beta
        if not direction:
            s[self.fixed] = self.targets[self.fixed]
        return s - self.pi * s.sum(axis=1, keepdims=True)

    def VT(self, x):
        """V'x = D^1/2 (x - pi'x) by rows."""
        return self.root * (x - np.einsum("ij,ij->i", self.pi, x)[:, None])

    def begin_at(self, coef, image, gradient):
        """Begin at b = D^-1/2 a (generator), without a product where no entry is tiny."""
        with np.errstate(divide="ignore", invalid="ignore"):
            beta = np.where(self.free & ~self.zero & (self.pi > 0), coef / self.root, 0)
            scaled = np.where(self.free & (self.pi > 0), gradient / self.root, 0)
        # K~ V b is K~ a, which is there already, where b = D^-1/2 a holds in all entries.
        start_image = image.copy()
        if self.fixed.any() or self.zero.any():
            start_image = yield self.V(beta)
        # The residual of Eq. 6 at b is V'(u - K~ V b) - D^-1/2 g - b.
        residual = self.VT(image - start_image) - scaled - beta
        self.begin(beta, np.where(self.free, residual, 0), start_image)

    def begin(self, beta, residual, image):
        """Conjugate gradients from here; ``beta`` and ``image``, K~V b, become the iterates."""
        # Images of stored kernels may lie by columns, and the steps go on in place.
        beta, image, residual = map(np.ascontiguousarray, (beta, image, residual))
        self.beta, self.image, self._residual = beta, image, residual
        self._steps = ConjugateGradients((beta, image), (residual,))

    def more(self, n_steps):
        """So many steps, fewer where nothing of the residual is left; returns those made."""
        first = None
        for made in range(n_steps):
            # This is a step of conjugate gradients, preconditioned by the diagonal.
            z = self._residual / self._diagonal
            square = dot(self._residual, z)
            first = square if first is None else first
            if square <= 1e-20 * max(first, np.finfo(float).tiny):
                return made
            (d,) = self._steps.direction((z,), square)
            image = yield self.V(d, direction=True)
            # The product (I + V'K~V) d is taken on the entries that are free.
            Ad = np.where(self.free, d + self.VT(image), 0)
            if not self._steps.move((d, image), (Ad,), dot(d, Ad)):
                return made
        return n_steps
