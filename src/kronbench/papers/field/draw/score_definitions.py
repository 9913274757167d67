"""Scores by their definitions: what one name can mean for the same predictions."""

import numpy as np
import pandas as pd

from kronbench.runner.columns import SHOWN, Columns

COLUMNS = SHOWN | Columns(
    key=("predictions", "score"),
)


def tabulate(frame, item, printed):
    """One row for each set of predictions and score: the mean over its models.

    ``apart`` is the distance between the definition and the first one of its family.
    """
    frame = frame.assign(predictions=frame["predictions"].str.partition(", ")[0])
    family = ["dataset", "source", "predictions", "family"]
    values = frame.groupby([*family, "score", "definition"], sort=False)["value"]
    # not ``agg``, whose sums differ in the last digit
    moments = {"value": values.apply(pd.Series.mean), "±": values.apply(pd.Series.std)}
    table = pd.DataFrame(moments).reset_index()
    families = table.groupby(family, sort=False)
    table = table.assign(apart=table["value"] - families["value"].transform("first"))
    return table.iloc[np.argsort(families.ngroup(), kind="stable")]  # each in one piece
