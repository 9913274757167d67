"""Best leave-one-out AUC over the grid and its running time, beside the printed ones."""

import numpy as np
import pandas as pd

from kronbench.report.estimates import disturbed
from kronbench.runner.columns import SHOWN, Columns, Parameter
from kronbench.runner.items import Item

SECONDS = {"s": 1.0, "h": 3600.0, "d": 86400.0}
CHARACTERISTICS = {
    "targets": "targets",
    "drugs": "drugs",
    "interactions_percent": "interactions, %",
    "median_degree_targets": "median degree of targets",
    "median_degree_drugs": "median degree of drugs",
}
_ORDER = [
    *("quantity", "setting", "method", "dataset", "ours", "paper", "difference"),
    *("at reg", "at reg cols", "on edge", "middle reg", "middle reg cols"),
    *("best less worst", "the same over the gap of the methods", "loss at weights of A"),
    *("seconds", "seconds of AUC over those of predictions", "paper took", "times faster"),
    *("ns of predictions a pair", "ns of AUC a pair"),
    *("by submatrices, s", "by submatrices is", "deviation of it"),
    *("speed-up over KK by submatrices", "the same, AUC included", "speed-up over KK"),
    *("deviation at any weights", "best AUC, less ours"),
    *("seconds over ours", "beyond", "busy", "source"),
]
BY_SUBMATRICES = "KK by submatrices"
OF_PEER = "AUC by RLScore"
FROM = 0.01  # weights at which no digits are lost to 1 less a leverage, or to a squared inverse
SAME = 1e-8  # deviation of predictions up to which their seconds are those of the same work
NEAR = 0.005  # AUC below the best up to which a weight is as good: the maps are flat

COLUMNS = SHOWN | Columns(
    key=("quantity", "setting", "method"),
    clock=("seconds", "by submatrices, s", "ns of predictions a pair", "ns of AUC a pair"),
    ratios_of_clock=(
        *("seconds of AUC over those of predictions", "times faster"),
        *("speed-up over KK by submatrices", "the same, AUC included", "speed-up over KK"),
        "seconds over ours",
    ),
    counts=("on edge",),
    numbers=(
        *("ours", "paper", "difference", "at reg", "at reg cols"),
        *("middle reg", "middle reg cols", "best less worst"),
        *("the same over the gap of the methods", "loss at weights of A", "deviation of it"),
        *("deviation at any weights", "best AUC, less ours"),
    ),
    texts=("paper took", "beyond"),
    conditions=("by submatrices is",),
    values={
        "quantity": (
            *("targets", "drugs", "interactions, %"),
            *("median degree of targets", "median degree of drugs", "AUC", "AUC by RLScore"),
        ),
        "setting": ("A", "B", "C", "D"),
        "method": (Parameter(("methods", "*", "name")), "TS*", Parameter(("peer", "name"))),
        "at reg": (Parameter(("regs",)),),
        "at reg cols": (Parameter(("regs",)),),
    },
)


def tabulate(frame: pd.DataFrame, item: Item, printed: list[pd.DataFrame]) -> pd.DataFrame:
    """The characteristics of each data set, then one row for each setting, method and data set.

    ``seconds`` is the running time of all predictions of the grid, AUC not included; ``paper
    took`` the printed one, which includes it, so that ``times faster`` compares it with ours and
    AUC together. ``by submatrices`` is the time of the paper's own way to leave out rows and
    columns with Kronecker ridge regression, measured or extrapolated; with "AUC included" the
    seconds of the AUC are added on both sides (in setting A the shortcut is the paper's way).
    ``on edge`` counts the best weights that lie at an end of the grid. ``middle reg`` and
    ``middle reg cols`` are the geometric means of the weights whose AUC is within 0.005 of the
    best, of the targets (or the one weight) and of the drugs; ``loss at weights of A`` is what
    the weights near the best of setting A cost in another one, at the best of these. ``the same
    over the gap of the methods`` divides ``best less worst`` by the difference of both methods.
    ``deviation of it`` is that from our shortcut. The rows of the authors' library have there the
    largest one of its predictions where both weights are 0.01 and more, and that of the whole grid
    beside it; they have seconds only where the first is at most 1e-8.
    ``*`` marks numbers that are no leave-one-out predictions, ``beyond`` a cell that the paper
    left empty (Stock et al. 2016, table 6.1).
    """
    datasets, performance = printed
    peer = item.parameters["peer"]
    theirs = frame["method"] == peer["name"]
    parts = [
        _characteristics(frame, datasets),
        _performance(frame[~theirs], performance),
        _of_peer(frame[theirs], frame[frame["method"] == peer["of"]]),
    ]
    return pd.concat(parts, ignore_index=True).reindex(columns=_ORDER)


