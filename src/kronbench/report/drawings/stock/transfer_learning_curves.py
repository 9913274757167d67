"""Learning curves of transfer learning: three rows, a column for each data set and labels."""

import pandas as pd
from matplotlib.figure import Figure

from kronbench.bench.items import Item
from kronbench.report.style import new_figure, shared_legend

# Curves keep their look in all panels: (approach, method, selection) -> label and style.
LOOKS = {
    ("independent-task", "IT", "A"): ("independent-task", {"color": "C0"}),
    ("almost zero-shot", "TS", "A"): ("almost zero-shot, two-step", {"color": "C4"}),
    ("multi-task", "KK", "A"): ("multi-task, Kronecker (A)", {"color": "C1"}),
    ("multi-task", "TS", "A"): ("multi-task, two-step (A)", {"color": "C2"}),
    ("multi-task", "TS", "B"): ("multi-task, two-step (B)", {"color": "C3"}),
    **{
        (approach, method, selection): (label, {"color": color, "ls": style})
        for approach in ("zero-shot", "full zero-shot")
        for method, selection, label, color, style in (
            ("KK", "A", "zero-shot, Kronecker (A)", "C1", "--"),
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


TITLES = {"e": "(a) Enzyme dataset.", "davis": "(b) Drug-target affinity dataset."}
BESIDE = "1 and 0"


def draw(frame: pd.DataFrame, item: Item) -> Figure:
    """Means over repetitions with a band of one standard deviation (Stock et al. 2016, figure 7).

    In the top row the auxiliary tasks have labels for all proteins: zero-shot learning is level.
    Columns of ours with labels 1 and 0 stand at the right, with the axis of the data set.
    """
    columns = list(frame.groupby(["dataset", "labels"], sort=False).groups)
    columns.sort(key=lambda column: column[1] == BESIDE)
    figure, axes = new_figure(
        3, len(columns), width=2.7 * len(columns) + 1.9, height=2.1, sharex="col", sharey="col"
    )
    for col, (dataset, labels) in enumerate(columns):
        part = frame[(frame["dataset"] == dataset) & (frame["labels"] == labels)]
        for row, (title, approaches) in enumerate(ROWS):
            panel = axes[row, col]
            _draw_panel(panel, part, approaches, {"marker": "."} if labels == BESIDE else {})
            (measure,) = part["measure"].unique()
            panel.set_ylabel(f"{title}\n{measure}" if col == 0 else measure)
        title = "ours: (a) with labels 1 and 0" if labels == BESIDE else TITLES[dataset]
        axes[0, col].set_title(f"{title}\nrepetitions: {part['repetition'].nunique()}", fontsize=8)
        axes[-1, col].set_xlabel("training proteins")
        if labels == BESIDE:
            twin = axes[0, columns.index((dataset, "rescaled"))]
            limits = [*twin.get_ylim(), *axes[0, col].get_ylim()]
            for each in (twin, axes[0, col]):
                each.set_ylim(min(limits), max(limits))
    shared_legend(figure, axes, loc="outside lower center", ncols=3)
    return figure


def _draw_panel(panel, part, approaches, marks):
    curves = part.groupby(["approach", "method", "selection"])
    for key, (label, look) in LOOKS.items():
        if key[0] not in approaches:
            continue
        curve = curves.get_group(key).groupby("size")["score"].agg(["mean", "std"])
        low, high = curve["mean"] - curve["std"], curve["mean"] + curve["std"]
        panel.plot(curve.index, curve["mean"], label=label, **look, **marks)
        panel.fill_between(curve.index, low, high, color=look["color"], alpha=0.12, lw=0)
    panel.axhline(0.5, color="0.6", lw=0.8, ls=":")
