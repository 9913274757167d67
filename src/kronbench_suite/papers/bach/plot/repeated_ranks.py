"""Smallest ranks over several repetitions with other splits, beside the printed ones."""

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
                read_ranks = measured[read & (measured["decomposition"] == key)]
                logs, first = read_ranks["doublings"], read_ranks.iloc[0]
                mean, theirs = logs.mean(), printed.loc[dataset, f"rank_{key}"]
                several = len(logs) > 1
                further = interval_factor(len(logs), 1.0) * logs.std() if several else np.nan
                row = {
                    "dataset": dataset,
                    "selection": selection,
                    "decomposition": name,
                    "repetitions": len(logs),
                    "rank": 2**mean,
                    "from": 2 ** (mean - further),
                    "to": 2 ** (mean + further),
                    "lowest": read_ranks["reached"].min(),
                    "highest": read_ranks["reached"].max(),
                    "not reached": read_ranks["rank"].isna().sum(),
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
                    "numerical rank": read_ranks["numerical_rank"].mean(),
                    "points a rank": (
                        read_ranks["n_points"] / read_ranks["numerical_rank"]
                    ).mean(),
                    "source": first["source"],
                }
                rows.append(row)
    return pd.DataFrame(rows)
