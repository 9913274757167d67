"""What follows from the eigenvalue decompositions of both kernels, in units of their time."""

import pandas as pd

from kronbench_suite.report.estimates import disturbed
from kronbench_suite.runner.columns import SHOWN, Columns

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
    ratios_of_clock=(
        "over the decompositions",
        "over the decompositions_low",
        "over the decompositions_high",
        "over the closed form",
    ),
)

# The least time over the most, and the reverse, are the ends of a ratio.
_ENDS = {"": "", "_low": "_high", "_high": "_low"}


def tabulate(frame, item, printed):
    """One row for each piece of work; a point of the grid is the grid over its points."""
    grid = frame[frame["step"] == "grid"]
    seconds = grid[[f"seconds{end}" for end in _ENDS]].div(grid["points"], axis=0)
    table = pd.concat([frame, grid.assign(step="one point", points=1, **seconds)])
    steps = table.set_index(["dataset", "reg"]).groupby("step")
    unit = steps.get_group("decompositions").droplevel("reg")
    closed = (
        steps["seconds"]
        .get_group("closed form")
        .reindex(pd.MultiIndex.from_frame(table[["dataset", "reg"]]))
    )
    busy = {dataset: disturbed(part) for dataset, part in table.groupby("dataset")}
    seconds, order = table["seconds"], list(_WORK)
    over_closed = (seconds / closed.to_numpy()).where(table["step"] == "iterative")
    # Seconds in units of the decompositions, or of the closed form of the same fit.
    times = {"ms": 1e3 * seconds}
    for end, other in _ENDS.items():
        decompositions = table["dataset"].map(unit[f"seconds{other}"])
        times[f"over the decompositions{end}"] = table[f"seconds{end}"] / decompositions
    table = table.assign(
        **times,
        work=table["step"].map(_WORK),
        busy=table["dataset"].map(busy),
        **{"over the closed form": over_closed},
    )
    columns = ["step", "work", "dataset", "method", "setting", "reg", *times]
    columns += ["over the closed form", "points", "iterations", "reached", "busy", "source"]
    return table[columns].sort_values(
        "step", key=lambda steps: steps.map(order.index), kind="stable"
    )
