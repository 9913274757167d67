"""Stand-ins for tables of inputs and a target."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def surrogate_table(
    rng: np.random.Generator,
    *,
    n_points: int,
    n_features: int,
    class_counts: Sequence[int] | None = None,
    blocks: Sequence[int] = (),
    n_test: int | None = None,
) -> dict[str, np.ndarray]:
    """Correlated inputs and a smooth noisy target, of the shape and class sizes of the real table.

    The covariance of the inputs has eigenvalues 1/k; the last columns are indicators, ``blocks``
    of them at a time. The target is a sum of waves along ten random directions, with noise of a
    third of its standard deviation; classes are slices of its range.
    """
    n_numbers = n_features - sum(blocks)
    n_latent = n_numbers + len(blocks)
    rotation = np.linalg.qr(rng.standard_normal((n_latent, n_latent)))[0]
    latent = rng.standard_normal((n_points, n_latent)) / np.sqrt(np.arange(1, n_latent + 1))
    directions = rng.standard_normal((n_latent, 10)) / np.sqrt(n_latent)
    target = np.sin(3.0 * latent @ directions + rng.uniform(0, 2 * np.pi, 10)).sum(axis=1)
    target += rng.standard_normal(n_points) * target.std() / 3

    inputs = latent @ rotation
    groups = [inputs[:, :n_numbers]]
    for column, size in zip(inputs.T[n_numbers:], blocks, strict=True):
        counts = 1 + np.bincount(rng.integers(size, size=n_points - size), minlength=size)
        groups.append(_slices(column, counts)[:, None] == np.arange(size))
    arrays = {"X": np.hstack(groups, dtype=np.float64), "y": target}
    if class_counts is not None:
        arrays["y"] = _slices(target, class_counts)
    if n_test is not None:
        arrays["is_test"] = rng.permutation(n_points) < n_test
    return arrays


def _slices(values, counts):
    """Levels 0, 1, ... along increasing values, with ``counts[k]`` entries at level k."""
    levels = np.empty(len(values), dtype=np.int64)
    levels[np.argsort(values, kind="stable")] = np.repeat(np.arange(len(counts)), counts)
    return levels
