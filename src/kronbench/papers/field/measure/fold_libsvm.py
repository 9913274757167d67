"""LibSVM on a published fold: its features, and whether a training on all pairs ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from kronbench.runner.clock import Stopwatch, TimeCap

_BYTES = 24  # of a kernel value: 16 as LibSVM reads it, and 8 while the matrix is made


class OverCap(Exception):
    """A training on all pairs would pass a cap; the message says what it is known from."""


def spread_rows(K: np.ndarray) -> np.ndarray:
    """The rows of a kernel matrix (m, m) as features whose mean squared distance is 1."""
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
    """Train on growing ``parts`` of the pairs (n,), and predict what all would take.

    OverCap where that is more than ``caps["seconds"]`` of a processor. ``train`` goes from the
    kernel matrix where that of all pairs has at most ``caps["gigabytes"]``, else from features.
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
