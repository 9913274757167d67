"""Best leave-one-out AUC over the grid and its running time, beside the printed ones."""

import numpy as np
import pandas as pd

from kronbench.report.estimates import disturbed
from kronbench.runner.columns import SHOWN, Columns

CHARACTERISTICS = {
    "targets": "targets",
    "drugs": "drugs",
    "interactions_percent": "interactions, %",
    "median_degree_targets": "median degree of targets",
    "median_degree_drugs": "median degree of drugs",
}
BY_SUBMATRICES = "KK by submatrices"
FROM = 0.01  # weights at which no digits are lost to 1 less a leverage, or to a squared inverse
SAME = 1e-8  # deviation of predictions up to which their seconds are those of the same work
NEAR = 0.005  # AUC below the best up to which a weight is as good: the maps are flat

COLUMNS = SHOWN | Columns(
    key=("quantity", "setting", "method"),
    clock=("seconds", "by submatrices, s"),
    ratios_of_clock=(
        *("seconds of AUC over those of predictions", "times faster"),
        *("speed-up over KK by submatrices", "the same, AUC included", "speed-up over KK"),
        "seconds over ours",
    ),
    conditions=("by submatrices is",),
)


def tabulate(frame, item, printed):
    """The characteristics of each data set, then one row for each setting, method and data set.

    The printed times include the AUC: so do ``times faster`` and ``the same, AUC included``.
    ``loss at shared weights`` is the least AUC that weights shared by all settings lose in one.
    ``deviation of it`` is that from our shortcut; of the library of others where both weights are
    0.01 and more, and its seconds stand only where it is at most 1e-8.
    """
    datasets, performance = printed
    peer = item.parameters["peer"]
    order = {method: place for place, method in enumerate(frame["method"].unique())}
    groups = frame.groupby(["setting", "method", "dataset"], sort=False)
    curves = dict(sorted(groups, key=lambda group: (group[0][0], order[group[0][1]])))
    performance = performance.set_index(["setting", "method"])
    rows = _characteristics(frame, datasets.set_index("property"))
    of_peer = []
    for (setting, method, dataset), curve in curves.items():
        if method == peer["name"]:
            of_peer.append(_of_peer(curve, curves[setting, peer["of"], dataset]))
        elif method != BY_SUBMATRICES:
            rows.append(_performance(curves, setting, method, dataset, performance))
    return pd.DataFrame(rows + of_peer)


def _characteristics(frame, printed):
    rows = []
    for name, quantity in CHARACTERISTICS.items():
        for dataset, part in frame.groupby("dataset", sort=False):
            ours, paper = part[name].iloc[0], printed.loc[name].get(dataset, np.nan)
            numbers = {"ours": ours, "paper": paper, "difference": round(ours - paper, 4)}
            names = {"quantity": quantity, "dataset": dataset, "source": part["source"].iloc[0]}
            rows.append(names | numbers)
    return rows


def _best(quantity, curve):
    """What rows on ours and on the library's curve have in common."""
    best = curve.loc[curve["auc"].idxmax()]
    names = {name: best[name] for name in ("setting", "method", "dataset", "source")}
    # a weight without a number would hide behind the best of the others
    auc = best["auc"] if curve["auc"].notna().all() else np.nan
    at = {"at reg": best["reg"], "at reg cols": best["reg_cols"]}
    grids = [curve[name].agg(["min", "max"]).tolist() for name in ("reg", "reg_cols")]
    on_edge = sum(weight in grid for weight, grid in zip(at.values(), grids, strict=True))
    return {"quantity": quantity, **names, "ours": auc, **at, "on edge": on_edge}


def _performance(curves, setting, method, dataset, printed):
    curve = curves[setting, method, dataset]
    row, best = _best("AUC", curve), curve["auc"].max()
    row |= dict.fromkeys(["seconds", "by submatrices, s", "deviation of it"], np.nan)
    row |= dict.fromkeys(["best AUC, less ours", "seconds over ours"], np.nan)
    row |= {"paper took": None, "by submatrices is": None}
    row["middle reg cols"] = np.exp(np.log(_near_best(curve)["reg_cols"]).mean())
    row["best less worst"] = best - curve["auc"].min()
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
    other = curves.get((setting, "KK" if method == "TS" else "TS", dataset))
    if other is not None:
        gap = abs(best - other["auc"].max())
        row["the same over the gap of the methods"] = row["best less worst"] / gap
    weights = ["reg", "reg_cols"] if method == "TS" else ["reg"]
    shared = pd.DataFrame(
        {
            key[0]: each.set_index(weights)["auc"]
            for key, each in curves.items()
            if key[1:] == (method, dataset)
        }
    )
    row["loss at shared weights"] = (shared.max() - shared).max(axis=1).min()
    own_way = curves.get((setting, BY_SUBMATRICES, dataset))
    if own_way is not None:
        row["by submatrices, s"] = own_way["seconds"].iloc[0]
        sampled = own_way.get("extrapolated_from", pd.Series(dtype=str)).dropna()
        how = f"extrapolated from {sampled.iloc[0]}" if len(sampled) else "measured"
        row["by submatrices is"] = how
    if method == "KK" and own_way is not None:
        row["deviation of it"] = own_way["deviation"].max(skipna=False)
    if method == "TS":
        row["busy"] = any(disturbed(each) for key, each in curves.items() if key[2] == dataset)
        for way in (BY_SUBMATRICES, "KK"):
            row[f"speed-up over {way}"] = _seconds(curves, setting, way, dataset)[0] / seconds
        paper_way = "KK" if setting == "A" else BY_SUBMATRICES
        theirs = _seconds(curves, setting, paper_way, dataset)[0]
        theirs += _seconds(curves, setting, "KK", dataset)[1]
        row["the same, AUC included"] = theirs / (seconds + scoring)
    return row


def _of_peer(curve, own):
    row = _best("AUC by RLScore", curve)
    large = (curve["reg"] >= FROM) & (curve["reg_cols"] >= FROM)
    row["deviation of it"] = curve["deviation"][large].max(skipna=False)
    row["best AUC, less ours"] = curve["auc"].max() - own["auc"].max()
    row["seconds"] = curve["seconds"].iloc[0] if row["deviation of it"] <= SAME else np.nan
    row["seconds over ours"] = row["seconds"] / own["seconds"].iloc[0]
    return row | {"busy": disturbed(curve) or disturbed(own)}


def _seconds(curves, *key):
    """Seconds of the predictions of a grid and of their AUCs; NaN of one that is not there."""
    first = curves[key].iloc[0] if key in curves else {}
    return first.get("seconds", np.nan), first.get("scoring_seconds", np.nan)


def _near_best(curve):
    return curve[curve["auc"] >= curve["auc"].max() - NEAR]


def seconds_of(printed):
    """Seconds of a printed time such as 7.81s, 2.14h or >3d."""
    return float(printed.strip(">sdh")) * {"s": 1.0, "h": 3600.0, "d": 86400.0}[printed[-1]]
