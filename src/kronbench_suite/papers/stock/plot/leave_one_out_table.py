"""Best leave-one-out AUC over the grid and its running time, beside the printed ones."""

import numpy as np
import pandas as pd

from kronbench_suite.report.estimates import disturbed
from kronbench_suite.runner.columns import SHOWN, Columns

CHARACTERISTICS = {
    "targets": "targets",
    "drugs": "drugs",
    "interactions_percent": "interactions, %",
    "median_degree_targets": "median degree of targets",
    "median_degree_drugs": "median degree of drugs",
}
BY_SUBMATRICES = "KK by submatrices"
NEAR = 0.005  # AUC below the best up to which a weight is as good: the maps are flat
# What a setting of the paper predicts.
NEW = {"A": "A: both known", "B": "B: new target", "C": "C: new drug", "D": "D: both new"}

COLUMNS = SHOWN | Columns(
    key=("quantity", "setting", "method"),
    clock=("seconds", "by submatrices, s"),
    ratios_of_clock=(
        *("seconds of AUC over those of predictions", "times faster"),
        *("speed-up over KK by submatrices", "the same, AUC included", "speed-up over KK"),
    ),
    conditions=("by submatrices is",),
    rounding=("deviation of it",),
)


def tabulate(frame, item, printed):
    """The characteristics of each data set, then one row for each setting, method and data set.

    The printed times include the AUC: so do ``times faster`` and ``the same, AUC included``.
    ``loss at shared weights`` is the least AUC that weights shared by all settings lose in one.
    ``deviation of it`` is that of the predictions by submatrices from our shortcut.
    """
    characteristics, performance = printed[0].set_index("property"), printed[1]
    performance = performance.set_index(["setting", "method"])
    order = {method: place for place, method in enumerate(frame["method"].unique())}
    groups = frame.groupby(["setting", "method", "dataset"], sort=False)
    curves = dict(sorted(groups, key=lambda group: (group[0][0], order[group[0][1]])))
    rows = []
    for name, quantity in CHARACTERISTICS.items():
        for dataset, part in frame.groupby("dataset", sort=False):
            ours, paper = part[name].iloc[0], characteristics.loc[name].get(dataset, np.nan)
            numbers = {"ours": ours, "paper": paper, "difference": round(ours - paper, 4)}
            names = {"quantity": quantity, "dataset": dataset, "source": part["source"].iloc[0]}
            rows.append(names | numbers)
    for setting, method, dataset in curves:
        if method != BY_SUBMATRICES:
            rows.append(_performance(curves, setting, method, dataset, performance))
    return pd.DataFrame(rows)


def _performance(curves, setting, method, dataset, printed):
    curve = curves[setting, method, dataset]
    at = curve.loc[curve["auc"].idxmax()]
    best = at["auc"]
    # The best point of the grid, and where it is.
    row = {"quantity": "AUC", "setting": setting, "method": method, "dataset": dataset}
    # A weight without a number would hide behind the best of the others.
    row |= {"source": at["source"], "ours": best if curve["auc"].notna().all() else np.nan}
    row |= {"at reg": at["reg"], "at reg cols": at["reg_cols"]}
    row["on edge"] = sum(
        at[name] in (curve[name].min(), curve[name].max()) for name in ("reg", "reg_cols")
    )
    row |= dict.fromkeys(["seconds", "by submatrices, s", "deviation of it"], np.nan)
    row |= {"paper took": None, "by submatrices is": None}
    # Where the best weights lie, and how much the worst ones lose.
    near = curve[curve["auc"] >= best - NEAR]
    row["middle reg cols"] = np.exp(np.log(near["reg_cols"]).mean())
    row["best less worst"] = best - curve["auc"].min()
    # The printed AUC and time, which includes the AUCs of the grid.
    seconds, scoring = _seconds(curves, setting, method, dataset)
    if (setting, method.rstrip("*")) in printed.index:
        paper = printed.loc[setting, method.rstrip("*")]
        row["paper"] = paper.get(f"auc_{dataset}", np.nan)  # of your own data nothing is printed
        row["difference"] = round(row["ours"] - row["paper"], 4)
        if not method.endswith("*"):
            took = paper.get(f"time_{dataset}")
            row |= {"seconds": seconds, "busy": disturbed(curve)}
            row["seconds of AUC over those of predictions"] = scoring / seconds
            row["paper took"] = took
            row["times faster"] = (seconds_of(took) if took else np.nan) / (seconds + scoring)
    if method not in ("KK", "TS"):
        return row
    # How much weights matter beside the choice of the method.
    other = curves.get((setting, "KK" if method == "TS" else "TS", dataset))
    if other is not None:
        gap = abs(best - other["auc"].max())
        row["the same over the gap of the methods"] = row["best less worst"] / gap
    # What weights that are shared by all settings lose in one of them.
    weights = ["reg", "reg_cols"] if method == "TS" else ["reg"]
    shared = pd.DataFrame(
        {
            key[0]: each.set_index(weights)["auc"]
            for key, each in curves.items()
            if key[1:] == (method, dataset)
        }
    )
    row["loss at shared weights"] = (shared.max() - shared).max(axis=1).min()
    # The paper's own way, by submatrices: its time, and how far it is from the shortcut.
    own_way = curves.get((setting, BY_SUBMATRICES, dataset))
    if own_way is not None:
        row["by submatrices, s"] = own_way["seconds"].iloc[0]
        sampled = own_way.get("extrapolated_from", pd.Series(dtype=str)).dropna()
        how = f"extrapolated from {sampled.iloc[0]}" if len(sampled) else "measured"
        row["by submatrices is"] = how
    if method == "KK" and own_way is not None:
        row["deviation of it"] = own_way["deviation"].max(skipna=False)
    # What the shortcuts of two-step regression save over the ways of Kronecker regression.
    if method == "TS":
        row["busy"] = any(disturbed(each) for key, each in curves.items() if key[2] == dataset)
        for way in (BY_SUBMATRICES, "KK"):
            row[f"speed-up over {way}"] = _seconds(curves, setting, way, dataset)[0] / seconds
        paper_way = "KK" if setting == "A" else BY_SUBMATRICES
        theirs = _seconds(curves, setting, paper_way, dataset)[0]
        theirs += _seconds(curves, setting, "KK", dataset)[1]
        row["the same, AUC included"] = theirs / (seconds + scoring)
    return row


def _seconds(curves, *key):
    """Seconds of the predictions of a grid and of their AUCs; NaN of one that is not there."""
    first = curves[key].iloc[0] if key in curves else {}
    return first.get("seconds", np.nan), first.get("scoring_seconds", np.nan)


def seconds_of(printed):
    """Seconds of a printed time such as 7.81s, 2.14h or >3d."""
    return float(printed.strip(">sdh")) * {"s": 1.0, "h": 3600.0, "d": 86400.0}[printed[-1]]
