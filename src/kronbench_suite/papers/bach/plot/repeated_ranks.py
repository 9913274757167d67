"""Smallest ranks over several draws of the ten splits, beside the printed ones."""

import numpy as np
import pandas as pd

from kronbench.intervals import half_width, interval_factor


def tabulate(frame, item, printed):
    """One row for each data set, selection and decomposition, in the printed order.

    Logarithms of ranks, of base 2, are ``doublings`` with half the width ``±`` of the interval of
    their mean; ``half a rank`` is that of the printed one.
    """
    printed, options = printed.set_index("key"), item.plot_options
    rows = []
    for dataset in printed.index.intersection(frame["dataset"]):
        of_dataset = frame[frame["dataset"] == dataset]
        for selection, measured in of_dataset.groupby("selection", sort=False):
            full = measured[measured["decomposition"] == "full"]
            read = (measured["bound"] == options["bound"]) & (measured["stop"] == options["stop"])
            for key, name in {"cholesky": "Cholesky", "csi": "CSI"}.items():
                of_draws = measured[read & (measured["decomposition"] == key)]
                logs, first = of_draws["doublings"], of_draws.iloc[0]
                mean, theirs = logs.mean(), printed.loc[dataset, f"rank_{key}"]
                several = len(logs) > 1
                further = interval_factor(len(logs), 1.0) * logs.std() if several else np.nan
                row = {
                    "dataset": dataset,
                    "selection": selection,
                    "decomposition": name,
                    "draws": len(logs),
                    "rank": 2**mean,
                    "from": 2 ** (mean - further),
                    "to": 2 ** (mean + further),
                    "lowest": of_draws["reached"].min(),
                    "highest": of_draws["reached"].max(),
                    "not reached": of_draws["rank"].isna().sum(),
                    "paper rank": theirs,
                    "doublings": mean,
                    "±": half_width(logs),
                    "printed doublings": np.log2(theirs),
                    "half a rank": np.log2(1 + 0.5 / theirs),
                    "full error": full["error"].mean(),
                    "largest error": full["error"].max(),
                    "gamma p": full["gamma p"].median(),
                    "reg": full["reg"].median(),
                    "on edge": full["on_edge"].sum(),
                    "splits": len(full),
                    "selected on": full["selected on"].max(),
                    "points": first["n_points"],
                    "numerical rank": of_draws["numerical_rank"].mean(),
                    "points a rank": (of_draws["n_points"] / of_draws["numerical_rank"]).mean(),
                    "source": first["source"],
                }
                rows.append(row)
    return pd.DataFrame(rows)
