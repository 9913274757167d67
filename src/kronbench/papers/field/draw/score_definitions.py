"""Scores by their definitions: what one name can mean for the same predictions."""

import pandas as pd

from kronbench.runner.columns import SHOWN, Columns
from kronbench.runner.items import Item

COLUMNS = SHOWN | Columns(
    key=("predictions", "score"),
    counts=("models",),
    numbers=("value", "±", "apart"),
    texts=("family", "definition"),
    values={
        "predictions": ("MDeePred", "KronRidge", "row and column effects"),
        "family": ("concordance", "rm2", "area", "error"),
    },
)


def tabulate(frame: pd.DataFrame, item: Item, printed: None) -> pd.DataFrame:
    """One row for each set of predictions and score: the mean over its models.

    ``apart`` is the distance between the definition and the first one of its family.
    """
    frame = frame.assign(predictions=frame["predictions"].str.partition(", ")[0])
    rows = []
    for (name, family), part in frame.groupby(["predictions", "family"], sort=False):
        first = None
        for score, values in part.groupby("score", sort=False):
            mean = values["value"].mean()
            first = mean if first is None else first
            rows.append(
                {
                    "predictions": name,
                    "family": family,
                    "score": score,
                    "definition": values["definition"].iloc[0],
                    "value": mean,
                    "±": values["value"].std() if len(values) > 1 else None,
                    "apart": mean - first,
                    "models": len(values),
                    "dataset": values["dataset"].iloc[0],
                    "source": values["source"].iloc[0],
                }
            )
    return pd.DataFrame(rows)
