"""The largest runs: seconds and memory, beside what the paper printed."""

import pandas as pd

from kronbench.bench.columns import SHOWN, Columns, Parameter
from kronbench.bench.items import Item

_NAMES = {1000: "Checker", 6400: "Checker+"}

COLUMNS = SHOWN | Columns(
    key=("task", "solver", "pairs", "points"),
    clock=("seconds", "low", "high", "cpu seconds", "test seconds"),
    ratios_of_clock=("products", "times faster", "ratio of seconds"),
    counts=("columns", "test pairs"),
    numbers=("paper seconds", "objective", "auc"),
    conditions=("peak MiB", "peak bytes"),
    values={
        "task": ("KronSVM", "factor"),
        "solver": (Parameter(("solvers",)), "incomplete Cholesky", "CSI"),
    },
)


def tabulate(frame: pd.DataFrame, item: Item, printed: pd.DataFrame) -> pd.DataFrame:
    """One row for each run; ``times faster`` the paper's seconds of training over ours.

    A run of KronSVM has ``pairs``, a low-rank factor ``points``; ``ratio of seconds`` is over
    incomplete Cholesky. ``low`` and ``high`` are the smallest and the largest of the repeats.
    """
    paper = frame["m"].map(_NAMES).map(printed.set_index("method").loc["KronSVM"])
    fits = frame["task"] == "KronSVM"
    counts = ["n", "columns", "predict_pairs"]
    table = frame.astype({name: "Int64" for name in counts if name in frame})
    table["pairs"], table["points"] = table["n"].where(fits), table["n"].where(~fits)
    table = table.assign(paper=paper, times=paper / table["seconds"])
    columns = {
        "dataset": "dataset", "task": "task", "solver": "solver", "pairs": "pairs",
        "points": "points", "columns": "columns", "seconds": "seconds",
        "seconds_low": "low", "seconds_high": "high", "cpu_seconds": "cpu seconds",
        "products": "products", "paper": "paper seconds", "times": "times faster",
        "ratio": "ratio of seconds", "objective": "objective", "auc": "auc",
        "predict_pairs": "test pairs", "predict_seconds": "test seconds",
        "peak_mib": "peak MiB", "peak_bytes": "peak bytes", "busy": "busy", "source": "source",
    }  # fmt: skip
    return pd.DataFrame({new: table[old] for old, new in columns.items() if old in table})
