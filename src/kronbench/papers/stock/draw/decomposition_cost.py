"""What follows from the eigenvalue decompositions of both kernels, in units of their time."""

import pandas as pd

from kronbench.report.estimates import disturbed
from kronbench.runner.columns import SHOWN, Columns, Parameter
from kronbench.runner.items import Item

_WORK = {
    "decompositions": "eigenvalue decompositions of K and G",
    "another weight": "dual coefficients at another weight",
    "one point": "left-out predictions at one point of the grid",
    "grid": "left-out predictions of the whole grid",
    "closed form": "Kronecker regression, all pairs, closed form",
    "iterative": "Kronecker regression, pairs missing, MINRES",
}

COLUMNS = SHOWN | Columns(
    key=("step", "method", "setting", "reg"),
    clock=("ms",),
    ratios_of_clock=("over the decompositions", "over the closed form"),
    counts=("points", "iterations"),
    numbers=("deviation", "reached"),
    texts=("work",),
    values={
        "step": (
            *("decompositions", "another weight", "one point", "grid"),
            *("closed form", "iterative"),
        ),
        "method": ("IT", "KK", "TS"),
        "setting": ("A", "B", "C", "D"),
        "reg": (Parameter(("regs",)),),
    },
)


def tabulate(frame: pd.DataFrame, item: Item, printed: None) -> pd.DataFrame:
    """One row for each piece of work; a point of the grid is the grid over its points."""
    rows = []
    for dataset, part in frame.groupby("dataset", sort=False):
        unit = part.loc[part["step"] == "decompositions", "seconds"].item()
        closed = part[part["step"] == "closed form"].set_index("reg")["seconds"]
        for measured in part.to_dict("records"):
            names = [measured["step"]] + ["one point"] * (measured["step"] == "grid")
            for step in names:
                points = measured["points"] if step == "one point" else 1
                seconds = measured["seconds"] / points
                rows.append(
                    {
                        "step": step,
                        "work": _WORK[step],
                        "dataset": dataset,
                        **{name: measured[name] for name in ("method", "setting", "reg")},
                        "ms": 1e3 * seconds,
                        "over the decompositions": seconds / unit,
                        "points": measured["points"] / points,
                        "iterations": measured["iterations"],
                        "reached": measured["reached"],
                        "deviation": measured["deviation"],
                        "over the closed form": seconds / closed[measured["reg"]]
                        if step == "iterative"
                        else float("nan"),
                        "busy": disturbed(part),
                        "source": measured["source"],
                    }
                )
    order = {step: place for place, step in enumerate(_WORK)}
    return pd.DataFrame(rows).sort_values(
        ["step", "dataset"], key=lambda names: names.map(order).fillna(0), kind="stable"
    )
