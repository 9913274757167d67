"""AUC over both regularization values of two-step regression, for data sets and settings."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FormatStrFormatter, MaxNLocator

from kronbench.papers.stock.draw.leave_one_out_table import NEAR
from kronbench.report.printed import read_printed
from kronbench.report.style import new_figure
from kronbench.runner.items import Item

_OUTLINE = [withStroke(linewidth=2.8, foreground="black")]


def draw(frame: pd.DataFrame, item: Item) -> Figure:
    """Contours of AUC, a cross at the best pair, a white line around what is as good."""
    printed = read_printed(item).set_index(["setting", "method"])
    frame = frame[frame["method"] == "TS"]
    datasets, settings = list(frame["dataset"].unique()), sorted(frame["setting"].unique())
    figure, axes = new_figure(
        len(datasets), len(settings), width=8.6, height=1.9, sharex=True, sharey=True
    )
    for row, dataset in enumerate(datasets):
        for col, setting in enumerate(settings):
            panel = axes[row, col]
            part = frame[(frame["dataset"] == dataset) & (frame["setting"] == setting)]
            auc = part.pivot(index="reg_cols", columns="reg", values="auc")
            across, up = np.log10(auc.columns), np.log10(auc.index)
            contours = panel.contourf(across, up, auc, levels=12, cmap="viridis")
            best = part.loc[part["auc"].idxmax()]
            level = [best["auc"] - NEAR]
            panel.contour(across, up, auc, levels=level, colors="white", linewidths=1)
            look = {"color": "white", "mew": 1.6, "clip_on": False, "path_effects": _OUTLINE}
            panel.plot(np.log10(best["reg"]), np.log10(best["reg_cols"]), "x", **look)
            theirs = printed.loc[setting, "TS"].get(f"auc_{dataset}", np.nan)
            panel.set_title(
                f"{dataset}, {setting}: best {best['auc']:.4f}\n(printed {theirs:.4f})", fontsize=8
            )
            panel.grid(False)
            bar = figure.colorbar(contours, ax=panel, aspect=12, pad=0.03)
            bar.ax.tick_params(labelsize=7)
            bar.locator = MaxNLocator(4, steps=[1, 2, 5, 10])
            bar.formatter = FormatStrFormatter("%.2f")
            bar.update_ticks()
            bar.ax.axhline(theirs, color="#D55E00", lw=2)
    for panel in axes[-1]:
        panel.set_xlabel(r"$\log_{10}\lambda_d$ (targets)")
    for panel in axes[:, 0]:
        panel.set_ylabel(r"$\log_{10}\lambda_t$ (drugs)")
    return figure
