"""Learning curves of transfer learning: a column for each data set, labels and criterion."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kronbench.report.style import new_figure, shared_legend
from kronbench.runner.items import Item

# Curves keep their look in all panels: (approach, method, selection) -> label and style.
LOOKS = {
    ("independent-task", "IT", "A"): ("independent-task", {"color": "C0"}),
    ("almost zero-shot", "TS", "A"): ("almost zero-shot, two-step (A)", {"color": "C4"}),
    ("multi-task", "KK", "A"): ("multi-task, Kronecker (A)", {"color": "C1"}),
    ("multi-task", "TS", "A"): ("multi-task, two-step (A)", {"color": "C2"}),
    ("multi-task", "TS", "B"): ("multi-task, two-step (B)", {"color": "C3"}),
    **{
        (approach, method, selection): (label, {"color": color, "ls": style})
        for approach in ("zero-shot", "full zero-shot")
        for method, selection, label, color, style in (
            ("KK", "A", "zero-shot, Kronecker (A)", "C1", "--"),
            ("KK", "D", "zero-shot, Kronecker (D), ours", "C5", "--"),
            ("TS", "A", "zero-shot, two-step (A)", "C2", (0, (5, 3))),
            ("TS", "D", "zero-shot, two-step (D)", "C6", (4, (5, 3))),
        )
    },
}
ROWS = (
    ("target data increased", ("independent-task", "almost zero-shot", "full zero-shot")),
    ("target and auxiliary\ndata increased", ("independent-task", "multi-task")),
    ("auxiliary data increased", ("zero-shot",)),
)
WEIGHTS = (
    ("reg", r"chosen $\lambda$, $\lambda_d$" + "\n(proteins)", ("multi-task", "zero-shot")),
    ("reg_cols", r"chosen $\lambda_t$" + "\n(drugs)", ("multi-task", "zero-shot")),
)
LEGEND = (
    "In brackets: what leave-one-out leaves out to choose the weights.  (A) one pair   "
    "(B) a protein   (D) a protein and a drug.\n"
    "An open ring: for most target tasks the chosen weight is an end of the grid."
)

TITLES = {"e": "(a) Enzyme dataset.", "davis": "(b) Drug-target affinity dataset."}
BESIDE = "1 and 0"


def draw(frame: pd.DataFrame, item: Item) -> Figure:
    """Means over repetitions with a band of one standard deviation (Stock et al. 2016, figure 7).

    In the top row the auxiliary tasks have labels for all proteins: zero-shot learning is level.
    The two rows at the bottom have the weights that were chosen, the median over repetitions.
    Columns of ours with labels 1 and 0 stand at the right, with the axis of the data set.
    """
    columns = list(frame.groupby(["dataset", "labels", "criterion"], sort=False).groups)
    columns.sort(key=lambda column: column[1] == BESIDE)
    n_scores = len(ROWS)
    figure, axes = new_figure(
        n_scores + len(WEIGHTS), len(columns), width=2.4 * len(columns) + 1.4, height=2.05,
        sharex="col",
    )  # fmt: skip
    for col, (dataset, labels, criterion) in enumerate(columns):
        part = frame[
            (frame["dataset"] == dataset)
            & (frame["labels"] == labels)
            & (frame["criterion"] == criterion)
        ]
        marks = {"marker": "."} if labels == BESIDE else {}
        (measure,) = part["measure"].unique()
        for row, (title, approaches) in enumerate(ROWS):
            _draw_scores(axes[row, col], part, approaches, marks)
            axes[row, col].set_ylabel(f"{title}\n{measure}" if col == 0 else measure)
        for row, (column, title, approaches) in enumerate(WEIGHTS, n_scores):
            _draw_weights(axes[row, col], part, column, approaches)
            axes[row, col].set_ylabel(title if col == 0 else "")
        title = "ours: (a), labels 1 and 0" if labels == BESIDE else TITLES[dataset]
        axes[0, col].set_title(
            f"{title}\nchosen by {criterion}\nrepetitions: {part['repetition'].nunique()}",
            fontsize=8,
        )
        axes[-1, col].set_xlabel("training proteins")
    for dataset in frame["dataset"].unique():
        own = [col for col, column in enumerate(columns) if column[0] == dataset]
        _same_limits(axes[:n_scores, own])
    _same_limits(axes[n_scores:])
    shared_legend(
        figure, axes, loc="outside lower center", ncols=3, title=LEGEND, title_fontsize=8
    )
    return figure


def _draw_scores(panel: Axes, part: pd.DataFrame, approaches: tuple, marks: dict) -> None:
    for curve, label, look in _curves(part, approaches):
        scores = curve["score"].agg(["mean", "std"])
        low, high = scores["mean"] - scores["std"], scores["mean"] + scores["std"]
        panel.plot(scores.index, scores["mean"], label=label, **look, **marks)
        panel.fill_between(scores.index, low, high, color=look["color"], alpha=0.12, lw=0)
        _ring(panel, curve, scores["mean"], look)
    panel.axhline(0.5, color="0.6", lw=0.8, ls=":")


def _draw_weights(panel: Axes, part: pd.DataFrame, column: str, approaches: tuple) -> None:
    for curve, _, look in _curves(part, approaches):
        chosen = curve[column].median()
        if chosen.notna().all():
            panel.plot(chosen.index, chosen, lw=1, **look)
            _ring(panel, curve, chosen, look)
    panel.set_yscale("log")


def _curves(part, approaches):
    """Yield the rows by size, the label and the look of each curve that was measured."""
    curves = part.groupby(["approach", "method", "selection"])
    for key, (label, look) in LOOKS.items():
        if key[0] in approaches and key in curves.groups:
            yield curves.get_group(key).groupby("size"), label, look


def _ring(panel, curve, heights, look):
    """Rings where most repetitions chose an end of the grid."""
    on_edge = curve["on_edge"].mean() >= 0.5
    at = heights[on_edge]
    panel.plot(at.index, at, "o", ms=4, mfc="none", mec=look["color"], mew=0.8)


def _same_limits(axes):
    limits = np.array([panel.get_ylim() for panel in axes.flat])
    for panel in axes.flat:
        panel.set_ylim(limits[:, 0].min(), limits[:, 1].max())
