"""Scores of classifiers with a class tree or without one."""

import pandas as pd

from kronbench.intervals import half_width
from kronbench_suite.runner.columns import SHOWN, Columns
from kronbench_suite.studies.rivals.plot.comparisons import level_with_best

TEST_OVER_TRAIN = 0.5
SCORES = {  # the column of the measurement, a factor, and whether the largest is best
    "leaf accuracy": ("acc", 100, True),
    "parent accuracy": ("pacc", 100, True),
    "hierarchical F": ("hierarchical_f", 100, True),
    "taxonomy loss": ("taxo", 1, False),
}

COLUMNS = SHOWN | Columns(
    key=("score", "method"),
    clock=("choosing", "fitting"),
)


def tabulate(frame, item, printed):
    """One row for each data set, score and method: its mean over splits, ± half its interval."""
    rows = []
    for dataset, part in frame.groupby("dataset", sort=False):
        for score, (column, factor, largest) in SCORES.items():
            table = part.pivot_table(index="split", columns="method", values=column, sort=False)
            level = level_with_best(table, TEST_OVER_TRAIN, largest)
            for method, of_splits in (factor * table).items():
                of_method = part[part["method"] == method]
                rows.append(
                    {
                        "dataset": dataset,
                        "source": part["source"].iloc[0],
                        "score": score,
                        "method": method,
                        "mean": of_splits.mean(),
                        "±": half_width(of_splits, TEST_OVER_TRAIN),
                        "level": int(method in level),
                        "weight": of_method["weight"].median(),
                        "on edge": of_method["on_edge"].sum(),
                        "choosing": of_method["choosing_seconds"].median(),
                        "fitting": of_method["fitting_seconds"].median(),
                        "documents": part["training"].iloc[0],
                        "classes": part["classes"].iloc[0],
                        "splits": len(of_splits),
                    }
                )
    return pd.DataFrame(rows)
