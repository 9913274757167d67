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
                row = {"dataset": dataset, "selection": selection, "decomposition": name}
                # The geometric mean, and where 95 % of further repetitions lie.
                row |= {"repetitions": len(logs), "rank": 2**mean}
                row |= {"from": 2 ** (mean - further), "to": 2 ** (mean + further)}
                ranks, reached = read_ranks["numerical_rank"], read_ranks["reached"]
                row |= {"lowest": reached.min(), "highest": reached.max()}
                row |= {"not reached": read_ranks["rank"].isna().sum(), "paper rank": theirs}
                # The same in logarithms, beside the printed rank and what it is rounded by.
                row |= {"doublings": mean, "±": half_width(logs)}
                row |= {"printed doublings": np.log2(theirs)}
                row |= {"half a rank": np.log2(1 + 0.5 / theirs)}
                # The full machines of all splits, and their parameters.
                error = full["error"]
                row |= {"full error": error.mean(), "largest error": error.max()}
                row |= {"gamma p": full["gamma p"].median(), "reg": full["reg"].median()}
                row |= {"on edge": full["on_edge"].sum(), "splits": len(full)}
                row |= {"selected on": full["selected on"].max(), "points": first["n_points"]}
                # How far the kernel matrix is from having a low rank.
                row |= {"numerical rank": ranks.mean()}
                row |= {"points a rank": (read_ranks["n_points"] / ranks).mean()}
                rows.append(row | {"source": first["source"]})
    return pd.DataFrame(rows)
