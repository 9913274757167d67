"""Accuracy of each method beside the printed one."""

from kronbench_suite.runner.columns import SHOWN, Columns

COLUMNS = SHOWN | Columns(
    key=("method",),
)


def tabulate(frame, item, printed):
    """One row for each method."""
    return frame[["dataset", "method", "accuracy", "source"]].merge(printed, on="method")
