"""Spectral filters: stabilized reciprocals of the eigenvalues of a kernel matrix.

A filter is a callable ``filter(eigenvalues, reg) -> values`` of the same shape (Stock et al. 2016,
Definition 2), and stands for the matrix function that maps labels to dual coefficients. A model
of pairs filters the eigenvalues of both sides separately (two-step, Eq. 24), or their products
jointly (Kronecker, Eq. 21). The smaller ``reg``, the closer ``eigenvalues * values`` to one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def tikhonov(eigenvalues: np.ndarray, reg: float) -> np.ndarray:
    """1 / (x + reg): ridge regression; the pseudo-inverse for reg = 0."""
    x = np.asarray(eigenvalues, dtype=np.float64)
    if reg > 0:
        return 1.0 / (x + reg)
    return _reciprocal_where(x, x > 0)


def cutoff(eigenvalues: np.ndarray, reg: float) -> np.ndarray:
    """1 / x where x >= reg, else 0: principal components regression."""
    x = np.asarray(eigenvalues, dtype=np.float64)
    return _reciprocal_where(x, (x >= reg) & (x > 0))


def iterated_tikhonov(eigenvalues: np.ndarray, reg: float) -> np.ndarray:
    """(1 - (reg / (x + reg))^2) / x: ridge, then ridge on what is left (Lo Gerfo et al. 2008)."""
    # This sum is the quotient above without its cancellation for small x.
    first = 1.0 / (np.asarray(eigenvalues, dtype=np.float64) + reg)
    return first + reg * first * first


def landweber(eigenvalues: np.ndarray, reg: float) -> np.ndarray:
    """(1 - (1 - x / x_max)^t) / x with t = ceil(x_max / reg): gradient descent, L2 boosting."""
    x = np.asarray(eigenvalues, dtype=np.float64)
    largest = x.max(initial=0.0)
    # The limit for x to 0 is t / x_max, about 1 / reg.
    if largest == 0:
        return np.full_like(x, 1.0 / reg)
    steps = np.ceil(largest / reg)
    # 1 - (1 - x / x_max)^t by logarithms, to all digits for small x. At x_max the logarithm is
    # -inf, whose exponential is the right 0.
    with np.errstate(divide="ignore"):
        passed = -np.expm1(steps * np.log1p(-x / largest))
    return np.where(x > 0, passed * _reciprocal_where(x, x > 0), steps / largest)


FILTERS: dict[str, Callable] = {
    "tikhonov": tikhonov,
    "cutoff": cutoff,
    "iterated-tikhonov": iterated_tikhonov,
    "landweber": landweber,
}


def as_filter(filter: Any) -> Any:
    """The callable that a name stands for; callables come back as they are."""
    return FILTERS.get(filter, filter) if isinstance(filter, str) else filter


def _reciprocal_where(x, where):
    """1 / x where the mask holds, and 0 elsewhere."""
    return np.divide(1.0, x, out=np.zeros_like(x), where=where)
