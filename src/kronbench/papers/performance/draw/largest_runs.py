"""The largest runs: seconds and memory, beside what the paper and the field printed."""

import pandas as pd

from kronbench.runner.columns import SHOWN, Columns

_CHECKERBOARDS = {1000: "Checker", 6400: "Checker+"}
_NAMES = {
    "cpu_seconds": "cpu seconds",
    "paper": "paper seconds",
    "peak_bytes": "peak bytes",
    "peak_mib": "peak MiB",
    "predict_pairs": "test pairs",
    "predict_seconds": "test seconds",
    "ratio": "ratio of seconds",
    "seconds_high": "high",
    "seconds_low": "low",
    "times": "times faster",
    "trace_error": "trace error",
}

COLUMNS = SHOWN | Columns(
    key=("task", "solver", "pairs", "points"),
    clock=("seconds", "low", "high", "cpu seconds", "test seconds"),
    ratios_of_clock=("products", "times faster", "ratio of seconds"),
    conditions=("peak MiB", "peak bytes"),
)
_MEASURED = (
    *("columns", "compounds", "targets", "landmarks", "test pairs"),
    *("paper seconds", "printed seconds", "objective", "auc", "r2", "trace error"),
)


def tabulate(frame, item, printed):
    """One row for each run; ``times faster`` the paper's seconds of training over ours.

    ``printed`` is the paper's and the field's; the rows of the latter come last, where there are
    fits to fingerprints. A fit has ``pairs``, a low-rank factor ``points``; a fit to fingerprints
    has ``compounds`` too. ``ratio of seconds`` is over incomplete Cholesky.
    """
    papers, fields = printed
    paper = frame["m"].map(_CHECKERBOARDS).map(papers.set_index("method").loc["KronSVM"])
    fits, on_landmarks = frame["task"] != "factor", frame["task"] == "fingerprints"
    counts = ["m", "q", "n", "rank", "columns", "predict_pairs"]
    table = frame.astype({name: "Int64" for name in counts if name in frame})
    table["pairs"], table["points"] = table["n"].where(fits), table["n"].where(~fits)
    for name, count in (("compounds", "m"), ("targets", "q"), ("landmarks", "rank")):
        if on_landmarks.any():
            table[name] = table[count].where(on_landmarks)
    table = table.assign(paper=paper, times=paper / table["seconds"]).rename(columns=_NAMES)
    if on_landmarks.any():
        beside = fields.assign(dataset="all", task="fingerprints", source=None)
        table = pd.concat(
            [table, beside.rename(columns={"seconds": "printed seconds"})], ignore_index=True
        )
    return table[[name for name in table if name in COLUMNS or name in _MEASURED]]
