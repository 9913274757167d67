"""Mean AUC of each method, beside the printed values."""

import pandas as pd

from kronbench.intervals import half_width
from kronbench.runner.columns import SHOWN, Columns, Parameter
from kronbench.runner.items import Item

# The ninefold split tests on one block and trains on four.
TEST_OVER_TRAIN = 0.25

COLUMNS = SHOWN | Columns(
    key=("method",),
    counts=("test sets", "on edge"),
    numbers=("ours", "paper", "difference", "spread", "±"),
    texts=("chosen", "scored by"),
    values={"method": (Parameter(("methods",)),)},
)


def tabulate(frame: pd.DataFrame, item: Item, printed: pd.DataFrame) -> pd.DataFrame:
    """One row for each data set and method.

    ``spread`` is the standard deviation over test sets, ``±`` half the width of the 95 % interval
    of the mean, corrected for folds that share training pairs; that of a checkerboard is one over
    test boards, of a model that was trained once. ``chosen`` is the range of the
    selected values, and ``on edge`` the number of test sets whose value is the first or last of
    its grid.
    """
    printed = printed.set_index("method")
    rows = []
    for (dataset, method), part in frame.groupby(["dataset", "method"], sort=False):
        paper = printed_number(printed, method, dataset)
        rows.append(
            {
                "dataset": dataset,
                "method": method,
                "ours": part["auc"].mean(skipna=False),
                "paper": paper,
                "difference": part["auc"].mean(skipna=False) - paper,
                "spread": part["auc"].std(),
                "±": half_width(part["auc"], TEST_OVER_TRAIN * part["cross_validated"].all()),
                "test sets": len(part),
                "chosen": _chosen(part),
                "on edge": part["on_edge"].sum(min_count=1),
                "scored by": ", ".join(part["scored_by"].dropna().unique()),
                "source": part["source"].iloc[0],
            }
        )
    return pd.DataFrame(rows)


def printed_number(printed: pd.DataFrame, method: str, dataset: str) -> float:
    """The paper's number of a method; "KronSVM, ours" stands beside the paper's KronSVM."""
    twin = method.removesuffix(", ours")
    known = twin in printed.index and dataset in printed.columns
    return float(printed.loc[twin, dataset]) if known else float("nan")


def _chosen(part):
    """The range of the selected parameter; empty where nothing was selected."""
    selected = part[["reg", "n_neighbors"]].dropna(axis=1, how="all")
    if selected.empty or not len(selected.columns):
        return ""
    values = selected.iloc[:, 0]
    low, high = values.min(), values.max()
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
