"""Sizes and class counts of pairwise data sets, counted from the prepared data."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from kronbench.datasets import Dataset
from kronbench.datasets.drug_target import labelled_pairs
from kronbench.runner.columns import Columns
from kronbench.runner.seeds import generator

COLUMNS = Columns(
    counts=(
        *("edges", "positive", "negative"),
        *("start_vertices", "end_vertices", "vertices_with_edges"),
    ),
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row: edges, positive and negative labels, vertices that occur in an edge.

    Airola & Pahikkala 2018, table 5 (``fraction`` 0.25), and 2016, table 4 (``fraction`` 1).
    """
    pairs, y = labelled_pairs(
        data, rng=generator(spec["seed"], "pairs", data.name), fraction=spec["fraction"]
    )
    return pd.DataFrame(
        {
            "edges": [len(pairs)],
            "positive": [int(np.sum(y > 0))],
            "negative": [int(np.sum(y < 0))],
            "start_vertices": [pairs.n_rows],
            "end_vertices": [pairs.n_cols],
            "vertices_with_edges": [len(np.unique(pairs.rows)) + len(np.unique(pairs.cols))],
        }
    )
