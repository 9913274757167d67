"""Smallest ranks that are as good as the full kernel matrix, beside the printed ones."""

import numpy as np
import pandas as pd

from kronbench.runner.columns import SHOWN, Columns
from kronbench.runner.items import Item

COLUMNS = SHOWN | Columns(
    counts=(
        *("features", "classes", "points", "paper features", "paper classes", "paper points"),
        *("splits", "on edge", "tried", "Cholesky", "CSI", "paper Cholesky", "paper CSI"),
        *("CSI, all ahead", "same"),
        *(f"{name}, {end}" for name in ("Cholesky", "CSI") for end in ("lowest", "highest")),
    ),
    numbers=(
        *("full error", "deviation", "gamma p", "reg"),
        *("ratio", "paper ratio", "times printed"),
    ),
    texts=("at least", "agreement"),
)


def tabulate(frame: pd.DataFrame, item: Item, printed: pd.DataFrame) -> pd.DataFrame:
    """One row for each data set, in the printed order (Bach & Jordan, figure 2).

    A rank is the smallest whose mean test error is within the bound of that of the full kernel
    matrix; empty where no rank up to the largest tried is. Where that is so for Cholesky alone,
    the ratio is the least that it can be, and "at least" says so. "times printed" is the larger
    of the factors between our two ranks and the printed ones, either way; a rank that is empty
    counts as one more than was tried. "lowest" and "highest" are the ranks with one split left
    out. "CSI, all ahead" has a look-ahead over all points, and "same" says whether its rank is
    that of CSI. ``drawing_options`` names the reading of the protocol.
    """
    rows = []
    for dataset, measured in frame.groupby("dataset", sort=False):
        ranks, full = of_reading(measured, **item.drawing_options)
        paper = printed[printed["key"] == dataset].iloc[0]
        first = measured.iloc[0]
        classes = first["n_classes"] or None
        cholesky, csi = ranks.loc["cholesky"], ranks.loc["csi"]
        open_ended = bool(np.isnan(cholesky["rank"]) and not np.isnan(csi["rank"]))
        factors = [
            apart(reached(ranks.loc[name]), paper[f"rank_{name}"]) for name in ("cholesky", "csi")
        ]
        agreement = first["agreement"]
        if pd.notna(paper["n_classes"]) and classes != paper["n_classes"]:
            agreement += f", {classes} classes for {paper['n_classes']:.0f}"
        row = {
            "dataset": dataset,
            "features": first["n_features"],
            "paper features": paper["n_features"],
            "classes": classes,
            "paper classes": paper["n_classes"],
            "points": first["n_points"],
            "paper points": paper["n_points"],
            "splits": first["n_splits"],
            "full error": full["error"].mean(),
            "deviation": full["error"].std(ddof=1),
            "gamma p": full["gamma p"].median(),
            "reg": full["reg"].median(),
            "on edge": full["on_edge"].sum(),
            "tried": int(max(cholesky["tried"], csi["tried"])),
            "Cholesky": cholesky["rank"],
            "CSI": csi["rank"],
            "ratio": (reached(cholesky) if open_ended else cholesky["rank"]) / csi["rank"],
            "at least": open_ended,
            "paper Cholesky": paper["rank_cholesky"],
            "paper CSI": paper["rank_csi"],
            "paper ratio": paper["rank_cholesky"] / paper["rank_csi"],
            "times printed": max(factors),
            "agreement": agreement,
            "source": first["source"],
            "_printed": paper.name,
        }
        for name, part in {"Cholesky": cholesky, "CSI": csi}.items():
            row |= {f"{name}, lowest": part["rank_low"], f"{name}, highest": part["rank_high"]}
        all_ahead = ranks["rank"].get("csi, all ahead")  # of data sets with few points
        same = None if all_ahead is None else int(all_ahead == csi["rank"])
        row |= {"CSI, all ahead": all_ahead, "same": same}
        rows.append(row)
    table = pd.DataFrame(rows).sort_values("_printed", ignore_index=True)
    table = table.drop(columns="_printed")
    counts = [name for name in COLUMNS.counts if name in table]
    return table.astype(dict.fromkeys(counts, "Int64"))


def of_reading(
    measured: pd.DataFrame, selection: str, bound: str, stop: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The ranks of one data set under one reading, by decomposition, and the full machines."""
    chosen = measured[measured["selection"] == selection]
    ranks = chosen[(chosen["bound"] == bound) & (chosen["stop"] == stop)]
    return ranks.set_index("decomposition"), chosen[chosen["decomposition"] == "full"]


def reached(row: pd.Series) -> float:
    """A rank; one more than the largest tried where none of these is as good."""
    return row["tried"] + 1 if np.isnan(row["rank"]) else row["rank"]


def apart(ours: float, theirs: float) -> float:
    """The factor between two ranks, either way."""
    return max(ours / theirs, theirs / ours)