def _characteristics(frame, printed):
    printed = printed.set_index("property")
    rows = []
    for name, quantity in CHARACTERISTICS.items():
        for dataset, part in frame.groupby("dataset", sort=False):
            ours, paper = part[name].iloc[0], printed.loc[name, dataset]
            rows.append(
                {
                    "quantity": quantity,
                    "dataset": dataset,
                    "ours": ours,
                    "paper": paper,
                    "difference": round(ours - paper, 4),
                    "source": part["source"].iloc[0],
                }
            )
    return pd.DataFrame(rows)


def _performance(frame, printed):
    printed = printed.set_index(["setting", "method"])
    order = {method: place for place, method in enumerate(frame["method"].unique())}
    clocks = frame.groupby(["setting", "method", "dataset"])[["seconds", "scoring_seconds"]]
    took_us, scoring = clocks.first()["seconds"], clocks.first()["scoring_seconds"]
    own_way = frame[frame["method"] == BY_SUBMATRICES]
    everything, frame = frame, frame[frame["method"] != BY_SUBMATRICES]
    groups = frame.groupby(["setting", "method", "dataset"], sort=False)
    rows = []
    for (setting, method, dataset), part in sorted(
        groups, key=lambda group: (group[0][0], order[group[0][1]])
    ):
        best = part.loc[part["auc"].idxmax()]
        row = {
            "quantity": "AUC",
            "setting": setting,
            "method": method,
            "dataset": dataset,
            # a weight without a number would hide behind the best of the others
            "ours": best["auc"] if part["auc"].notna().all() else float("nan"),
            "at reg": best["reg"],
            "at reg cols": best["reg_cols"],
            "on edge": sum(best[name] in _ends(part[name]) for name in ("reg", "reg_cols")),
            "middle reg": _middle(part, "reg"),
            "middle reg cols": _middle(part, "reg_cols"),
            "best less worst": best["auc"] - part["auc"].min(),
            "source": best["source"],
        }
        if method in ("KK", "TS"):
            row["the same over the gap of the methods"] = _over_gap(
                row["best less worst"], frame, best
            )
        if setting != "A" and method in ("KK", "TS"):
            row["loss at weights of A"] = best["auc"] - _auc_at_weights_of_a(frame, best)
        key = (setting, method.rstrip("*"))
        if key in printed.index:
            paper, took = printed.loc[key, [f"auc_{dataset}", f"time_{dataset}"]]
            row |= {"paper": paper, "difference": round(row["ours"] - paper, 4)}
            if method == key[1]:
                row |= {
                    "seconds": best["seconds"],
                    "seconds of AUC over those of predictions": best["scoring_seconds"]
                    / best["seconds"],
                    **_per_pair(part),
                    "paper took": took,
                    "times faster": seconds_of(took) / (best["seconds"] + best["scoring_seconds"]),
                    "busy": disturbed(part),
                    "beyond": "beyond the paper" if pd.isna(paper) else "",
                }
        same = own_way[(own_way["setting"] == setting) & (own_way["dataset"] == dataset)]
        if method in ("KK", "TS") and len(same):
            row["by submatrices, s"] = same["seconds"].iloc[0]
            row["by submatrices is"] = _how(same)
        if method == "KK":
            row["deviation of it"] = same["deviation"].max(skipna=False) if len(same) else None
        if method == "TS":
            row["busy"] = disturbed(everything[everything["dataset"] == dataset])
            for other in (BY_SUBMATRICES, "KK"):
                seconds = took_us.get((setting, other, dataset), float("nan"))
                row[f"speed-up over {other}"] = seconds / best["seconds"]
            paper_way = (setting, "KK" if setting == "A" else BY_SUBMATRICES, dataset)
            theirs = took_us.get(paper_way, float("nan"))
            theirs += scoring.get((setting, "KK", dataset), float("nan"))
            ours = best["seconds"] + best["scoring_seconds"]
            row["the same, AUC included"] = theirs / ours
        rows.append(row)
    return pd.DataFrame(rows)


