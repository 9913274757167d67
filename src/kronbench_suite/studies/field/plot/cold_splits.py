"""Distributions of scores over random splits, and the published split in them."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from kronbench_suite.report.style import new_figure, shared_legend

NEW = {"A": "known vertices", "B": "new drugs", "C": "new targets", "D": "both new"}
_SCORES = {"ci": "concordance index", "mse": "mean squared error"}


def draw(frame, item):
    """A column of panels for each setting: histograms of CI above, of the squared error below."""
    settings = list(frame["setting"].unique())
    figure, axes = new_figure(2, len(settings), height=1.75)
    for panels, setting in zip(axes.T, settings, strict=True):
        part = frame[frame["setting"] == setting]
        for panel, (score, measure) in zip(panels, _SCORES.items(), strict=True):
            floor = f"floor_{score}"
            both = part[[score, floor]]
            bins = np.linspace(both.min(axis=None), both.max(axis=None), 41)
            for column, colour, name in ((score, "C0", "KronRidge"), (floor, "0.6", "margins")):
                random = part.loc[part["kind"] == "random", column]
                label = f"{name}, random splits"
                panel.hist(random, bins, color=colour, alpha=0.65, label=label)
                label = f"{name}, published split"
                for value in part.loc[part["kind"] == "published", column]:
                    panel.axvline(value, color=colour, ls="--", lw=1.6, label=label)
            panel.set_xlabel(measure)
            panel.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        panels[0].set_title(f"{setting}: {NEW[setting]}")
    for panel in axes[:, 0]:
        panel.set_ylabel("random splits")
    shared_legend(figure, axes, loc="outside lower center", ncols=4)
    return figure
