"""Scores by their definitions: what one name can mean for the same predictions."""

import numpy as np
import pandas as pd


def tabulate(frame, item, printed):
    """The means over models, and how far a definition is ``apart`` from its family's first."""
    frame = frame.assign(predictions=frame["predictions"].str.partition(", ")[0])
    family = ["dataset", "source", "predictions", "family"]
    values = frame.groupby([*family, "score", "definition"], sort=False)["value"]
    # not ``agg``, whose sums differ in the last digit
    moments = {"value": values.apply(pd.Series.mean), "±": values.apply(pd.Series.std)}
    table = pd.DataFrame(moments).reset_index()
    families = table.groupby(family, sort=False)
    table = table.assign(apart=table["value"] - families["value"].transform("first"))
    return table.iloc[np.argsort(families.ngroup(), kind="stable")]  # each in one piece
