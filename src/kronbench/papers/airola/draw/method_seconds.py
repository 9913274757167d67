"""Processor seconds of each method, beside the printed values."""

import pandas as pd

from kronbench.papers.airola.draw.method_auc import printed_number
from kronbench.report.estimates import disturbed
from kronbench.runner.columns import SHOWN, Columns, Parameter
from kronbench.runner.items import Item

# The paper's numbers are sums over a cross-validation: 298 s for KronSVM on Ki, where its section
# 5.3 gives 25 s for one fold.
FOLDS = 9

COLUMNS = SHOWN | Columns(
    key=("method",),
    clock=(
        *("our seconds", "spread of seconds", "wall seconds"),
        *("selection seconds", "fit seconds", "prediction seconds"),
    ),
    ratios_of_clock=("paper / our seconds",),
    counts=("n", "timed"),
    numbers=("paper seconds",),
    values={"method": (Parameter(("methods",)),)},
)


def tabulate(frame: pd.DataFrame, item: Item, printed: pd.DataFrame) -> pd.DataFrame:
    """One row for each data set and method: nine times the mean of a fold, or the board's mean.

    Over the folds, or test boards, where it was timed, ``timed`` in number; ``spread of seconds``
    is their standard deviation, times as many.
    """
    printed = printed.set_index("method")
    rows = []
    timed = frame.dropna(subset=["cpu_seconds"])
    for (dataset, method), part in timed.groupby(["dataset", "method"], sort=False):
        rounds = FOLDS if part["cross_validated"].all() else 1
        ours = rounds * part["cpu_seconds"].mean(skipna=False)
        paper = printed_number(printed, method, dataset)
        rows.append(
            {
                "dataset": dataset,
                "method": method,
                "our seconds": ours,
                "spread of seconds": rounds * part["cpu_seconds"].std(),
                "paper seconds": paper,
                "paper / our seconds": paper / ours,
                "selection seconds": rounds * part["selection_cpu"].mean(),
                "fit seconds": rounds * part["fit_cpu"].mean(),
                "prediction seconds": rounds * part["prediction_cpu"].mean(),
                "wall seconds": rounds * part["seconds"].mean(),
                "n": part["n"].mean().round().astype(int),
                "timed": len(part),
                "busy": disturbed(part),
                "source": part["source"].iloc[0],
            }
        )
    return pd.DataFrame(rows)
