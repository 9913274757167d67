"""Shared and saved products: seconds of each way beside the first."""

import pandas as pd

from kronbench.runner.columns import SHOWN, Columns
from kronbench.runner.items import Item

COLUMNS = SHOWN | Columns(
    key=("model", "way"),
    clock=("seconds", "low", "high", "cpu seconds", "seconds of the first way"),
    ratios_of_clock=("ratio of seconds", "times faster"),
    counts=("pairs",),
    numbers=("auc",),
    values={
        "model": ("ridge", "L2-SVM"),
        "way": ("one weight", "all weights", "all weights, every iterate", "QMR", "CG"),
    },
)


def tabulate(frame: pd.DataFrame, item: Item, printed: None) -> pd.DataFrame:
    """One row for each way, as measured; ``low`` and ``high`` are its extreme repeats.

    ``times faster`` is over the first way of the model. A ratio is as disturbed as the worse of
    its two sides.
    """
    first = frame.groupby(["dataset", "model"])
    if "busy" in frame:
        frame = frame.assign(busy=frame["busy"] | first["busy"].transform("first"))
    frame = frame.assign(first=first["seconds"].transform("first"), times=1 / frame["ratio"])
    columns = {
        "dataset": "dataset", "model": "model", "way": "way", "n": "pairs", "seconds": "seconds",
        "seconds_low": "low", "seconds_high": "high", "cpu_seconds": "cpu seconds",
        "ratio": "ratio of seconds", "first": "seconds of the first way",
        "times": "times faster", "auc": "auc", "busy": "busy", "source": "source",
    }  # fmt: skip
    return frame[[name for name in columns if name in frame]].rename(columns=columns)
