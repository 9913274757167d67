"""Sizes and class counts of pairwise data sets, counted from the prepared data."""

import numpy as np
import pandas as pd

from kronbench.papers.airola.measure.zero_shot import drawn_pairs
from kronbench.runner.columns import Columns

COLUMNS = Columns()


def run(spec, data, rng):
    """One row: edges, positive and negative labels, vertices that occur in an edge.

    Airola & Pahikkala 2018, table 5 (``fraction`` 0.25), and 2016, table 4 (``fraction`` 1).
    """
    pairs, y = drawn_pairs(spec, data)
    row = {
        "edges": len(pairs),
        "positive": int(np.sum(y > 0)),
        "negative": int(np.sum(y < 0)),
        "start_vertices": pairs.n_rows,
        "end_vertices": pairs.n_cols,
        "vertices_with_edges": len(np.unique(pairs.rows)) + len(np.unique(pairs.cols)),
    }
    return pd.DataFrame([row])
