"""Best leave-one-out AUC over the grid and its running time, beside the printed ones."""

import pandas as pd

from kronbench.report.fits import disturbed

SECONDS = {"s": 1.0, "h": 3600.0, "d": 86400.0}
CHARACTERISTICS = {
    "targets": "targets",
    "drugs": "drugs",
    "interactions_percent": "interactions, %",
    "median_degree_targets": "median degree of targets",
    "median_degree_drugs": "median degree of drugs",
}
COLUMNS = [
    *("quantity", "setting", "method", "dataset", "ours", "paper", "difference"),
    *("at reg", "at reg cols", "seconds", "paper took", "times faster", "by submatrices, s"),
    *("deviation of it", "speed-up over KK by submatrices", "speed-up over KK", "beyond"),
    *("busy", "source"),
]
BY_SUBMATRICES = "KK by submatrices"


def tabulate(frame, item, printed):
    """The characteristics of each data set, then one row for each setting, method and data set.

    ``seconds`` is the running time of all predictions of the grid, AUC not included; ``paper
    took`` the printed one, which includes it, so that ``times faster`` compares it with ours and
    AUC together. ``by submatrices`` is the time of the paper's own way to leave out rows and
    columns with Kronecker ridge regression. ``*`` marks numbers that are no leave-one-out
    predictions, ``beyond`` a cell that the paper left empty (Stock et al. 2016, table 6.1).
    """
    datasets, performance = printed
    parts = [_characteristics(frame, datasets), _performance(frame, performance)]
    return pd.concat(parts, ignore_index=True)[COLUMNS]


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
    took_us = frame.groupby(["setting", "method", "dataset"])[["seconds"]].first()["seconds"]
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
            "source": best["source"],
        }
        key = (setting, method.rstrip("*"))
        if key in printed.index:
            paper, took = printed.loc[key, [f"auc_{dataset}", f"time_{dataset}"]]
            row |= {"paper": paper, "difference": round(row["ours"] - paper, 4)}
            if method == key[1]:
                row |= {
                    "seconds": best["seconds"],
                    "paper took": took,
                    "times faster": _seconds(took) / (best["seconds"] + best["scoring_seconds"]),
                    "busy": disturbed(part),
                    "beyond": "beyond the paper" if pd.isna(paper) else "",
                }
        if method in ("KK", "TS"):
            row["by submatrices, s"] = took_us.get((setting, BY_SUBMATRICES, dataset))
        if method == "KK":
            same = own_way[(own_way["setting"] == setting) & (own_way["dataset"] == dataset)]
            row["deviation of it"] = same["deviation"].max(skipna=False) if len(same) else None
        if method == "TS":
            row["busy"] = disturbed(everything[everything["dataset"] == dataset])
            for other in (BY_SUBMATRICES, "KK"):
                seconds = took_us.get((setting, other, dataset), float("nan"))
                row[f"speed-up over {other}"] = seconds / best["seconds"]
        rows.append(row)
    return pd.DataFrame(rows)


def _seconds(printed):
    """Seconds of a printed time such as 7.81s, 2.14h or >3d."""
    return float(printed.strip(">sdh")) * SECONDS[printed[-1]]
