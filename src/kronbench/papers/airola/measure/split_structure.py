"""Which pairs train, test and stay unused in one round of the ninefold zero-shot split."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from kronbench.datasets import Dataset
from kronbench.datasets.drug_target import labelled_pairs
from kronbench.evaluation import VertexDisjointKFold
from kronbench.runner.columns import Columns
from kronbench.runner.seeds import generator

COLUMNS = Columns(
    key=("row", "col"),
    counts=("row_fold", "col_fold", "fold", "label"),
    texts=("role",),
    values={"role": ("train", "test", "unused")},
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each labelled pair: its vertices in drawing order, fold and role.

    ``row`` and ``col`` are positions after sorting vertices by fold (0-based), ``role`` is
    "train", "test" or "unused" in round ``spec["fold"]`` (Airola & Pahikkala, figures 1 and 2).
    """
    pairs, y = labelled_pairs(
        data, rng=generator(spec["seed"], "pairs", data.name), fraction=spec["fraction"]
    )
    splitter = VertexDisjointKFold(random_state=int(rng.integers(2**31)))
    row_fold, col_fold = np.full(pairs.n_rows, -1), np.full(pairs.n_cols, -1)
    pair_row_fold, pair_col_fold = splitter.blocks(pairs)
    row_fold[pairs.rows], col_fold[pairs.cols] = pair_row_fold, pair_col_fold
    role = np.full(len(pairs), "unused", dtype=object)
    train, test = list(splitter.split(pairs, y))[spec["fold"]]
    role[train], role[test] = "train", "test"
    return pd.DataFrame(
        {
            "row": _positions(row_fold)[pairs.rows],
            "col": _positions(col_fold)[pairs.cols],
            "row_fold": pair_row_fold,
            "col_fold": pair_col_fold,
            "fold": spec["fold"],
            "role": role,
            "label": y.astype(int),
        }
    )


def _positions(fold):
    """Rank of each vertex when vertices are sorted by fold."""
    positions = np.empty(len(fold), dtype=int)
    positions[np.argsort(fold, kind="stable")] = np.arange(len(fold))
    return positions
