"""LibSVM on a published fold: its features, and whether a training on all pairs ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from kronbench.runner.clock import Stopwatch, TimeCap

_BYTES = 24  # of a kernel value: 16 as LibSVM reads it, and 8 while the matrix is made


class OverCap(Exception):
    """A training on all pairs would pass a cap; the message says what it is known from."""


def spread_rows(K: np.ndarray) -> np.ndarray:
    """The rows of a kernel matrix (m, m) as features, in a unit that makes one width fit all.

    The mean squared distance of two different rows is 1.
    """
    squares = np.einsum("ij,ij->", K, K) - np.square(K.sum(axis=0)).sum() / len(K)
    return K / np.sqrt(2 * squares / (len(K) - 1))


def matrix_gigabytes(n: int) -> float:
    """What the kernel matrix of n pairs takes while LibSVM trains from it."""
    return 1e-9 * _BYTES * n**2


def check_seconds(
    train: Callable[[np.ndarray], object],
    pairs: np.ndarray,
    parts: Sequence[int],
    caps: Mapping[str, float],
) -> None:
    """Train on growing parts, and predict from the last two what all pairs would take.

    Parameters
    ----------
    train : callable
        Trains on the pairs at the positions that it is given: from their kernel matrix where that
        of all pairs is within the cap, else from features.
    pairs : (n,) integer array
        Positions of all training pairs, in random order.
    parts : sequence of int
        Growing numbers of pairs; those from n on are not tried.
    caps : mapping
        ``seconds`` of a processor, and ``gigabytes`` of a kernel matrix.

    Raises
    ------
    OverCap
        A training on all n would take more seconds.
    """
    n, cap, last = len(pairs), TimeCap(caps["seconds"]), ""
    for size in parts:
        if size < n:
            with Stopwatch() as watch:
                train(np.sort(pairs[:size]))
            cap.record(size, watch.cpu_seconds)
            last = f"; {size:,} pairs took {watch.cpu_seconds:.2g} s"
    if not cap.allows(n):
        gigabytes = matrix_gigabytes(n)
        way = f"from a kernel matrix of {gigabytes:.2g} GB"
        if gigabytes > caps["gigabytes"]:
            way = f"from features (a kernel matrix would be {gigabytes:.3g} GB)"
        raise OverCap(
            f"a training on {n:,} pairs would take about {cap.predicted(n):,.0f} s {way}, where "
            f"{caps['seconds']:g} s and {caps['gigabytes']:g} GB are allowed{last}"
        )
