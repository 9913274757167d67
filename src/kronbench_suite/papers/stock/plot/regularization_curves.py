"""AUC against the regularization value of Kronecker ridge regression, for each data set."""

import numpy as np

from kronbench_suite.papers.stock.plot.leave_one_out_table import NEW
from kronbench_suite.report.numbers import name_of, read_printed
from kronbench_suite.report.style import SMALL, new_figure, shared_legend


def draw(frame, item):
    """One line for each setting; at our best value a dot, and a diamond at the printed AUC."""
    frame = frame[frame["method"] == "KK"]
    printed = read_printed(item)[0].set_index(["setting", "method"])
    datasets = list(frame["dataset"].unique())
    figure, axes = new_figure(1, len(datasets), height=2.6, sharey=True)
    for panel, dataset in zip(axes[0], datasets, strict=True):
        for setting, curve in frame[frame["dataset"] == dataset].groupby("setting"):
            (line,) = panel.plot(curve["reg"], curve["auc"], label=NEW[setting])
            best = curve.loc[curve["auc"].idxmax()]
            panel.plot(best["reg"], best["auc"], "o", ms=4, color=line.get_color())
            theirs = printed.loc[setting, "KK"].get(f"auc_{dataset}", np.nan)
            panel.plot(best["reg"], theirs, "D", ms=7, mfc="none", color=line.get_color())
            if np.isnan(theirs):
                at = {"xytext": (0, -12), "textcoords": "offset points", "ha": "center"}
                panel.annotate("not printed", (best["reg"], best["auc"]), **at, **SMALL)
        panel.set(xscale="log", title=name_of(dataset), xlabel=r"$\lambda$")
    axes[0, 0].set_ylabel("AUC")
    axes[0, 0].plot([], [], "o", ms=4, color="0.3", label="our best")
    axes[0, 0].plot([], [], "D", ms=7, mfc="none", color="0.3", label="printed best")
    shared_legend(figure, axes, loc="outside lower center", ncols=6)
    return figure
