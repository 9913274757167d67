"""Quasi-Newton minimization of a dear, slightly noisy function of a few variables."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def capped_bfgs(
    function: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    *,
    noise: float = 1e-5,
    max_evaluations: int = 40,
    inverse: np.ndarray | None = None,
) -> tuple[np.ndarray, float, np.ndarray | None]:
    """BFGS whose steps are at most 1 in any coordinate, until it is within the noise.

    It ends where the predicted gain is at most ``noise`` times the value, or a step did not gain
    more than that after a halving; scipy's L-BFGS-B knows no noise and comes to other digits. A
    value that is not finite is a step too far; at the start it ends the search. ``inverse`` is an
    estimate of the inverse Hessian, from a search of a function like this. Returns the best point,
    its value, and what the steps told of the inverse Hessian there.
    """
    x = np.array(start, float)
    value, gradient = function(x)
    best, n_evaluations = (x, value, inverse), 1
    while np.isfinite(value) and n_evaluations < max_evaluations:
        # The quasi-Newton step, or without an estimate steepest descent with a step of 1/2 in the
        # steepest coordinate; no coordinate moves by more than 1.
        if inverse is None:
            steepest = np.abs(gradient).max()
            if steepest <= noise * abs(value):
                return best
            step = -0.5 * gradient / steepest
        else:
            step = -inverse @ gradient
        largest = np.abs(step).max()
        step *= min(1.0, 1.0 / largest) if largest > 0 else 0.0
        # An estimate that is not positive definite here is dropped. The quadratic model predicts a
        # gain of -slope / 2, below which noise decides.
        slope = float(gradient @ step)
        if slope >= 0:
            inverse = None
            continue
        if -0.5 * slope <= noise * abs(value):
            return best
        # Line search: Armijo's condition with 1e-4; the parabola through value, slope and the new
        # value gives the next length, within a tenth and a half of this one.
        length = 1.0
        while True:
            new = x + length * step
            new_value, new_gradient = function(new)
            n_evaluations += 1
            if np.isfinite(new_value) and new_value <= value + 1e-4 * length * slope:
                break
            if n_evaluations >= max_evaluations:
                return best
            if not np.isfinite(new_value):  # no parabola through it
                length *= 0.25
                continue
            rise = new_value - value - length * slope
            shorter = -slope * length**2 / (2 * rise)
            length = float(np.clip(shorter, 0.1 * length, 0.5 * length))
            if -0.5 * length * slope <= noise * abs(value):
                return best
        # The BFGS update of the inverse Hessian (Nocedal & Wright 2006, Eq. 6.17), where the
        # curvature s'y along the step is positive. The first estimate is I s'y / y'y (Eq. 6.20).
        s, y = new - x, new_gradient - gradient
        sy = float(s @ y)
        if sy > 1e-10 * np.linalg.norm(s) * np.linalg.norm(y):
            inverse = np.eye(len(s)) * sy / float(y @ y) if inverse is None else inverse
            Hy = inverse @ y
            inverse = inverse - (np.outer(s, Hy) + np.outer(Hy, s)) / sy
            inverse = inverse + (1 + float(y @ Hy) / sy) * np.outer(s, s) / sy
        x, value, gradient = new, new_value, new_gradient
        best = x, value, inverse
    return best
