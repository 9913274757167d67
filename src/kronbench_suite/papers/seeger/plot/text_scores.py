"""Scores of flat and hierarchical models, beside the printed ones."""

import numpy as np
import pandas as pd

from kronbench.intervals import half_width
from kronbench_suite.runner.columns import SHOWN, Columns

METHODS = ("F1", "H1", "F2", "H2")
SCORES = {
    "acc": ("acc", 100),
    "prec": ("prec", 100),
    "taxo": ("taxo", 1),
    "taxo[0-1]": ("taxo01", 1),
    "pacc": ("pacc", 100),
    "pacc[0-1]": ("pacc01", 100),
}

COLUMNS = SHOWN | Columns(key=("score",))


def tabulate(frame, item, printed):
    """One row for each collection, section and score (Seeger 2006, table 1); means over splits."""
    printed = printed.set_index(["section", "score"])
    rows = []
    for dataset, part in frame[frame["variances"] == "learned"].groupby("dataset", sort=False):
        section = section_of(dataset)
        by_split = part.set_index("split")
        of_method = {method: by_split[by_split["method"] == method] for method in METHODS}
        F1, H1 = of_method["F1"], of_method["H1"]
        selected = {"dataset": dataset, "source": part["source"].iloc[0]}
        selected |= {"texts": texts_of(dataset), "section": section}
        # The variances: that of the biases is chosen from a grid, the others are learned.
        selected |= {"splits": part["split"].nunique(), "sigma^2": part["bias_variance"].iloc[0]}
        selected |= {"on edge": part["on_edge"].sum()}
        selected |= {"v of F1": _geometric_mean(F1["largest_variance"])}
        selected |= {"smallest v of H1": _geometric_mean(H1["smallest_variance"])}
        selected |= {"largest v of H1": _geometric_mean(H1["largest_variance"])}
        # Scores in the paper's units, the gain by the tree on the same splits, and printed ones.
        for score, (column, factor) in SCORES.items():
            ours = {name: factor * part[column].mean() for name, part in of_method.items()}
            paper = printed.loc[(section, column)]
            gains = {
                "H1 - F1": ours["H1"] - ours["F1"],
                "±": half_width(factor * (H1[column] - F1[column]).dropna(), 0.5),
                "printed H1 - F1": round(paper["H1"] - paper["F1"], 3),
            }
            beside = {f"printed {method}": paper[method] for method in METHODS}
            rows.append({**selected, "score": score, **ours, **beside, **gains})
    return pd.DataFrame(rows)


def _geometric_mean(values):
    return float(np.exp(np.log(values).mean()))


def section_of(dataset):
    """The letter of a section in the name of its data set, ``wipo-d-lsa`` or ``ipc-a``."""
    return dataset.split("-")[1].upper()


def texts_of(dataset):
    """Which texts a data set holds, in the words of the tables."""
    if dataset.endswith("-lsa"):
        return "patents, other features (LSA)"
    return "IPC titles" if dataset.startswith("ipc") else "patents, words"
