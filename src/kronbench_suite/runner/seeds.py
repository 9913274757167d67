"""Random generators from names, so that every solver sees the same draws."""

import hashlib

import numpy as np


def generator(base_seed: int, *names: str | int) -> np.random.Generator:
    """A generator that depends on the base seed and the names alone, on every machine.

    Give the experiment, the data set, the fold: never the solver.
    """
    words = [int.from_bytes(hashlib.sha256(str(name).encode()).digest()[:8]) for name in names]
    return np.random.default_rng(np.random.SeedSequence([base_seed, *words]))
