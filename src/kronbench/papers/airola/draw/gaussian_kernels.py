"""Entries of Gaussian kernel matrices off the diagonal, by the width."""

import pandas as pd

from kronbench.runner.columns import SHOWN, Columns
from kronbench.runner.items import Item

COLUMNS = SHOWN | Columns(
    key=("side", "gamma"),
    counts=("vertices",),
    numbers=("mean", "low", "high"),
    values={"side": ("start", "end")},
)


def tabulate(frame: pd.DataFrame, item: Item, printed: None) -> pd.DataFrame:
    """The rows as measured."""
    return frame[["dataset", "side", "gamma", "vertices", "mean", "low", "high", "source"]]
