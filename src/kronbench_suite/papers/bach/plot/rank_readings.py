"""All readings of section 6.3 of Bach & Jordan, and how near each comes to the printed ranks."""

from itertools import product

import numpy as np
import pandas as pd

from kronbench.intervals import half_width
from kronbench_suite.papers.bach.plot.minimal_rank import apart, of_reading, reached

_READING = ["selection", "bound", "stop"]


def tabulate(frame, item, printed):
    """For each reading one row over the data sets that have every selection, and one for each."""
    known, repeated = frame.dropna(subset=["bound"]), "repetition" in frame
    has = known.groupby("dataset")["selection"].nunique()
    complete = has.index[has == has.max()]
    printed = printed.set_index("key")
    rows = []
    for reading in product(*(known[name].unique() for name in _READING)):
        named = dict(zip(_READING, reading, strict=True))
        for dataset, measured in frame.groupby("dataset", sort=False):
            groups = measured.groupby("repetition") if repeated else [("", measured)]
            read = [of_reading(part, **named) for _, part in groups]
            if not read[0][1].empty:
                source = {"dataset": dataset, "source": measured["source"].iloc[0]}
                found = [_row(ranks, full, printed.loc[dataset]) for ranks, full in read]
                means = pd.DataFrame(found).mean().to_dict() if repeated else found[0]
                rows.append(named | source | {"line": "data set"} | means)
    single = pd.DataFrame(rows)
    # one row for each reading, nearest first
    summed = ["ranks", "within two", "not reached", "splits", "on edge"]
    summed += ["squares", "squares, Cholesky", "squares, CSI"]
    groups = single[single["dataset"].isin(complete)].groupby(_READING, sort=False)
    table = groups[summed].sum().sort_values("squares", kind="stable")
    squares = {reading: group.set_index("dataset")["squares"] for reading, group in groups}
    more = [squares[reading] - squares[table.index[0]] for reading in table.index]
    table["more than nearest"] = [each.sum() for each in more]
    table["± of more"] = [len(each) * half_width(each) for each in more]
    table["level"] = (table["more than nearest"] <= table["± of more"]).astype(int)
    source = single.loc[single["dataset"].isin(complete), "source"].iloc[0]
    nearest_first = table.reset_index().assign(dataset="all", line="reading", source=source)
    table = pd.concat([nearest_first, single], ignore_index=True)
    whole = ["paper Cholesky", "paper CSI", "level", *([] if repeated else ["Cholesky", "CSI"])]
    return table.astype(dict.fromkeys(whole, "Int64"))


def _row(ranks, full, paper):
    row = {"ranks": 2, "splits": len(full), "on edge": full["on_edge"].sum()}
    row |= {"full error": full["error"].mean()}
    row |= {name: full[name].median() for name in ("gamma p", "reg")}
    factors = []
    for name, key in {"Cholesky": "cholesky", "CSI": "csi"}.items():
        theirs = paper[f"rank_{key}"]
        factors.append(apart(reached(ranks.loc[key]), theirs))
        row |= {name: ranks.loc[key, "rank"], f"paper {name}": theirs}
        row |= {f"squares, {name}": np.log(factors[-1]) ** 2}
    row["squares"] = row["squares, Cholesky"] + row["squares, CSI"]
    row["within two"] = sum(factor <= 2 for factor in factors)
    row["not reached"] = ranks.loc[["cholesky", "csi"], "rank"].isna().sum()
    return row
