"""Distributions of scores over random splits, and the published split in them."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from kronbench.report.style import new_figure, shared_legend

NEW = {"A": "known vertices", "B": "new drugs", "C": "new targets", "D": "both new"}
_SCORES = {"ci": "concordance index", "mse": "mean squared error"}


def draw(frame, item):
    """A column of panels for each setting: histograms of CI above, of the squared error below."""
    settings = list(frame["setting"].unique())
    figure, axes = new_figure(2, len(settings), height=1.75)
    for column, setting in enumerate(settings):
        part = frame[frame["setting"] == setting]
        for row, (score, label) in enumerate(_SCORES.items()):
            panel = axes[row, column]
            _histograms(panel, part, score)
            panel.set_xlabel(label)
            panel.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes[0, column].set_title(f"{setting}: {NEW[setting]}")
    for panel in axes[:, 0]:
        panel.set_ylabel("random splits")
    shared_legend(figure, axes, loc="outside lower center", ncols=4)
    return figure


def _histograms(panel, part, score):
    random, published = (part[part["kind"] == kind] for kind in ("random", "published"))
    floor = f"floor_{score}"
    both = np.concatenate([random[score], random[floor], published[score], published[floor]])
    bins = np.linspace(both.min(), both.max(), 41)
    for column, colour, label in ((score, "C0", "KronRidge"), (floor, "0.6", "margins")):
        name = f"{label}, random splits"
        panel.hist(random[column], bins, color=colour, alpha=0.65, label=name)
        for value in published[column]:
            panel.axvline(value, color=colour, ls="--", lw=1.6, label=f"{label}, published split")
