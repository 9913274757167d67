"""Random divisions of documents or points: two thirds to train, folds of even size."""

from __future__ import annotations

import numpy as np


def n_two_thirds(n: int) -> int:
    """Two thirds of ``n``, rounded up: the training part of n documents (Seeger 2006, 8.2)."""
    return -(-2 * n // 3)


def two_thirds(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Training and test positions: a random permutation of 0..n-1, cut after two thirds."""
    order = rng.permutation(n)
    return order[: n_two_thirds(n)], order[n_two_thirds(n) :]


def even_folds(n: int, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    """(n,) random folds 0..n_folds-1, whose sizes differ by at most one."""
    return rng.permutation(np.arange(n) % n_folds)
