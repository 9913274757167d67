"""Curves of the test error by rank and by kernel columns that were read."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kronbench.intervals import half_width
from kronbench.papers.rivals.draw import low_rank_table
from kronbench.report.style import log_ticks, new_figure, rests_on, shared_legend
from kronbench.runner.items import Item

_LOOKS = {
    "CSI": {"color": "C0", "marker": "o"},
    "RPCholesky": {"color": "C1", "marker": "s"},
    "greedy": {"color": "C2", "marker": "^", "ls": "--"},
    "uniform": {"color": "C3", "marker": "v", "ls": ":"},
}
_NAMES = {"rank": "rank of the factor", "budget": "kernel columns read"}


def draw(frame: pd.DataFrame, item: Item) -> Figure:
    """Errors beyond that of the full kernel, a mean over all data sets, then of some data sets.

    Above by rank, below by columns read; what follows stands above.
    """
    shown = [name for name in item.drawing_options["shown"] if name in set(frame["dataset"])]
    width = max(7.2, 2.3 * (1 + len(shown)))
    figure, axes = new_figure(2, 1 + len(shown), width=width, height=2.2)
    figure.suptitle(_said(low_rank_table.tabulate(frame, item, None)), fontsize=7.5)
    for row, column in zip(axes, _NAMES, strict=True):
        _mean_of_all(row[0], frame, column)
        row[0].set_title(f"mean of {frame['dataset'].nunique()} data sets")
        for panel, dataset in zip(row[1:], shown, strict=True):
            _of_dataset(panel, frame[frame["dataset"] == dataset], column)
            panel.set_title(dataset)
        for panel in row:
            panel.set_xscale("log")
            panel.set_xlabel(_NAMES[column])
            log_ticks(panel.xaxis)
        row[0].set_ylabel("error − full kernel's")
    shared_legend(figure, axes, loc="outside lower center", ncols=5)
    return figure


def _said(words):
    """A line for each rank and number of columns."""
    words = words[words["line"] == "in words"].drop_duplicates(["equal", "at"])
    lines = words[["equal", "at", "what follows"]].itertuples(index=False)
    return "\n".join(f"{equal} {at}, {text}" for equal, at, text in lines)


def _mean_of_all(panel, frame, column):
    """Means over data sets, each of which counts once."""
    full = frame[frame["pivots"] == "full kernel"].groupby("dataset")["error"].mean()
    for pivots, look in _LOOKS.items():
        rows = frame[frame["pivots"] == pivots]
        errors = rows.groupby([column, "dataset"])["error"].mean().unstack("dataset")
        curve = (errors - full).mean(axis=1)
        panel.plot(curve.index, curve, label=pivots, ms=3, **look)
    panel.axhline(0, color="0.5", lw=0.8, label="full kernel")


def _of_dataset(panel, frame, column):
    rests_on(panel, frame["dataset"].iloc[0])
    full, highest = frame.loc[frame["pivots"] == "full kernel", "error"].mean(), 0.0
    for pivots, look in _LOOKS.items():
        rows = frame[frame["pivots"] == pivots]
        errors = rows.groupby([column, "split"])["error"].mean().unstack("split")
        half = errors.apply(half_width, axis=1, args=(low_rank_table.TEST_OVER_TRAIN,)).fillna(0)
        mean = errors.mean(axis=1)
        panel.plot(mean.index, mean, label=pivots, ms=3, **look)
        highest = max(highest, mean.max())
        band = np.maximum(mean - half, 0), mean + half
        panel.fill_between(mean.index, *band, color=look["color"], alpha=0.1, lw=0)
    panel.axhline(full, color="0.5", lw=0.8, label="full kernel")
    panel.set_ylim(0, 1.3 * max(highest, full))
