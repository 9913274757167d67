"""The largest runs: seconds and memory, beside what the paper and the field printed."""

import pandas as pd

from kronbench.runner.columns import SHOWN, Columns, Parameter
from kronbench.runner.items import Item

_NAMES = {1000: "Checker", 6400: "Checker+"}

COLUMNS = SHOWN | Columns(
    key=("task", "solver", "pairs", "points"),
    clock=("seconds", "low", "high", "cpu seconds", "test seconds"),
    ratios_of_clock=("products", "times faster", "ratio of seconds"),
    counts=("columns", "compounds", "targets", "landmarks", "test pairs"),
    numbers=("paper seconds", "printed seconds", "objective", "auc", "r2", "trace error"),
    conditions=("peak MiB", "peak bytes"),
    values={
        "task": ("KronSVM", "factor", "fingerprints"),
        "solver": (
            Parameter(("solvers",)),
            "incomplete Cholesky",
            "CSI",
            "KronRidge on landmarks",
            "3DProtDTA, five models of Davis, one P100 GPU",
            "3DProtDTA, five models of KIBA, one P100 GPU",
        ),
    },
)


def tabulate(
    frame: pd.DataFrame, item: Item, printed: tuple[pd.DataFrame, pd.DataFrame]
) -> pd.DataFrame:
    """One row for each run; ``times faster`` the paper's seconds of training over ours.

    ``printed`` is the paper's and the field's; the rows of the latter come last, where there are
    fits to fingerprints, and have ``printed seconds`` and sizes alone.

    A fit has ``pairs``, a low-rank factor ``points``; a fit to fingerprints has ``compounds`` too.
    ``ratio of seconds`` is over incomplete Cholesky. ``low`` and ``high`` are the smallest and the
    largest of the repeats.
    """
    papers, fields = printed
    paper = frame["m"].map(_NAMES).map(papers.set_index("method").loc["KronSVM"])
    fits, on_landmarks = frame["task"] != "factor", frame["task"] == "fingerprints"
    counts = ["m", "q", "n", "rank", "columns", "predict_pairs"]
    table = frame.astype({name: "Int64" for name in counts if name in frame})
    table["pairs"], table["points"] = table["n"].where(fits), table["n"].where(~fits)
    for name, count in (("compounds", "m"), ("targets", "q"), ("landmarks", "rank")):
        if on_landmarks.any():
            table[name] = table[count].where(on_landmarks)
    table = table.assign(paper=paper, times=paper / table["seconds"])
    columns = {
        "dataset": "dataset", "task": "task", "solver": "solver", "pairs": "pairs",
        "points": "points", "compounds": "compounds", "targets": "targets",
        "landmarks": "landmarks", "trace_error": "trace error",
        "columns": "columns", "seconds": "seconds",
        "seconds_low": "low", "seconds_high": "high", "cpu_seconds": "cpu seconds",
        "products": "products", "paper": "paper seconds", "times": "times faster",
        "ratio": "ratio of seconds", "objective": "objective", "auc": "auc", "r2": "r2",
        "predict_pairs": "test pairs", "predict_seconds": "test seconds",
        "peak_mib": "peak MiB", "peak_bytes": "peak bytes", "busy": "busy", "source": "source",
    }  # fmt: skip
    table = pd.DataFrame({new: table[old] for old, new in columns.items() if old in table})
    if not on_landmarks.any():
        return table
    beside = fields.assign(dataset="all", task="fingerprints").rename(
        columns={"seconds": "printed seconds"}
    )
    return pd.concat([table, beside.drop(columns=["models", "source"])], ignore_index=True)
