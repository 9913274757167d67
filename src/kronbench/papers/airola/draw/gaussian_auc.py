"""Mean AUC of two SVMs by size and weight, and how much it varies with the weight."""

import numpy as np
import pandas as pd

from kronbench.intervals import half_width
from kronbench.papers.airola.draw.method_auc import TEST_OVER_TRAIN
from kronbench.runner.columns import SHOWN, Columns, Parameter
from kronbench.runner.items import Item

COLUMNS = SHOWN | Columns(
    key=("size", "method", "reg"),
    counts=("test sets",),
    numbers=("AUC", "±", "over weights", "± over weights"),
    texts=("λ",),
    values={"method": (Parameter(("solvers",)),)},
)


def tabulate(frame: pd.DataFrame, item: Item, printed: None) -> pd.DataFrame:
    """One row for each size, method and weight; means over folds.

    ``over weights`` is the mean over folds of the largest less the smallest AUC over the weights.
    """
    rows = []
    keys = ["dataset", "size", "method", "reg"]
    for (dataset, size, method, reg), part in frame.groupby(keys, sort=False):
        rows.append(
            {
                "dataset": dataset,
                "size": size,
                "method": method,
                "reg": reg,
                "λ": f"2^{np.log2(reg):g}",
                "AUC": part["auc"].mean(skipna=False),
                "±": half_width(part["auc"], TEST_OVER_TRAIN),
                "over weights": part["over_weights"].mean(skipna=False),
                "± over weights": half_width(part["over_weights"], TEST_OVER_TRAIN),
                "test sets": len(part),
                "source": part["source"].iloc[0],
            }
        )
    return pd.DataFrame(rows)
