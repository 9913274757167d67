"""Scores on published folds, ours and printed ones."""

import pandas as pd

from kronbench_suite.report.numbers import rows_by
from kronbench_suite.runner.columns import SHOWN, Columns

COLUMNS = SHOWN | Columns(key=("whose", "setting", "method"))

_OF_ALL_PARTS = {"rm2": "rm2", "aupr": "AUPR", "interaction": "interaction", "on_edge": "on edge"}


def tabulate(frame, item, printed):
    """One row for each setting, method and data set; then one for each printed method."""
    frame = frame[frame["pairs"] == "all"]
    keys = ["dataset", "source", "setting", "method"]

    def numbers(part):
        whole = part[part["trained_on"] == "all parts"].iloc[0]
        four = part[part["trained_on"] != "all parts"]
        row = {}
        for column in ("ci", "mse"):
            values, name = four[column], column.upper()
            row |= {name: values.mean(), f"{name} ±": values.std()}
            row[f"{name}, all parts"] = whole[column]
        return row | {name: whole[column] for column, name in _OF_ALL_PARTS.items()}

    ours = rows_by(frame, keys, numbers).assign(whose="ours")
    sources = frame.groupby("dataset")["source"].first()
    theirs = printed[printed["dataset"].isin(sources.index)].rename(
        columns={"ci": "printed CI", "mse": "printed MSE", "rm2": "printed rm2"}
    )
    theirs = theirs.assign(whose="printed", source=theirs["dataset"].map(sources))
    return pd.concat([ours, theirs], ignore_index=True)
