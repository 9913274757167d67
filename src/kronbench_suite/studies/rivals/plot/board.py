"""The board: each score of each method, and which are tied with the best."""

import pandas as pd

from kronbench.intervals import half_width
from kronbench_suite.runner.columns import SHOWN, Columns
from kronbench_suite.studies.rivals.plot.comparisons import (
    TEST_OVER_TRAIN,
    by_method,
    level_with_best,
)

COLUMNS = SHOWN | Columns(
    key=("setting", "method", "measure"),
    clock=("seconds",),
)

_MEASURES = {"AUC": "auc", "AUPR": "aupr", "C-index": "ci", "MSE": "mse"}
_MEASURES |= {"interaction": "interaction"}


def tabulate(frame, item, printed):
    """One row for each data set, setting, method and measure; means are over repetitions.

    The measure "choices at an end" has one for each data set and method, and one over all of them.
    """
    rows = []
    for (dataset, setting), part in frame.groupby(["dataset", "setting"], sort=False):
        for measure, column in _MEASURES.items():
            repetitions = by_method(part, column)
            if repetitions.empty:
                continue
            best = level_with_best(repetitions, TEST_OVER_TRAIN, measure != "MSE")
            for method in repetitions:
                own, values = part[part["method"] == method], repetitions[method].dropna()
                rows.append(
                    {
                        "dataset": dataset,
                        "setting": setting,
                        "method": method,
                        "measure": measure,
                        "mean": values.mean(),
                        "±": half_width(values, TEST_OVER_TRAIN),
                        "best": int(method in best),
                        "repetitions": len(values),
                        "n_train": int(own["n_train"].iloc[0]),
                        "n_test": int(part["n_test"].iloc[0]),
                        "chosen": next(iter(own["chosen"].mode()), ""),
                        "grid edges": own["grid_edges"].mean(),
                        "seconds": (own["choosing_cpu"] + own["fitting_cpu"]).median(),
                        "source": part["source"].iloc[0],
                    }
                )
    return pd.DataFrame([*rows, *_choices_at_ends(frame)])


def _choices_at_ends(frame):
    """The share of each method's choices that lie at an end, by data set and over all."""
    source = "surrogate" if "surrogate" in set(frame["source"]) else frame["source"].iloc[0]
    for part in (*(part for _, part in frame.groupby("dataset", sort=False)), frame):
        name = "all" if part is frame else part["dataset"].iloc[0]
        for method, share in part.groupby("method", sort=False)["grid_edges"].mean().items():
            if share == share:  # it has a grid with ends
                row = {"dataset": name, "setting": "all", "method": method, "mean": share}
                yield row | {"measure": "choices at an end", "source": source}
