"""Scores on published folds, ours and printed ones."""

import pandas as pd

from kronbench.runner.columns import SHOWN, Columns, Parameter
from kronbench.runner.items import Item

_CHOSEN = ("reg", "row_effect", "col_effect", "seconds", "choice_seconds")

COLUMNS = SHOWN | Columns(
    key=("whose", "setting", "method"),
    clock=("seconds", "choice_seconds"),
    counts=("trainings", "on edge"),
    numbers=(
        *("CI", "CI ±", "CI, all parts", "MSE", "MSE ±", "MSE, all parts"),
        *("rm2", "AUPR", "interaction", "validation MSE"),
        *("printed CI", "printed MSE", "printed rm2"),
        *("reg", "row_effect", "col_effect"),
    ),
    texts=("selection", "drug kernel", "target kernel"),
    values={
        "whose": ("ours", "printed"),
        "setting": ("setting 1", "setting 2", "setting 3"),
        "method": (
            Parameter(("methods",)),
            *("KronRLS", "SimBoost", "DeepDTA, on both similarity matrices", "DeepDTA"),
            *("GraphDTA, GIN", "MGraphDTA"),
        ),
    },
)


def tabulate(frame: pd.DataFrame, item: Item, printed: pd.DataFrame) -> pd.DataFrame:
    """One row for each setting, method and data set; then one for each printed method.

    ``CI`` and ``MSE`` are means over five trainings on four parts, with standard deviations, as
    publications have them; "all parts", and all other scores, are of one training on all five.
    """
    frame = frame[frame["pairs"] == "all"]
    rows = []
    groups = frame.groupby(["dataset", "setting", "method"], sort=False)
    for (dataset, setting, method), part in groups:
        whole = part[part["trained_on"] == "all parts"].iloc[0]
        four = part[part["trained_on"] != "all parts"]
        rows.append(
            {
                "whose": "ours",
                "dataset": dataset,
                "setting": setting,
                "method": method,
                "CI": four["ci"].mean(),
                "CI ±": four["ci"].std(),
                "CI, all parts": whole["ci"],
                "MSE": four["mse"].mean(),
                "MSE ±": four["mse"].std(),
                "MSE, all parts": whole["mse"],
                "rm2": whole["rm2"],
                "AUPR": whole["aupr"],
                "interaction": whole["interaction"],
                "trainings": len(four),
                "drug kernel": whole["drug_kernel"],
                "target kernel": whole["target_kernel"],
                "validation MSE": whole["validation_mse"],
                "on edge": whole["on_edge"],
                **{name: whole[name] for name in _CHOSEN},
                "source": whole["source"],
            }
        )
    sources = frame.groupby("dataset")["source"].first()
    for line in printed[printed["dataset"].isin(sources.index)].to_dict("records"):
        rows.append(
            {
                "whose": "printed",
                "dataset": line["dataset"],
                "setting": line["setting"],
                "method": line["method"],
                "printed CI": line["ci"],
                "printed MSE": line["mse"],
                "printed rm2": line["rm2"],
                "selection": line["selection"],
                "source": sources[line["dataset"]],
            }
        )
    return pd.DataFrame(rows)
