"""The largest runs: seconds and memory, beside what the paper printed."""

from kronbench_suite.runner.columns import SHOWN, Columns

_CHECKERBOARDS = {1000: "Checker", 6400: "Checker+"}
_NAMES = {
    "cpu_seconds": "cpu seconds",
    "peak_bytes": "peak bytes",
    "peak_mib": "peak MiB",
    "predict_pairs": "test pairs",
    "predict_seconds": "test seconds",
    "ratio": "ratio of seconds",
    "seconds_high": "high",
    "seconds_low": "low",
}

COLUMNS = SHOWN | Columns(
    key=("task", "solver", "pairs", "points"),
    clock=("seconds", "low", "high", "cpu seconds", "test seconds"),
    ratios_of_clock=("products", "times faster", "ratio of seconds"),
    conditions=("peak MiB", "peak bytes"),
)
_MEASURED = ("columns", "test pairs", "paper seconds", "objective", "auc")


def tabulate(frame, item, printed):
    """One row for each run; ``times faster`` the paper's seconds of training over ours.

    A fit has ``pairs``, a low-rank factor ``points``. ``ratio of seconds`` is over incomplete
    Cholesky.
    """
    paper = frame["m"].map(_CHECKERBOARDS).map(printed.set_index("method").loc["KronSVM"])
    fits = frame["task"] != "factor"
    counts = ["n", "columns", "predict_pairs"]
    table = frame.astype({name: "Int64" for name in counts if name in frame})
    table["pairs"], table["points"] = table["n"].where(fits), table["n"].where(~fits)
    table["paper seconds"], table["times faster"] = paper, paper / table["seconds"]
    table = table.rename(columns=_NAMES)
    return table[[name for name in table if name in COLUMNS or name in _MEASURED]]
