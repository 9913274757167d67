"""Scores on published folds, ours and printed ones."""

import pandas as pd

from kronbench.runner.columns import SHOWN, Columns

COLUMNS = SHOWN | Columns(
    key=("whose", "setting", "method"),
)


def tabulate(frame, item, printed):
    """One row for each setting, method and data set; then one for each printed method.

    ``CI`` and ``MSE`` are means over five trainings on four parts, with standard deviations, as
    publications have them; "all parts", and all other scores, are of one training on all five.
    """
    frame = frame[frame["pairs"] == "all"]
    keys = ["dataset", "source", "setting", "method"]
    rows = []
    for names, part in frame.groupby(keys, sort=False):
        whole = part[part["trained_on"] == "all parts"].iloc[0]
        four = part[part["trained_on"] != "all parts"]
        rows.append(
            {
                **dict(zip(keys, names, strict=True)),
                "CI": four["ci"].mean(),
                "CI ±": four["ci"].std(),
                "CI, all parts": whole["ci"],
                "MSE": four["mse"].mean(),
                "MSE ±": four["mse"].std(),
                "MSE, all parts": whole["mse"],
                "rm2": whole["rm2"],
                "AUPR": whole["aupr"],
                "interaction": whole["interaction"],
                "on edge": whole["on_edge"],
            }
        )
    ours = pd.DataFrame(rows).assign(whose="ours")
    sources = frame.groupby("dataset")["source"].first()
    theirs = printed[printed["dataset"].isin(sources.index)].rename(
        columns={"ci": "printed CI", "mse": "printed MSE", "rm2": "printed rm2"}
    )
    theirs = theirs.assign(whose="printed", source=theirs["dataset"].map(sources))
    return pd.concat([ours, theirs], ignore_index=True)