def _of_peer(frame, ours):
    """A row for each setting and data set that the library of others has predicted."""
    rows = []
    same = ours.groupby(["setting", "dataset"])
    for (setting, dataset), part in frame.groupby(["setting", "dataset"], sort=False):
        own, best = same.get_group((setting, dataset)), part.loc[part["auc"].idxmax()]
        large = (part["reg"] >= FROM) & (part["reg_cols"] >= FROM)
        deviation = part["deviation"][large].max(skipna=False)
        seconds = best["seconds"] if deviation <= SAME else np.nan
        rows.append(
            {
                "quantity": OF_PEER,
                "setting": setting,
                "method": best["method"],
                "dataset": dataset,
                "ours": best["auc"] if part["auc"].notna().all() else np.nan,
                "at reg": best["reg"],
                "at reg cols": best["reg_cols"],
                "on edge": sum(best[name] in _ends(part[name]) for name in ("reg", "reg_cols")),
                "deviation of it": deviation,
                "deviation at any weights": part["deviation"].max(skipna=False),
                "best AUC, less ours": best["auc"] - own["auc"].max(),
                "seconds": seconds,
                "seconds over ours": seconds / own["seconds"].iloc[0],
                "busy": disturbed(part) or disturbed(own),
                "source": best["source"],
            }
        )
    return pd.DataFrame(rows)


def _ends(weights):
    return (weights.min(), weights.max())


def _near_best(curve):
    return curve[curve["auc"] >= curve["auc"].max() - NEAR]


def _middle(curve, column):
    """The geometric mean of the weights that are as good as the best; NaN where there is none."""
    return np.exp(np.log(_near_best(curve)[column]).mean())


def _over_gap(less, frame, best):
    """Best less worst over the difference of the best AUCs of both methods, in the same cell."""
    cell = frame[(frame["dataset"] == best["dataset"]) & (frame["setting"] == best["setting"])]
    areas = cell[cell["method"].isin(["KK", "TS"])].groupby("method")["auc"].max()
    return less / abs(areas["KK"] - areas["TS"]) if len(areas) == 2 else np.nan


def _per_pair(part):
    """Nanoseconds of a prediction and of its share of an AUC."""
    first = part.iloc[0]
    n_predictions = len(part) * first["targets"] * first["drugs"]
    return {
        "ns of predictions a pair": 1e9 * first["seconds"] / n_predictions,
        "ns of AUC a pair": 1e9 * first["scoring_seconds"] / n_predictions,
    }


def _auc_at_weights_of_a(frame, best):
    """The best AUC of a setting at the weights that are as good as the best of setting A."""
    curve = frame[(frame["method"] == best["method"]) & (frame["dataset"] == best["dataset"])]
    weights = ["reg"] if curve["reg_cols"].isna().all() else ["reg", "reg_cols"]
    in_a = _near_best(curve[curve["setting"] == "A"])[weights]
    here = curve[curve["setting"] == best["setting"]]
    return here.merge(in_a, on=weights)["auc"].max()


def _how(own_way):
    """Whether the paper's own way was measured, or of how much of it the seconds are."""
    sampled = own_way.get("extrapolated_from", pd.Series(dtype=str)).dropna()
    return f"extrapolated from {sampled.iloc[0]}" if len(sampled) else "measured"


def seconds_of(printed: str) -> float:
    """Seconds of a printed time such as 7.81s, 2.14h or >3d."""
    return float(printed.strip(">sdh")) * SECONDS[printed[-1]]
