"""Mean AUC of the baselines by the parameter that they select, beside the printed values."""

import numpy as np
import pandas as pd

from kronbench.intervals import half_width
from kronbench.papers.airola.draw.method_auc import TEST_OVER_TRAIN, printed_number
from kronbench.runner.columns import SHOWN, Columns, Parameter
from kronbench.runner.items import Item

COLUMNS = SHOWN | Columns(
    key=("method", "n_neighbors", "reg"),
    counts=("test sets",),
    numbers=("ours", "paper", "±"),
    texts=("λ",),
    values={"method": (Parameter(("methods",)),)},
)


def tabulate(frame: pd.DataFrame, item: Item, printed: pd.DataFrame) -> pd.DataFrame:
    """One row for each data set, method and value; the paper has one number for each method."""
    printed = printed.set_index("method")
    rows = []
    keys = ["dataset", "method", "n_neighbors", "reg"]
    for (dataset, method, n_neighbors, reg), part in frame.groupby(keys, sort=False, dropna=False):
        rows.append(
            {
                "dataset": dataset,
                "method": method,
                "n_neighbors": n_neighbors,
                "reg": reg,
                "λ": "" if np.isnan(reg) else f"2^{np.log2(reg):g}",
                "ours": part["auc"].mean(skipna=False),
                "paper": printed_number(printed, method, dataset),
                "±": half_width(part["auc"], TEST_OVER_TRAIN),
                "test sets": len(part),
                "source": part["source"].iloc[0],
            }
        )
    return pd.DataFrame(rows)
