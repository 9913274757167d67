"""Which pairs train, test and stay unused in one round of the ninefold zero-shot split."""

import numpy as np
import pandas as pd

from kronbench.evaluation import VertexDisjointKFold
from kronbench.papers.airola.measure.zero_shot import drawn_pairs
from kronbench.runner.columns import Columns

COLUMNS = Columns(
    key=("row", "col"),
)


def run(spec, data, rng):
    """One row for each labelled pair: its fold and role in round ``fold``.

    ``row`` and ``col`` are positions after sorting vertices by fold, 0-based (Airola & Pahikkala,
    figures 1 and 2).
    """
    pairs, y = drawn_pairs(spec, data)
    splitter = VertexDisjointKFold(random_state=int(rng.integers(2**31)))
    row_fold, col_fold = splitter.blocks(pairs)
    role = np.full(len(pairs), "unused", dtype=object)
    train, test = list(splitter.split(pairs, y))[spec["fold"]]
    role[train], role[test] = "train", "test"
    return pd.DataFrame(
        {
            "row": _positions(pairs.rows, row_fold, pairs.n_rows),
            "col": _positions(pairs.cols, col_fold, pairs.n_cols),
            "row_fold": row_fold,
            "col_fold": col_fold,
            "fold": spec["fold"],
            "role": role,
            "label": y.astype(int),
        }
    )


def _positions(index, fold, count):
    """Rank of the vertex of each pair when vertices are sorted by fold."""
    of_vertex = np.full(count, -1)
    of_vertex[index] = fold
    return np.argsort(np.argsort(of_vertex, kind="stable"))[index]
