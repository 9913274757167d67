"""Data sets that are a published formula, or a recipe of any size.

A fresh sample has the distribution of the paper's; these are the data, not a surrogate.
"""

from __future__ import annotations

import numpy as np

from kronbench.datasets.dataset import Arrays
from kronbench.errors import InputError
from kronbench.pairs import PairData

_DIMENSION = 20


def checkerboard(
    m: int,
    rng: np.random.Generator,
    *,
    q: int | None = None,
    fraction: float = 0.25,
    flip: float = 0.2,
) -> tuple[PairData, np.ndarray]:
    """Labelled pairs of a noisy checkerboard, on m and q (= m unless given) vertices drawn afresh.

    Airola and Pahikkala (2018), section 5.1: a vertex has one feature, uniform on (0, 100).
    round(``fraction`` m q) distinct pairs, in row-major order, are +1 where floor(d) and floor(t)
    are both odd or both even, else -1; then the share ``flip`` of the labels is flipped. 25 bytes
    a pair, one for each of the m q.
    """
    q = m if q is None else q
    if m < 1 or q < 1:
        raise InputError(f"m is {m} and q is {q}: give at least one vertex on each side")
    for name, share in (("fraction", fraction), ("flip", flip)):
        if not 0 <= share <= 1:
            raise InputError(f"{name} is {share}: give a share between 0 and 1")
    features = rng.uniform(0, 100, (m, 1)), rng.uniform(0, 100, (q, 1))
    chosen = distinct(round(fraction * m * q), m * q, rng)
    rows = (chosen // q).astype(np.int32)
    cols = (chosen % q).astype(np.int32)
    row_odd, col_odd = (np.floor(side[:, 0]).astype(np.int8) % 2 for side in features)
    y = np.where(row_odd[rows] == col_odd[cols], 1.0, -1.0)
    y[distinct(round(flip * len(y)), len(y), rng)] *= -1
    return PairData(*features, rows, cols), y


def distinct(n: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """N distinct integers out of 0..size-1, every subset equally likely, in increasing order."""
    # A byte for each candidate, where rng.choice would permute 8-byte integers: each round draws
    # as many as are still missing, so that the count never passes n and no draw is taken back.
    few = min(n, size - n)
    marked = np.zeros(size, dtype=bool)
    count = 0
    while count < few:
        marked[rng.integers(size, size=few - count)] = True
        count = np.count_nonzero(marked)
    return np.flatnonzero(marked if few == n else ~marked)


def registered_checkerboard(
    rng: np.random.Generator, *, m: int, fraction: float, flip: float
) -> dict:
    """The arrays of a registered checkerboard: features, pairs, labels as int8."""
    pairs, y = checkerboard(m, rng, fraction=fraction, flip=flip)
    return arrays_of_pairs(pairs) | {"labels": y.astype(np.int8)}


def arrays_of_pairs(pairs: PairData) -> Arrays:
    """The features and the positions of pairs, by name."""
    names = ("row_features", "col_features", "rows", "cols")
    return {name: getattr(pairs, name) for name in names}


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
