"""All readings of section 6.3 of Bach & Jordan, and how near each comes to the printed ranks."""

from itertools import product

import numpy as np
import pandas as pd

from kronbench.intervals import half_width
from kronbench.papers.bach.draw.minimal_rank import apart, of_reading, reached
from kronbench.runner.columns import SHOWN, Columns
from kronbench.runner.items import Item

COLUMNS = SHOWN | Columns(
    key=("selection", "bound", "stop"),
    counts=(
        *("ranks", "within two", "not reached", "splits", "on edge", "level"),
        *("Cholesky", "CSI", "paper Cholesky", "paper CSI"),
    ),
    numbers=(
        *("squares", "squares, Cholesky", "squares, CSI", "more than nearest", "± of more"),
        *("full error", "gamma p", "reg"),
    ),
    texts=("line",),
    values={"dataset": ("all",), "line": ("reading", "data set")},
)


def tabulate(frame: pd.DataFrame, item: Item, printed: pd.DataFrame) -> pd.DataFrame:
    """For each reading one row over the data sets that have every selection, and one for each.

    "squares" are sums of squared natural logarithms of our rank over the printed one; a rank
    that none up to the largest tried is counts as one more than that ("not reached"). "within
    two" counts the ranks within a factor of two of the printed ones. "more than nearest" is the
    sum of squares beyond that of the nearest reading, with the half-width of its 95 % interval
    over the data sets, and "level" says whether that reaches to zero. "on edge" counts the
    splits whose selected parameters lie at an end of their grid; "gamma p" and "reg" are medians
    over splits.
    """
    known = frame.dropna(subset=["bound"])
    keys = ["selection", "bound", "stop"]
    readings = product(*(known[name].unique() for name in keys))
    has = known.groupby("dataset")["selection"].nunique()
    complete = has.index[has == has.max()]
    rows = []
    for reading in readings:
        named = dict(zip(keys, reading, strict=True))
        for dataset, measured in frame.groupby("dataset", sort=False):
            ranks, full = of_reading(measured, **named)
            if full.empty:
                continue
            paper = printed[printed["key"] == dataset].iloc[0]
            pairs = {
                name: (ranks.loc[key], paper[f"rank_{key}"])
                for name, key in {"Cholesky": "cholesky", "CSI": "csi"}.items()
            }
            factors = {
                name: apart(reached(ours), theirs) for name, (ours, theirs) in pairs.items()
            }
            row = named | {
                "dataset": dataset,
                "line": "data set",
                "ranks": 2,
                "source": measured["source"].iloc[0],
            }
            row |= {"splits": len(full), "on edge": full["on_edge"].sum()}
            row |= {"full error": full["error"].mean()}
            row |= {name: full[name].median() for name in ("gamma p", "reg")}
            for name, (ours, theirs) in pairs.items():
                row |= {name: ours["rank"], f"paper {name}": theirs}
                row |= {f"squares, {name}": np.log(factors[name]) ** 2}
            row["squares"] = sum(row[f"squares, {name}"] for name in pairs)
            row["within two"] = sum(factor <= 2 for factor in factors.values())
            row["not reached"] = sum(np.isnan(ours["rank"]) for ours, _ in pairs.values())
            rows.append(row)
    single = pd.DataFrame(rows)
    summed = _of_all(single[single["dataset"].isin(complete)])
    table = pd.concat([summed, single], ignore_index=True)
    counts = [name for name in COLUMNS.counts if name in table]
    return table.astype(dict.fromkeys(counts, "Int64"))


def _of_all(single):
    """One row for each reading, nearest first."""
    keys = ["selection", "bound", "stop"]
    summed = ["ranks", "within two", "not reached", "splits", "on edge"]
    summed += ["squares", "squares, Cholesky", "squares, CSI"]
    groups = single.groupby(keys, sort=False)
    table = groups[summed].sum().sort_values("squares", kind="stable")
    squares = {reading: group.set_index("dataset")["squares"] for reading, group in groups}
    nearest = squares[table.index[0]]
    more = {reading: distances - nearest for reading, distances in squares.items()}
    table["more than nearest"] = [more[reading].sum() for reading in table.index]
    table["± of more"] = [len(nearest) * half_width(more[reading]) for reading in table.index]
    table["level"] = (table["more than nearest"] <= table["± of more"]).astype(int)
    return table.reset_index().assign(
        dataset="all", line="reading", source=single["source"].iloc[0]
    )
