"""Scores of flat and hierarchical models, beside the printed ones."""

import numpy as np
import pandas as pd

from kronbench.intervals import half_width
from kronbench.runner.columns import SHOWN, Columns
from kronbench.runner.items import Item

METHODS = ("F1", "H1", "F2", "H2")
SCORES = {
    "acc": ("acc", 100),
    "prec": ("prec", 100),
    "taxo": ("taxo", 1),
    "taxo[0-1]": ("taxo01", 1),
    "pacc": ("pacc", 100),
    "pacc[0-1]": ("pacc01", 100),
}
OTHERS = {"LogisticRegression": "F1 by scikit-learn", "top-down": "top-down"}

COLUMNS = SHOWN | Columns(
    key=("score",),
    counts=("splits", "n", "C", "P", "on edge"),
    numbers=(
        *("F1", "H1", "F2", "H2", "printed F1", "printed H1", "printed F2", "printed H2"),
        *("H1 - F1", "±", "printed H1 - F1", "F1 by scikit-learn", "top-down", "sigma^2"),
        *("v of F1", "smallest v of H1", "largest v of H1"),
    ),
    texts=("texts", "section"),
    values={
        "score": ("acc", "prec", "taxo", "taxo[0-1]", "pacc", "pacc[0-1]"),
        "texts": ("patents, other features (LSA)", "patents, words", "IPC titles"),
        "section": ("A", "B", "C", "D", "E", "F", "G", "H"),
    },
)


def tabulate(frame: pd.DataFrame, item: Item, printed: pd.DataFrame) -> pd.DataFrame:
    """One row for each collection, section and score (Seeger 2006, table 1); means over splits.

    Percent, but for the taxo-loss in edges. ``±`` is half the 95 % interval of ``H1 - F1`` over
    the splits. The printed numbers stand beside each collection of the same section. ``sigma^2``
    was selected, ``on edge`` counts the selections that ended at the end of their grid, and
    variances are typical ones of those learned.
    """
    printed = printed.set_index(["section", "score"])
    learned = frame[frame["variances"] == "learned"]
    rows = []
    for dataset, part in learned.groupby("dataset", sort=False):
        section = section_of(dataset)
        for score, (column, factor) in SCORES.items():
            means = factor * part.groupby("method")[column].mean()
            sides = [
                part[part["method"] == method].set_index("split")[column]
                for method in ("F1", "H1")
            ]
            paper = printed.loc[(section, column)]
            rows.append(
                {
                    "texts": texts_of(dataset),
                    "section": section,
                    "score": score,
                    **{method: means.get(method) for method in METHODS},
                    **{f"printed {method}": paper[method] for method in METHODS},
                    "H1 - F1": means.get("H1", float("nan")) - means.get("F1", float("nan")),
                    "±": half_width(factor * (sides[1] - sides[0]).dropna(), 0.5),
                    "printed H1 - F1": round(paper["H1"] - paper["F1"], 3),
                    **{label: means.get(method) for method, label in OTHERS.items()},
                    "splits": part["split"].nunique(),
                    "n": part["training"].iloc[0],
                    "C": part["classes"].iloc[0],
                    "P": part["nodes"].iloc[0],
                    "sigma^2": part["bias_variance"].iloc[0],
                    "on edge": part["on_edge"].sum(),
                    "v of F1": _typical(part, "F1", "largest_variance"),
                    "smallest v of H1": _typical(part, "H1", "smallest_variance"),
                    "largest v of H1": _typical(part, "H1", "largest_variance"),
                    "dataset": dataset,
                    "source": part["source"].iloc[0],
                }
            )
    return pd.DataFrame(rows)


def _typical(part, method, column):
    """The geometric mean over splits; NaN where the method was not run."""
    return float(np.exp(np.log(part.loc[part["method"] == method, column]).mean()))


def section_of(dataset: str) -> str:
    """The letter of a section in the name of its data set, ``wipo-d-lsa`` or ``ipc-a``."""
    return dataset.split("-")[1].upper()


def texts_of(dataset: str) -> str:
    """Which texts a data set holds, in the words of the tables."""
    if dataset.endswith("-lsa"):
        return "patents, other features (LSA)"
    return "IPC titles" if dataset.startswith("ipc") else "patents, words"
