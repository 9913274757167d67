"""AUC over both regularization values of two-step regression, for data sets and settings."""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MultipleLocator

from kronbench_suite.papers.stock.plot.leave_one_out_table import NEAR, NEW
from kronbench_suite.report.numbers import name_of, read_printed
from kronbench_suite.report.style import new_figure

_CROSS = {"marker": "x", "color": "black", "mew": 1.6, "ls": ""}


def draw(frame, item):
    """Contours of AUC, a cross at the best pair, a line around what is as good."""
    printed = read_printed(item)[0].set_index(["setting", "method"])
    frame = frame[frame["method"] == "TS"]
    datasets, settings = list(frame["dataset"].unique()), sorted(frame["setting"].unique())
    figure, axes = new_figure(len(datasets), len(settings), height=1.65, sharex=True, sharey=True)
    # One scale of colours for all panels, in steps of 0.02.
    low, high = frame["auc"].min(), frame["auc"].max()
    levels = np.arange(np.floor(low / 0.02) * 0.02, high + 0.02, 0.02)
    for row, dataset in enumerate(datasets):
        for col, setting in enumerate(settings):
            panel = axes[row, col]
            part = frame[(frame["dataset"] == dataset) & (frame["setting"] == setting)]
            # The map of one data set and setting, over the logarithms of both weights.
            auc = part.pivot(index="reg_cols", columns="reg", values="auc")
            across, up = np.log10(auc.columns), np.log10(auc.index)
            contours = panel.contourf(across, up, auc, levels=levels, cmap="viridis")
            # The best pair, and the line around all that are as good.
            best = part.loc[part["auc"].idxmax()]
            panel.contour(
                across, up, auc, levels=[best["auc"] - NEAR], colors="black", linewidths=1
            )
            outline = [withStroke(linewidth=2.8, foreground="white")]
            look = {**_CROSS, "clip_on": False, "path_effects": outline}
            panel.plot(np.log10(best["reg"]), np.log10(best["reg_cols"]), **look)
            # Beside it the printed best AUC, where there is one.
            theirs = printed.loc[setting, "TS"].get(f"auc_{dataset}", np.nan)
            known = f"(printed {theirs:.4f})" if np.isfinite(theirs) else "(not printed)"
            above = f"{name_of(dataset)}, {setting}: {best['auc']:.4f}\n{known}"
            panel.set_title(above if row else f"{NEW[setting]}\n\n{above}")
            panel.grid(False)
    for panel in axes[-1]:
        panel.set_xlabel(r"$\log_{10}\lambda_d$ (targets)")
    for panel in axes[:, 0]:
        panel.set_ylabel(r"$\log_{10}\lambda_t$ (drugs)")
    ticks = MultipleLocator(0.1)
    figure.colorbar(
        contours, ax=axes, aspect=10 * len(datasets), ticks=ticks, label="leave-one-out AUC"
    )
    handles = [
        Line2D([], [], **_CROSS, label="largest AUC (first number above)"),
        Line2D([], [], color="black", lw=1, label=f"AUC {NEAR:g} below it"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return figure
