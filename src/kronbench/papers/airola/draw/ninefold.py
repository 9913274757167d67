"""The blocks of the ninefold split, with the pairs counted in each."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kronbench.report.style import ROLES, new_figure
from kronbench.runner.items import Item


def draw(frame: pd.DataFrame, item: Item) -> Figure:
    """One round: the test block, its four training blocks, and the four that stay unused.

    Rows are start vertices and columns end vertices (Airola & Pahikkala, figure 2).
    """
    figure, axes = new_figure(1, 1, width=3.6, height=3.9)
    axes = axes[0, 0]
    row_edges = _edges(frame, "row_fold", "row")
    column_edges = _edges(frame, "col_fold", "col")
    for (row_fold, col_fold), block in frame.groupby(["row_fold", "col_fold"]):
        left, right = column_edges[col_fold]
        low, high = row_edges[row_fold]
        (role,) = block["role"].unique()
        axes.add_patch(
            Rectangle(
                (left, low),
                right - left,
                high - low,
                fc=ROLES[role],
                alpha=0.45,
                ec="white",
                lw=2,
            )
        )
        axes.text(
            (left + right) / 2,
            (low + high) / 2,
            f"{role}\n{len(block)} pairs\n{(block['label'] > 0).sum()} positive",
            ha="center",
            va="center",
            fontsize=7,
        )
    axes.set_xlim(0, max(right for _, right in column_edges.values()))
    axes.set_ylim(max(high for _, high in row_edges.values()), 0)
    axes.set_xlabel("end vertices (targets), by fold")
    axes.set_ylabel("start vertices (drugs), by fold")
    axes.grid(False)
    return figure


def _edges(frame, fold, position):
    """First and one past the last position of each fold."""
    spans = frame.groupby(fold)[position].agg(["min", "max"])
    return {name: (span["min"], span["max"] + 1) for name, span in spans.iterrows()}
