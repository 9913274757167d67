"""Entries of Gaussian kernel matrices off the diagonal."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from kronbench.datasets import load
from kronbench.runner.job import run_experiment

SPEC = {"gammas": [1e-9, 1e-2, 1e3], "seed": 7, "time_cap": 1}


def test_entries_are_those_of_all_pairs_of_vertices():
    data = load("gpcr", policy="surrogate")
    frame = run_experiment("airola.gaussian_kernels", SPEC, data, "GPCR")
    for side, name in (("start", "drug_similarity"), ("end", "target_similarity")):
        part = frame[frame["side"] == side].set_index("gamma")
        entries = np.exp(-1e-2 * pdist(data[name]) ** 2)
        assert part.loc[1e-2, "mean"] == pytest.approx(entries.mean())
        assert part.loc[1e-2, "low"] == pytest.approx(np.quantile(entries, 0.05))
        # towards a matrix full of ones, and towards the identity
        assert part.loc[1e-9, "low"] > 0.99
        assert part.loc[1e3, "high"] < 0.01
