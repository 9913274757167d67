"""Smallest ranks that are as good as the full kernel matrix, beside the printed ones."""

import numpy as np
import pandas as pd


def tabulate(frame, item, printed):
    """One row for each data set, in the printed order (Bach & Jordan, figure 2).

    "same" says whether the rank with a look-ahead over all points is that of CSI.
    """
    measured = dict(list(frame.groupby("dataset", sort=False)))
    rows = [
        _row(measured[paper["key"]], paper, item.plot_options)
        for _, paper in printed.iterrows()
        if paper["key"] in measured
    ]
    table = pd.DataFrame(rows)
    ranks = [name for name in table if name.startswith(("Cholesky", "CSI"))]
    whole = ["classes", "paper classes", *ranks, *{"same"} & {*table}]
    return table.astype(dict.fromkeys(whole, "Int64"))


def _row(measured, paper, reading):
    ranks, full = of_reading(measured, **reading)
    first = measured.iloc[0]
    classes, agreement = first["n_classes"] or None, first["agreement"]
    if pd.notna(paper["n_classes"]) and classes != paper["n_classes"]:
        agreement += f", {classes} classes for {paper['n_classes']:.0f}"
    row = {"dataset": paper["key"], "agreement": agreement, "source": first["source"]}
    for name, ours in {"features": first["n_features"], "points": first["n_points"]}.items():
        row |= {name: ours, f"paper {name}": paper[f"n_{name}"]}
    row |= {"classes": classes, "paper classes": paper["n_classes"], "splits": first["n_splits"]}
    row |= {"full error": full["error"].mean(), "deviation": full["error"].std(ddof=1)}
    row |= {"gamma p": full["gamma p"].median(), "reg": full["reg"].median()}
    row |= {"on edge": full["on_edge"].sum()}
    cholesky, csi = ranks.loc["cholesky"], ranks.loc["csi"]
    for name, ours in {"Cholesky": cholesky, "CSI": csi}.items():
        row |= {name: ours["rank"], f"paper {name}": paper[f"rank_{name.lower()}"]}
    open_ended = bool(np.isnan(cholesky["rank"]) and not np.isnan(csi["rank"]))
    row["ratio"] = (reached(cholesky) if open_ended else cholesky["rank"]) / csi["rank"]
    row |= {"at least": open_ended, "paper ratio": paper["rank_cholesky"] / paper["rank_csi"]}
    row["times printed"] = max(
        apart(reached(cholesky), paper["rank_cholesky"]), apart(reached(csi), paper["rank_csi"])
    )
    if "csi, all ahead" in ranks.index:  # of data sets with few points
        row["CSI, all ahead"] = ranks.loc["csi, all ahead", "rank"]
        row["same"] = int(row["CSI, all ahead"] == csi["rank"])
    return row


def of_reading(measured, selection, bound, stop):
    """The ranks of one data set under one reading, by decomposition, and the full machines."""
    chosen = measured[measured["selection"] == selection]
    ranks = chosen[(chosen["bound"] == bound) & (chosen["stop"] == stop)]
    return ranks.set_index("decomposition"), chosen[chosen["decomposition"] == "full"]


def reached(row):
    """A rank; one more than the largest tried where none of these is as good."""
    return row["tried"] + 1 if np.isnan(row["rank"]) else row["rank"]


def apart(ours, theirs):
    """The factor between two ranks, either way."""
    return max(ours / theirs, theirs / ours)
