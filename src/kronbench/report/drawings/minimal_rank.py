"""Smallest ranks that are as good as the full kernel matrix, beside the printed ones."""

import numpy as np
import pandas as pd

# The registry tells the two printed kin-32nm rows apart by their sizes.
_PRINTED = {"kin-32nm-2000": ("kin-32nm", 2000), "kin-32nm-4000": ("kin-32nm", 4000)}


def tabulate(frame, item, printed):
    """One row for each data set, sorted by our ratio of the two ranks (Bach & Jordan, figure 2).

    A rank is the smallest whose mean test error is within one standard deviation (over splits) of
    that of the full kernel matrix; empty where no rank up to the largest tried is. Where that is
    so for Cholesky alone, the ratio is the least it can be, and "at least" says so.
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
        name, n_points = _PRINTED.get(dataset, (dataset, None))
        paper = printed[printed["dataset"] == name]
        if n_points is not None:
            paper = paper[paper["n_points"] == n_points]
        paper = paper.iloc[0]
        first = measured.iloc[0]
        rows.append(
            {
                "dataset": dataset,
                "features": first["n_features"],
                "classes": first["n_classes"] or None,
                "points": first["n_points"],
                "full error": full.mean(),
                "deviation": full.std(ddof=1),
                "Cholesky": ranks["cholesky"],
                "CSI": ranks["csi"],
                "ratio": (tried + 1 if open_ended else ranks["cholesky"]) / ranks["csi"],
                "at least": open_ended,
                "paper Cholesky": paper["rank_cholesky"],
                "paper CSI": paper["rank_csi"],
                "paper ratio": paper["rank_cholesky"] / paper["rank_csi"],
                "agreement": first["agreement"],
                "source": first["source"],
            }
        )
    table = pd.DataFrame(rows).sort_values("ratio", ascending=False, ignore_index=True)
    counts = ["features", "classes", "points", "Cholesky", "CSI", "paper Cholesky", "paper CSI"]
    return table.astype(dict.fromkeys(counts, "Int64"))


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
