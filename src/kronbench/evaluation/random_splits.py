"""Random divisions of documents or points: two thirds to train, folds of even size."""

from __future__ import annotations

import numpy as np


def n_two_thirds(n):
    """Two thirds of ``n``, rounded up: the size of a training part (Seeger 2006, section 8.2)."""
    return -(-2 * n // 3)


def two_thirds(n, rng) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the training part and of the test part, together 0..n-1 in random order.

    Parameters
    ----------
    n : int
    rng : numpy Generator
        Gives one permutation of n.
    """
    order = rng.permutation(n)
    return order[: n_two_thirds(n)], order[n_two_thirds(n) :]


def even_folds(n, n_folds, rng) -> np.ndarray:
    """(n,) random folds 0..n_folds-1 whose sizes differ by at most one.

    Parameters
    ----------
    n, n_folds : int
    rng : numpy Generator
        Gives one permutation of n.
    """
    return rng.permutation(np.arange(n) % n_folds)
