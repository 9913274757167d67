"""Smallest ranks that are as good as the full kernel matrix, beside the printed ones."""

import numpy as np
import pandas as pd

from kronbench.bench.columns import SHOWN, Columns
from kronbench.bench.items import Item

COLUMNS = SHOWN | Columns(
    counts=(
        *("features", "classes", "points", "paper features", "paper classes", "paper points"),
        *("Cholesky", "CSI", "paper Cholesky", "paper CSI"),
    ),
    numbers=(
        *("full error", "full error, training", "deviation"),
        *("ratio", "paper ratio", "times printed"),
    ),
    texts=("at least", "agreement"),
)


def tabulate(frame: pd.DataFrame, item: Item, printed: pd.DataFrame) -> pd.DataFrame:
    """One row for each data set, in the printed order (Bach & Jordan, figure 2).

    A rank is the smallest whose mean test error is within one standard deviation (over splits) of
    that of the full kernel matrix; empty where no rank up to the largest tried is. Where that is
    so for Cholesky alone, the ratio is the least it can be, and "at least" says so. "times
    printed" is the larger of the factors between our two ranks and the printed ones, either way.
    """
    rows = []
    for dataset, measured in frame.groupby("dataset", sort=False):
        full = measured.loc[measured["decomposition"] == "full", "error"]
        bound = full.mean() + full.std(ddof=1)
        ranks = {
            name: _smallest(measured[measured["decomposition"] == name], bound)
            for name in ("cholesky", "csi")
        }
        tried = measured["rank"].max()
        open_ended = bool(np.isnan(ranks["cholesky"]) and not np.isnan(ranks["csi"]))
        paper = printed[printed["key"] == dataset].iloc[0]
        first = measured.iloc[0]
        training = measured.loc[measured["decomposition"] == "full, training", "error"]
        classes = first["n_classes"] or None
        factors = [
            max(ranks[name] / paper[f"rank_{name}"], paper[f"rank_{name}"] / ranks[name])
            for name in ranks
        ]
        agreement = first["agreement"]
        if pd.notna(paper["n_classes"]) and classes != paper["n_classes"]:
            agreement += f", {classes} classes for {paper['n_classes']:.0f}"
        rows.append(
            {
                "dataset": dataset,
                "features": first["n_features"],
                "paper features": paper["n_features"],
                "classes": classes,
                "paper classes": paper["n_classes"],
                "points": first["n_points"],
                "paper points": paper["n_points"],
                "full error": full.mean(),
                "full error, training": training.mean(),
                "deviation": full.std(ddof=1),
                "Cholesky": ranks["cholesky"],
                "CSI": ranks["csi"],
                "ratio": (tried + 1 if open_ended else ranks["cholesky"]) / ranks["csi"],
                "at least": open_ended,
                "paper Cholesky": paper["rank_cholesky"],
                "paper CSI": paper["rank_csi"],
                "paper ratio": paper["rank_cholesky"] / paper["rank_csi"],
                "times printed": max(factors, key=_or_infinite),
                "agreement": agreement,
                "source": first["source"],
                "_printed": paper.name,
            }
        )
    table = pd.DataFrame(rows).sort_values("_printed", ignore_index=True)
    table = table.drop(columns="_printed")
    counts = ["features", "classes", "points"]
    counts += [f"paper {name}" for name in counts]
    counts += ["Cholesky", "CSI", "paper Cholesky", "paper CSI"]
    return table.astype(dict.fromkeys(counts, "Int64"))


def _or_infinite(number):
    return np.inf if np.isnan(number) else number


def _smallest(measured, bound):
    """Smallest rank within the bound on average over the splits that reach it; NaN if none.

    A machine whose error is not a number makes the rank unknown.
    """
    if measured["error"].isna().any():
        return np.nan
    errors = measured.pivot(index="rank", columns="split", values="error")
    # A decomposition that has stopped keeps its last machine.
    good = errors.ffill().mean(axis=1) <= bound
    return float(good.index[good.to_numpy()].min()) if good.any() else np.nan
