"""How every picture looks, and the stamp of surrogate data."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

STYLE = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.2,
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    "figure.constrained_layout.w_pad": 0.06,
    "figure.dpi": 100,
    "savefig.dpi": 160,
    "svg.hashsalt": "kronbench",
    "pdf.fonttype": 42,
    # Okabe and Ito's palette: distinguishable with every common form of colour vision.
    "axes.prop_cycle": matplotlib.cycler(
        color=["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000"]
    ),
}
ALARM = "#B00020"
# Pairs by what a round does with them.
ROLES = {"train": "#0072B2", "test": "#D55E00", "unused": "#D5D5D5"}
SMALL = {"fontsize": 6.5, "color": "0.3"}  # a remark in a picture


def new_figure(
    n_rows: int, n_cols: int, width: float = 7.2, height: float = 2.2, **options: Any
) -> tuple[Figure, np.ndarray]:
    """A figure of ``n_rows x n_cols`` axes, ``width`` inches in all and ``height`` a row."""
    figure = Figure(figsize=(width, height * n_rows), layout="constrained")
    return figure, figure.subplots(n_rows, n_cols, squeeze=False, **options)


def shared_legend(host: Figure | Axes, axes: np.ndarray, **options: Any) -> None:
    """One legend for the curves of all axes, each label once, in the order of their first use.

    It stands in ``host``, the figure or one of the axes.
    """
    handles = {}
    for panel in axes.flat:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    host.legend(handles.values(), handles, **options)


def log_ticks(axis: Axis) -> None:
    """At least two labelled ticks on a logarithmic axis, however short: decades, or plain numbers.

    To be called when all is drawn.
    """
    low, high = axis.get_view_interval()
    if high >= 100 * low:
        axis.set_major_locator(LogLocator(numticks=6))
    else:
        narrow = high < 5 * low
        axis.set_major_locator(MaxNLocator(4) if narrow else LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def coinciding(axes: Axes, curves: Mapping[str, pd.Series]) -> list[list[str]]:
    """Names of neighbouring curves that no eye tells apart, in groups of two or more.

    ``curves`` maps names to series; two coincide where they differ by no more than a hundredth of
    the height of the axes at all positions that both have.
    """
    # Without this the limits may be those before the last line.
    axes.autoscale_view()
    to_axes = axes.transData + axes.transAxes.inverted()
    groups = []
    for name, curve in curves.items():
        # Against the first curve of the last group, in shares of the height of the axes.
        pair = (curves[groups[-1][0]] if groups else curve.iloc[:0], curve)
        common = pair[0].index.intersection(curve.index)
        one, other = (to_axes.transform(np.column_stack([common, c[common]])) for c in pair)
        if len(common) > 1 and np.abs(one - other)[:, 1].max() <= 0.01:
            groups[-1].append(name)
        else:
            groups.append([name])
    return [group for group in groups if len(group) > 1]


def stamp(
    figure: Figure, surrogates: Sequence[str], others: Sequence[str] = (), across: bool = True
) -> None:
    """Write above the picture what data it rests on; the figure grows by the lines.

    ``others`` are sentences on other data than the paper's. Surrogates are written ``across`` the
    picture too, or across their own panels, where the ``gid`` of these is a data set.
    """
    alarms = [f"SURROGATE DATA ({', '.join(surrogates)})"] if surrogates else []
    alarms += [f"Other data than the paper's: {text}" for text in others]
    if alarms:
        # A bold letter of 8 points takes 0.7 of its size, a line 1.2; 0.1 inches stay free aside.
        width = int((figure.get_figwidth() - 0.2) * 72 / (0.7 * 8))
        lines = [line for text in alarms for line in textwrap.wrap(text, width)]
        figure.set_figheight(figure.get_figheight() + len(lines) * 8 * 1.2 / 72)
        figure.suptitle("\n".join(lines), color=ALARM, size=8, weight="bold")
    if not (surrogates and across):
        return
    look = {"color": ALARM, "alpha": 0.16, "rotation": 25, "zorder": 10}
    look |= {"s": "surrogate", "ha": "center", "va": "center"}
    # Panels of known data sets are stamped one by one, in no layout: the text takes no room.
    of_data = [panel for panel in figure.axes if panel.get_gid()]
    for panel in of_data:
        if panel.get_gid() in surrogates:
            place = {"transform": panel.transAxes, "in_layout": False}
            panel.text(0.5, 0.5, fontsize=26, **place, **look)
    if not of_data:
        figure.text(0.5, 0.5, fontsize=54, **look)
