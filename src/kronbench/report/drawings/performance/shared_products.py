"""Shared and saved products: seconds of each way beside the first."""

import pandas as pd

from kronbench.bench.columns import SHOWN, Columns
from kronbench.bench.items import Item

COLUMNS = SHOWN | Columns(
    key=("model", "way"),
    clock=("seconds", "low", "high", "cpu seconds"),
    ratios_of_clock=("ratio of seconds",),
    counts=("pairs",),
    numbers=("auc",),
    values={
        "model": ("ridge", "L2-SVM"),
        "way": ("one weight", "all weights", "all weights, every iterate", "QMR", "CG"),
    },
)


def tabulate(frame: pd.DataFrame, item: Item, printed: None) -> pd.DataFrame:
    """One row for each way, as measured; ``low`` and ``high`` are its extreme repeats.

    A ratio is as disturbed as the worse of its two sides.
    """
    if "busy" in frame:
        first = frame.groupby(["dataset", "model"])["busy"].transform("first")
        frame = frame.assign(busy=frame["busy"] | first)
    columns = {
        "dataset": "dataset", "model": "model", "way": "way", "n": "pairs", "seconds": "seconds",
        "seconds_low": "low", "seconds_high": "high", "cpu_seconds": "cpu seconds",
        "ratio": "ratio of seconds", "auc": "auc", "busy": "busy", "source": "source",
    }  # fmt: skip
    return frame[[name for name in columns if name in frame]].rename(columns=columns)
