"""Quasi-Newton minimization of a dear, slightly noisy function of a few variables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Search:
    """The best point, its value and gradient, and the values in the order of evaluation.

    ``inverse`` is what the steps told of the inverse Hessian there.
    """

    x: np.ndarray
    value: float
    gradient: np.ndarray
    values: list = field(default_factory=list)
    inverse: np.ndarray | None = None


def capped_bfgs(
    function: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    *,
    cap: float = 1.0,
    noise: float = 1e-5,
    max_evaluations: int = 40,
    inverse: np.ndarray | None = None,
    callback: Callable[[np.ndarray, float, np.ndarray], None] | None = None,
) -> Search:
    """BFGS whose steps are at most ``cap`` in any coordinate, until it is within the noise.

    It ends where the predicted gain is at most ``noise`` times the value, or a step did not gain
    more than that after a halving; scipy's L-BFGS-B knows no noise and comes to other digits. A
    value that is not finite is a step too far; at the start it ends the search. ``inverse`` is an
    estimate of the inverse Hessian, from a search of a function like this; ``callback`` is called
    after each evaluation.
    """
    x = np.array(start, float)
    value, gradient = function(x)
    search = Search(x, value, gradient, [value], inverse)
    if callback is not None:
        callback(x, value, gradient)
    if not np.isfinite(value):
        return search
    while len(search.values) < max_evaluations:
        if inverse is None:
            steepest = np.abs(gradient).max()
            if steepest <= noise * abs(value):
                return search
            step = -0.5 * cap * gradient / steepest
        else:
            step = -inverse @ gradient
        largest = np.abs(step).max()
        step *= min(1.0, cap / largest) if largest > 0 else 0.0
        slope = float(gradient @ step)
        if slope >= 0:
            inverse = None
            continue
        if -0.5 * slope <= noise * abs(value):
            return search
        length = 1.0
        while True:
            new = x + length * step
            new_value, new_gradient = function(new)
            search.values.append(new_value)
            if callback is not None:
                callback(new, new_value, new_gradient)
            if np.isfinite(new_value) and new_value <= value + 1e-4 * length * slope:
                break
            if len(search.values) >= max_evaluations:
                return search
            if not np.isfinite(new_value):
                length *= 0.25
                continue
            rise = new_value - value - length * slope
            shorter = -slope * length**2 / (2 * rise)
            length = float(np.clip(shorter, 0.1 * length, 0.5 * length))
            if -0.5 * length * slope <= noise * abs(value):
                return search
        inverse = _update(inverse, new - x, new_gradient - gradient)
        x, value, gradient = new, new_value, new_gradient
        search.x, search.value, search.gradient, search.inverse = x, value, gradient, inverse
    return search


def _update(inverse, s, y):
    sy = float(s @ y)
    if sy <= 1e-10 * np.linalg.norm(s) * np.linalg.norm(y):
        return inverse
    if inverse is None:
        inverse = np.eye(len(s)) * sy / float(y @ y)
    Hy = inverse @ y
    inverse = inverse - (np.outer(s, Hy) + np.outer(Hy, s)) / sy
    return inverse + (1 + float(y @ Hy) / sy) * np.outer(s, s) / sy
