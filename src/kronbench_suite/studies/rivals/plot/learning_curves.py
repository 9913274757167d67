"""Scores by the number of training pairs, a panel for each data set and setting."""

import pandas as pd

from kronbench_suite.report.style import log_ticks, new_figure, shared_legend
from kronbench_suite.runner.columns import SHOWN, Columns
from kronbench_suite.studies.rivals.plot.board_scores import COLOURS, KERNELS
from kronbench_suite.studies.rivals.plot.comparisons import TITLES

COLUMNS = SHOWN | Columns(key=("setting", "method", "n_train"))

_SHOWN = ["dataset", "source", "setting", "method", "n_train", "measure", "mean", "±"]


def tabulate(frame, item, printed):
    """The points of the curves: those of some pairs, and from the board those of all pairs."""
    keys = ["dataset", "setting", "method"]
    curves = frame[frame["of"] == "rivals/table-4"]
    board = frame[(frame["of"] == "rivals/table-1") & (frame["main"] == 1)]
    ends = board.merge(curves[keys].drop_duplicates())
    return pd.concat([curves, ends])[_SHOWN].sort_values([*keys, "n_train"])


def draw(table, item):
    """Means over repetitions with 95 % intervals; the last point of a line has all pairs."""
    datasets, settings = list(table["dataset"].unique()), list(table["setting"].unique())
    figure, axes = new_figure(len(datasets), len(settings), height=1.7, sharex="row")
    for (dataset, setting), part in table.groupby(["dataset", "setting"], sort=False):
        panel = axes[datasets.index(dataset), settings.index(setting)]
        for method, line in part.groupby("method", sort=False):
            look = {"color": COLOURS.get(method, KERNELS), "label": method}
            panel.errorbar(
                line["n_train"], line["mean"], line["±"], marker="o", ms=3, lw=1, **look
            )
        panel.set_xscale("log")
        log_ticks(panel.xaxis)
        panel.set_gid(dataset)  # of whose surrogates it is stamped
        measure = part["measure"].iloc[0]
        panel.set_ylabel(f"{dataset}: {measure}" if setting == settings[0] else "")
        if dataset == datasets[0]:
            panel.set_title(TITLES[setting])
    for panel in axes[-1]:
        panel.set_xlabel("training pairs")
    axes.flat[0].plot([], [], "|", ms=8, color="0.4", label="95 % interval")
    shared_legend(figure, axes, loc="outside lower center", ncols=3)
    return figure
