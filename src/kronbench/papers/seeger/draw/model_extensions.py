"""Extensions of the class model and what each is worth: means over repetitions."""

import pandas as pd

from kronbench.runner.columns import SHOWN, Columns, Parameter
from kronbench.runner.items import Item

NUMBERS = {
    "error": "test error",
    "nll": "- log likelihood, test",
    "psi": "Psi / n",
    "deviation": "deviation from exact",
    "overshoot": "largest diag(L L' - M)",
    "acc": "acc",
    "pacc": "pacc",
    "taxo": "taxo",
    "iterations": "EM iterations",
    "posterior_fall": "largest fall of the posterior",
    "likelihood_fall": "largest fall of the likelihood",
}

COLUMNS = SHOWN | Columns(
    key=("extension", "variant", "rank", "training"),
    counts=("repetitions",),
    numbers=(
        *("test error", "- log likelihood, test", "Psi / n", "deviation from exact"),
        *("largest diag(L L' - M)", "acc", "pacc", "taxo", "EM iterations"),
        *("largest fall of the posterior", "largest fall of the likelihood"),
    ),
    values={
        "extension": ("exact", "low rank", "coupling", "uncertain"),
        "variant": (
            *("iterative", "corrected", "not corrected", "none", "learned"),
            *("left out", "EM", "all known"),
        ),
        "rank": (Parameter(("ranks",)),),
    },
)


def tabulate(frame: pd.DataFrame, item: Item, printed: None) -> pd.DataFrame:
    """One row for each extension, data set and variant."""
    keys = ["extension", "dataset", "variant", "rank", "training", "source"]
    for column in ("rank", "training", *NUMBERS):
        if column not in frame:
            frame[column] = pd.NA
    numbers = frame[list(NUMBERS)].apply(pd.to_numeric)
    groups = pd.concat([frame[keys], numbers], axis=1).groupby(keys, dropna=False, sort=False)
    table = groups.mean().reset_index().rename(columns=NUMBERS)
    table["repetitions"] = groups.size().to_numpy()
    return table[[c for c in table if c != "source"] + ["source"]]
