"""Accuracy of each method beside the printed one."""

from kronbench.runner.columns import SHOWN, Columns, Parameter

COLUMNS = SHOWN | Columns(
    key=("method",),
    numbers=("accuracy", "paper accuracy"),
    values={"method": (Parameter(("methods",)),)},
)


def tabulate(frame, item, printed):
    """One row for each method."""
    return frame[["dataset", "method", "accuracy", "source"]].merge(printed, on="method")
