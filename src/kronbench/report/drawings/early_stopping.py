"""Regularized risk and test AUC against iterations, one column for each data set."""

import numpy as np
from matplotlib.ticker import LogFormatterSciNotation, LogLocator

from kronbench.report.style import new_figure


def draw(frame, item):
    """Means over folds, a line for each of ``regs`` (Airola & Pahikkala, figures 3 to 5).

    Bands go from the lowest to the highest fold.
    """
    datasets = [name for name in item.datasets if name in set(frame["dataset"])]
    figure, axes = new_figure(
        2, len(datasets), width=1.9 * len(datasets) + 0.4, height=1.9, sharex=True
    )
    folds = frame.groupby(["dataset", "reg", "iteration"])[["risk", "auc"]]
    means, lows, highs = folds.mean(), folds.min(), folds.max()
    for column, dataset in enumerate(datasets):
        measured = frame.loc[frame["dataset"] == dataset, "reg"]
        regs = sorted(set(measured) & set(item.drawing_options["regs"]))
        for order, reg in enumerate(regs):
            curve = means.loc[dataset, reg]
            label = f"$2^{{{np.log2(reg):g}}}$"
            # Thinner lines on top: curves that coincide still show.
            look = {"label": label, "lw": 2.6 - 0.4 * order}
            low, high = lows.loc[dataset, reg], highs.loc[dataset, reg]
            for panel, value in ((axes[0, column], "risk"), (axes[1, column], "auc")):
                (line,) = panel.plot(curve.index, curve[value], **look)
                panel.fill_between(
                    curve.index, low[value], high[value], color=line.get_color(), alpha=0.12, lw=0
                )
        axes[0, column].set_title(dataset)
        axes[0, column].set_yscale("log")
        low, high = axes[0, column].get_ylim()
        if high < 50 * low:
            axes[0, column].yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes[0, column].yaxis.set_major_formatter(LogFormatterSciNotation(labelOnlyBase=False))
        axes[0, column].yaxis.set_minor_locator(LogLocator(subs=()))
        axes[1, column].set_xlabel("iterations")
    axes[0, 0].set_ylabel("regularized risk")
    axes[1, 0].set_ylabel("test AUC")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, title=r"$\lambda$", loc="outside right center")
    return figure
