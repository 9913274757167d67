"""The iteration as printed (Seeger 2006, Algorithm 3, Eq. 6, Appendix A), for comparison.

Same optimum as :func:`posterior_mode`. Conjugate gradients on the symmetrized system minimize the
dual functional, not the quadratic model of Phi, so that few steps need not descend.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np

from kronbench.classes.covariance import DualCovariance
from kronbench.classes.posterior_mode import Mode, line_search
from kronbench.classes.softmax import SoftmaxLoss
from kronbench.linalg.blas1 import dot
from kronbench.linalg.krylov import ConjugateGradients

# log pi below which a probability is tiny; not printed, -30 works in double precision.
_TINY = -30.0

# How often k2 steps are made where the direction does not descend yet.
_MORE = 5


def symmetrized_mode(
    covariance: DualCovariance,
    loss: SoftmaxLoss,
    *,
    start: np.ndarray | None = None,
    max_iter: int = 25,
    max_inner: int = 12,
    tol: float = 1e-8,
    callback: Callable[[Mode], bool] | None = None,
) -> Generator[np.ndarray, np.ndarray, Mode]:
    """Newton steps by k2 preconditioned steps on (I + V'K~V) b = V'u - D^-1/2 g (generator).

    Parameters
    ----------
    covariance : DualCovariance
    loss : SoftmaxLoss
    start : (n, C) array, optional
    max_iter, max_inner : int
        k1 and k2.
    tol : float
        Stops when Phi falls by at most this part of it.

    Returns
    -------
    Mode
        Its gap is computed at the end, by one product more.
    """
    coef = np.zeros(covariance.shape) if start is None else start.copy()
    coef[loss.rows] -= coef[loss.rows].mean(axis=1, keepdims=True)
    image = np.zeros_like(coef)
    if start is not None:
        image = yield coef
    likelihood, probabilities = loss.evaluate(image)
    value = likelihood + 0.5 * dot(coef, image)
    mode = Mode(coef, image, image, probabilities, value, path=[value])
    while mode.n_iter < max_iter:
        system = _Symmetrized(covariance, loss, mode.probabilities)
        gradient = loss.gradient(mode.probabilities)
        beta, residual = yield from system.start(mode.coef, mode.image, gradient)
        solver = system.solve(beta, residual)
        for _ in range(_MORE):
            n_inner = yield from solver.more(max_inner)
            mode.n_inner += n_inner
            step, step_image = system.V(solver.beta) - mode.coef, solver.image - mode.image
            length = line_search(covariance, loss, mode, step, step_image)
            if length > 0 or n_inner < max_inner:
                break
        if length == 0:
            break
        mode.path.append(mode.value)
        if callback is not None and callback(mode):
            break
        if mode.path[-2] - mode.path[-1] <= tol * mode.value:
            break
    mode.residual = -(loss.gradient(mode.probabilities) + mode.coef)
    mode.residual_image = yield mode.residual
    mode.gap = max(0.5 * dot(mode.residual, mode.residual_image), 0.0)
    mode.gaps.append(mode.gap)
    mode.converged = mode.gap <= 1e-3 * mode.value
    return mode


def symmetrized_adjoint(
    covariance: DualCovariance,
    loss: SoftmaxLoss,
    probabilities: np.ndarray,
    held_out: np.ndarray,
    held_out_image: np.ndarray,
    max_iter: int,
) -> Generator[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray, int]]:
    """S of Eq. 7 by k3 steps on (I + V'K~V) b = V'K~ g_I (generator, returns s and its image)."""
    system = _Symmetrized(covariance, loss, probabilities, guarded=False)
    rhs = system.VT(held_out_image)
    solver = system.solve(np.zeros_like(rhs), rhs, np.zeros_like(rhs))
    n_inner = yield from solver.more(max_iter)
    return held_out - system.V(solver.beta), held_out_image - solver.image, n_inner


class _Symmetrized:
    """I + V'K~V with W = V V' at given probabilities, and the guards of Appendix A.

    Where pi is tiny and y is not (set I), (D^1/2 b) = y is known and left out of the system;
    where both are (I_0), the start value is zero.
    """

    def __init__(self, covariance, loss, probabilities, guarded=True):
        rows = loss.rows[:, None]
        self.covariance = covariance
        self.pi = np.where(rows, probabilities, 0)
        self.root = np.sqrt(self.pi)
        targets = -loss.gradient(np.zeros_like(probabilities))
        tiny = rows & (probabilities < np.exp(_TINY)) if guarded else np.zeros_like(rows)
        self.known = tiny & (targets > 0)
        self.zero = tiny & (targets == 0)
        self.targets = targets
        self.free = np.broadcast_to(rows, probabilities.shape) & ~self.known
        nodes = covariance.node_diagonals()
        coupling = covariance.coupling
        w = coupling.scores(coupling.adjoint(self.pi) * nodes)
        w += covariance.bias_variance * self.pi
        diagonal = coupling.diagonal(nodes) + covariance.bias_variance
        mean = np.einsum("ij,ij->i", self.pi, w)[:, None]
        self.diagonal = 1 + self.pi * (diagonal - 2 * w + mean)

    def V(self, beta):
        s = self.root * beta
        s[self.known] = self.targets[self.known]
        return s - self.pi * s.sum(axis=1, keepdims=True)

    def V_of_direction(self, direction):
        s = self.root * direction
        return s - self.pi * s.sum(axis=1, keepdims=True)

    def VT(self, x):
        return self.root * (x - np.einsum("ij,ij->i", self.pi, x)[:, None])

    def start(self, coef, image, gradient):
        """B = D^-1/2 a and the residual there, without a product where no entry is tiny."""
        with np.errstate(divide="ignore", invalid="ignore"):
            beta = np.where(self.free & ~self.zero & (self.pi > 0), coef / self.root, 0)
            scaled = np.where(self.free & (self.pi > 0), gradient / self.root, 0)
        self.image = image.copy()
        if self.known.any() or self.zero.any():
            self.image = yield self.V(beta)
        residual = self.VT(image - self.image) - scaled - beta
        return beta, np.where(self.free, residual, 0)

    def solve(self, beta, residual, image=None):
        return _Solver(self, beta, residual, self.image if image is None else image)


class _Solver:
    """Conjugate gradients with the diagonal as preconditioner, which may be continued.

    ``beta`` and ``image``, K~V b, are overwritten by the iterates.
    """

    def __init__(self, system, beta, residual, image):
        self.system, self.beta, self.image = system, beta, image
        self._residual = residual
        self._steps = ConjugateGradients((beta, image), (residual,))

    def more(self, n_steps):
        """So many steps, fewer where nothing of the residual is left; returns those made."""
        system, residual = self.system, self._residual
        first = None
        for made in range(n_steps):
            z = residual / system.diagonal
            square = dot(residual, z)
            first = square if first is None else first
            if square <= 1e-20 * max(first, np.finfo(float).tiny):
                return made
            (d,) = self._steps.direction((z,), square)
            image = yield system.V_of_direction(d)
            Ad = np.where(system.free, d + system.VT(image), 0)
            if not self._steps.move((d, image), (Ad,), dot(d, Ad)):
                return made
        return n_steps
