"""The dimensions of a training set of pairs, counted on a real fold."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from kronbench.datasets import Dataset
from kronbench.datasets.drug_target import labelled_pairs
from kronbench.evaluation import VertexDisjointKFold
from kronbench.runner.columns import Columns
from kronbench.runner.seeds import generator

COLUMNS = Columns(counts=("n", "m", "q", "d", "r", "n_test", "shared_start", "shared_end"))


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row: n, m, q, d, r of the training pairs of one round (Airola & Pahikkala, table 1).

    ``n`` pairs, ``m`` and ``q`` start and end vertices that occur in them, ``d`` and ``r``
    features of either side; ``n_test`` pairs of the same round, and the numbers of start and end
    vertices that they share with the training pairs.
    """
    pairs, y = labelled_pairs(
        data, rng=generator(spec["seed"], "pairs", data.name), fraction=spec["fraction"]
    )
    splitter = VertexDisjointKFold(random_state=int(rng.integers(2**31)))
    train, test = list(splitter.split(pairs, y))[spec["fold"]]
    return pd.DataFrame(
        {
            "n": [len(train)],
            "m": [len(np.unique(pairs.rows[train]))],
            "q": [len(np.unique(pairs.cols[train]))],
            "d": [pairs.row_features.shape[1]],
            "r": [pairs.col_features.shape[1]],
            "n_test": [len(test)],
            "shared_start": [len(np.intersect1d(pairs.rows[train], pairs.rows[test]))],
            "shared_end": [len(np.intersect1d(pairs.cols[train], pairs.cols[test]))],
        }
    )
