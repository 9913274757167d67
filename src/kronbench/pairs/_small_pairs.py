"""A problem as small as compiling needs, to warm up products and estimators."""

from __future__ import annotations

import numpy as np

from kronbench.pairs.data import PairData


def small_pairs() -> tuple[PairData, np.ndarray]:
    """All 144 pairs of 12 vertices with three features, and their labels -1 and 1."""
    rng = np.random.default_rng(0)
    features = rng.random((12, 3))
    return PairData.complete(features, features), np.where(rng.random(144) < 0.5, -1.0, 1.0)
