"""The largest runs: seconds and memory, beside what the paper printed."""

import pandas as pd

_NAMES = {1000: "Checker", 6400: "Checker+"}


def tabulate(frame, item, printed):
    """One row for each run; ``times faster`` the paper's seconds of training over ours.

    ``low`` and ``high`` are the smallest and the largest of the repeats.
    """
    paper = frame["m"].map(_NAMES).map(printed.set_index("method").loc["KronSVM"])
    table = frame.assign(paper=paper, ratio=paper / frame["seconds"])
    columns = {
        "dataset": "dataset", "solver": "solver", "n": "pairs", "seconds": "seconds",
        "seconds_low": "low", "seconds_high": "high", "cpu_seconds": "cpu seconds",
        "paper": "paper seconds", "ratio": "times faster", "auc": "auc",
        "predict_pairs": "test pairs", "predict_seconds": "test seconds",
        "peak_mib": "peak MiB", "busy": "busy", "source": "source",
    }  # fmt: skip
    return pd.DataFrame({new: table[old] for old, new in columns.items() if old in table})
