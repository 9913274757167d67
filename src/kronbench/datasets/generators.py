"""Data sets that are a published formula: ringnorm, twonorm, waveform and add10.

A fresh sample has the distribution of the paper's; these are the data, not a surrogate.
"""

from __future__ import annotations

import numpy as np

_DIMENSION = 20


def ringnorm(rng: np.random.Generator, n_points: int) -> dict[str, np.ndarray]:
    """Breiman (1996): class 0 is N(0, 4 I), class 1 is N((a, ..., a), I), a = 2/sqrt(20).

    This ``a`` is that of the Delve sample; some packages document 1/sqrt(20).
    """
    y = rng.integers(2, size=n_points)
    X = rng.standard_normal((n_points, _DIMENSION))
    X[y == 0] *= 2.0
    X[y == 1] += 2.0 / np.sqrt(_DIMENSION)
    return {"X": X, "y": y}


def twonorm(rng: np.random.Generator, n_points: int) -> dict[str, np.ndarray]:
    """Breiman (1996): class 0 is N((a, ..., a), I), class 1 N((-a, ..., -a), I), a = 2/sqrt(20).

    The best possible error is the normal tail beyond 2, 2.3 %.
    """
    y = rng.integers(2, size=n_points)
    X = rng.standard_normal((n_points, _DIMENSION))
    X += np.where(y == 0, 1.0, -1.0)[:, None] * 2.0 / np.sqrt(_DIMENSION)
    return {"X": X, "y": y}


def waveform(rng: np.random.Generator, n_points: int) -> dict[str, np.ndarray]:
    """Breiman et al. (1984), pp. 49-55: two of three triangular waves mixed, with noise.

    In classes 0 to 2 these are the waves 1 and 2, 1 and 3, 2 and 3.
    """
    position = np.arange(1, 22)
    waves = np.array([np.maximum(6 - np.abs(position - peak), 0) for peak in (11, 15, 7)])
    y = rng.integers(3, size=n_points)
    share = rng.random((n_points, 1))
    first, second = waves[[0, 0, 1]][y], waves[[1, 2, 2]][y]
    X = share * first + (1 - share) * second + rng.standard_normal((n_points, len(position)))
    return {"X": X, "y": y}


def add10(rng: np.random.Generator, n_points: int) -> dict[str, np.ndarray]:
    """Friedman (1991), first simulated problem, as Delve has it: five of ten inputs matter.

    y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + N(0, 1), x uniform on (0, 1).
    """
    X = rng.random((n_points, 10))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    y += 10 * X[:, 3] + 5 * X[:, 4] + rng.standard_normal(n_points)
    return {"X": X, "y": y}
