"""Learning curves of transfer learning: a column for each data set, labels and criterion."""

import numpy as np
import pandas as pd
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
LEGEND = (
    "In brackets: what leave-one-out leaves out to choose the weights.  (A) one pair   "
    "(B) a protein   (D) a protein and a drug.\n"
    "An open ring: for most target tasks the chosen weight is an end of the grid."
)

TITLES = {"e": "(a) Enzyme dataset.", "davis": "(b) Drug-target affinity dataset."}
BESIDE = "1 and 0"


def draw(frame: pd.DataFrame, item: Item) -> Figure:
    """Means over repetitions with a band of one standard deviation; ours at the right."""
    columns = list(frame.groupby(["dataset", "labels", "criterion"], sort=False))
    columns.sort(key=lambda column: column[0][1] == BESIDE)
    size = {"width": 2.4 * len(columns) + 1.4, "height": 2.05}
    figure, axes = new_figure(len(ROWS), len(columns), **size, sharex="col")
    for col, ((dataset, labels, criterion), part) in enumerate(columns):
        marks = {"marker": "."} if labels == BESIDE else {}
        (measure,) = part["measure"].unique()
        for row, (title, approaches) in enumerate(ROWS):
            _draw_scores(axes[row, col], part, approaches, marks)
            axes[row, col].set_ylabel(f"{title}\n{measure}" if col == 0 else measure)
        title = "ours: (a), labels 1 and 0" if labels == BESIDE else TITLES[dataset]
        title += f"\nchosen by {criterion}\nrepetitions: {part['repetition'].nunique()}"
        axes[0, col].set_title(title, fontsize=8)
        axes[-1, col].set_xlabel("training proteins")
    for dataset in frame["dataset"].unique():
        own = axes[:, [key[0] == dataset for key, _ in columns]]
        limits = np.array([panel.get_ylim() for panel in own.flat])
        for panel in own.flat:
            panel.set_ylim(limits[:, 0].min(), limits[:, 1].max())
    place = {"loc": "outside lower center", "ncols": 3}
    shared_legend(figure, axes, **place, title=LEGEND, title_fontsize=8)
    return figure


def _draw_scores(panel, part, approaches, marks):
    curves = part.groupby(["approach", "method", "selection"])
    for key, (label, look) in LOOKS.items():
        if key[0] not in approaches or key not in curves.groups:
            continue
        curve = curves.get_group(key).groupby("size")
        scores = curve["score"].agg(["mean", "std"])
        low, high = scores["mean"] - scores["std"], scores["mean"] + scores["std"]
        panel.plot(scores.index, scores["mean"], label=label, **look, **marks)
        panel.fill_between(scores.index, low, high, color=look["color"], alpha=0.12, lw=0)
        # rings where most repetitions chose an end of the grid
        ringed = scores["mean"][curve["on_edge"].mean() >= 0.5]
        panel.plot(ringed.index, ringed, "o", ms=4, mfc="none", mec=look["color"], mew=0.8)
    panel.axhline(0.5, color="0.6", lw=0.8, ls=":")
