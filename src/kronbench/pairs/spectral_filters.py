"""Spectral filters: stabilized reciprocals of the eigenvalues of a kernel matrix.

A filter is a callable ``filter(eigenvalues, reg) -> values`` of the same shape (Stock et al. 2016,
Definition 2), and stands for the matrix function that maps labels to dual coefficients. A model
of pairs filters the eigenvalues of both sides separately (two-step, Eq. 24), or their products
jointly (Kronecker, Eq. 21). The smaller ``reg``, the closer ``eigenvalues * values`` to one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kronbench.errors import InputError


def tikhonov(eigenvalues: np.ndarray, reg: float) -> np.ndarray:
    """1 / (x + reg): ridge regression; the pseudo-inverse for reg = 0."""
    x = np.asarray(eigenvalues, dtype=np.float64)
    if reg > 0:
        return 1.0 / (x + reg)
    return _reciprocal(x, x > 0)


def cutoff(eigenvalues: np.ndarray, reg: float) -> np.ndarray:
    """1 / x where x >= reg, else 0: principal components regression."""
    x = np.asarray(eigenvalues, dtype=np.float64)
    return _reciprocal(x, (x >= reg) & (x > 0))


@dataclass(frozen=True)
class IteratedTikhonov:
    """(1 - (reg / (x + reg))^iterations) / x: ridge regression, then ridge on what is left over.

    One iteration is Tikhonov (Lo Gerfo et al. 2008).
    """

    iterations: int = 2

    def __call__(self, eigenvalues: np.ndarray, reg: float) -> np.ndarray:
        """The filtered reciprocals, of the same shape."""
        first = 1.0 / (np.asarray(eigenvalues, dtype=np.float64) + reg)
        values = first
        for _ in range(self.iterations - 1):
            values = first + reg * first * values
        return values


def landweber(eigenvalues: np.ndarray, reg: float) -> np.ndarray:
    """(1 - (1 - x / x_max)^t) / x with t = ceil(x_max / reg): gradient descent, L2 boosting."""
    x = np.asarray(eigenvalues, dtype=np.float64)
    largest = x.max(initial=0.0)
    if largest == 0:
        return np.full_like(x, 1.0 / reg)
    steps = np.ceil(largest / reg)
    with np.errstate(divide="ignore"):  # log1p(-1) = -inf, whose exponential is the right 0
        passed = -np.expm1(steps * np.log1p(-x / largest))
    return np.where(x > 0, passed * _reciprocal(x, x > 0), steps / largest)


FILTERS: dict[str, Callable] = {
    "tikhonov": tikhonov,
    "cutoff": cutoff,
    "iterated-tikhonov": IteratedTikhonov(),
    "landweber": landweber,
}


def as_filter(
    filter: str | Callable, name: str = "filter"
) -> Callable[[np.ndarray, float], np.ndarray]:
    """The callable that a name stands for; callables come back as they are."""
    if callable(filter):
        return filter
    if filter not in FILTERS:
        raise InputError(
            f"{name}={filter!r} is unknown: give one of {', '.join(map(repr, FILTERS))} "
            "or a callable(eigenvalues, reg)"
        )
    return FILTERS[filter]


def _reciprocal(x, where):
    return np.divide(1.0, x, out=np.zeros_like(x), where=where)
