"""What kernel products cost: seconds, and how many times those of the first way."""

import pandas as pd

from kronbench.runner.columns import SHOWN, Columns, Parameter
from kronbench.runner.items import Item

FIRST = {"tree": "flat", "folds": "contiguous", "stored": "stored"}
OVER_BOUND = "seconds ratio over P/C"

COLUMNS = SHOWN | Columns(
    key=("comparison", "way"),
    clock=("ms", "GB / s"),
    ratios_of_clock=("seconds over the first", "seconds ratio over P/C"),
    counts=("classes",),
    numbers=("P / C",),
    values={
        "comparison": ("classes", "tree", "folds", "stored"),
        "way": (
            Parameter(("classes",), " classes"),
            *("flat", "tree", "contiguous", "looked up", "copied", "zero-padded"),
            *("stored", "from distances"),
        ),
    },
)


def tabulate(frame: pd.DataFrame, item: Item, printed: None) -> pd.DataFrame:
    """One row for each comparison and way; ``seconds over the first`` within a data set."""
    rows = []
    for (dataset, comparison), part in frame.groupby(["dataset", "comparison"], sort=False):
        first = part.iloc[0]
        for _, measured in part.iterrows():
            ratio = measured["seconds"] / first["seconds"]
            row = {
                "comparison": comparison,
                "way": f"{measured['way']} classes"
                if comparison == "classes"
                else measured["way"],
                "classes": measured["classes"],
                "ms": 1000 * measured["seconds"],
                "seconds over the first": ratio,
                "P / C": measured.get("bound"),
                "GB / s": measured.get("gbytes_per_second"),
            }
            if comparison == "tree" and measured["way"] == "tree":
                row[OVER_BOUND] = ratio / measured["bound"]
            rows.append(
                row
                | {
                    "busy": measured["busy"],
                    "dataset": dataset,
                    "source": measured["source"],
                }
            )
    return pd.DataFrame(rows)
