"""Training seconds, prediction seconds and AUC against the number of training pairs."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kronbench.report.estimates import disturbed, span
from kronbench.report.numbers import format_number
from kronbench.report.printed import read_printed
from kronbench.report.style import coinciding, new_figure, shared_legend
from kronbench.runner.items import Item

LOOKS = ({"marker": "o", "ls": "-"}, {"marker": "s", "ls": "--"}, {"marker": "^", "ls": ":"})


def draw(frame: pd.DataFrame, item: Item) -> Figure:
    """Means over folds; a cross ends the curves of solvers that the time cap stopped.

    Whiskers go from the smallest to the largest repeat or, for the AUC, fold; a ring marks what
    was measured while the machine was busy. Hollow stars are the numbers that the paper gives in
    its text (Airola & Pahikkala, figures 6 and 7, sections 5.3 to 5.5).
    """
    figure, axes = new_figure(1, 3, width=9.2, height=2.9, sharex=True)
    training, prediction, auc = axes[0]
    printed = read_printed(item)
    methods = list(dict.fromkeys(frame["method"]))
    colours = {method: f"C{position}" for position, method in enumerate(methods)}
    panels = []
    for panel, task, value in (
        (training, "training", "seconds"),
        (prediction, "prediction", "seconds"),
        (auc, "training", "auc"),
    ):
        part = frame[frame["task"] == task]
        drawn = {}
        for method in methods:
            curves = part[part["method"] == method].groupby("reg")
            for look, (reg, curve) in zip(_looks(curves.ngroups), curves, strict=True):
                means = curve.groupby("size")[["n", value]].mean()
                ended = _ended(frame, method, reg, task)
                label = f"{method}, $\\lambda=2^{{{np.log2(reg):g}}}$"
                panel.plot(
                    means["n"], means[value], color=colours[method], ms=3, label=label, **look
                )
                drawn[label] = means.set_index("n")[value]
                _mark(panel, curve, value, colours[method])
                if panel is not auc and ended:
                    end = means.iloc[-1]
                    panel.plot(end["n"], end[value], "x", color=colours[method], ms=7, mew=1.6)
        panel.set_xscale("log")
        panel.set_xlabel("training pairs n")
        panels.append((panel, drawn))
    for panel, task in ((training, "training"), (prediction, "prediction")):
        panel.set_yscale("log")
        panel.set_ylabel(f"{task}, seconds")
        _stars(panel, printed, task, colours)
    for row in printed.dropna(subset=["gigabytes"]).itertuples():
        here = frame["peak_mib"].max() * 2**20 / 1e9
        training.set_title(
            f"memory: {here:.1f} GB for all of these runs, printed {row.gigabytes:g} GB\n"
            f"for n = {format_number(row.n, decimals=0)}", fontsize=6, loc="left", color="0.3",
        )  # fmt: skip
    optimum = item.drawing_options.get("optimum_auc")
    n_folds = frame["fold"].nunique()
    unit = "fold" if optimum is None else "board"
    auc.set_ylabel(f"test AUC, {n_folds} {unit}{'s' if n_folds > 1 else ''}")
    if optimum is not None:
        auc.axhline(optimum, color="0.4", lw=0.8, ls=":")
        auc.annotate("optimum", (frame["n"].min(), optimum), va="bottom")
    for panel, drawn in panels:
        _say_coinciding(panel, drawn)
    shared_legend(figure, axes[0, :2], loc="outside lower center", ncols=3, fontsize=7)
    return figure


def _say_coinciding(panel, drawn):
    groups = coinciding(panel, drawn)
    if groups:
        names = ("; ".join(label.split(", $")[0] for label in group) for group in groups)
        text = "coincide: " + " | ".join(names)
        panel.set_title(text, fontsize=6, loc="right", color="0.3")


def _mark(panel, curve, value, colour):
    for _, point in curve.groupby("size"):
        n, mean = point["n"].mean(), point[value].mean()
        low, high = (point[value].min(), point[value].max()) if value == "auc" else span(point)
        if low < high:
            panel.errorbar(
                n, mean, [[max(mean - low, 0)], [max(high - mean, 0)]], color=colour, lw=0.8,
                capsize=1.5,
            )  # fmt: skip
        if value != "auc" and disturbed(point):
            panel.plot(n, mean, "o", ms=8, mfc="none", mec="0.5", ls="")


def _ended(frame, method, reg, task):
    """Whether the cap ended a curve: its own points, or the training of its model."""
    own = (frame["method"] == method) & (frame["task"] == task)
    training = (frame["method"] == method.removesuffix(" by vec trick")) & (
        frame["task"] == "training"
    )
    rows = frame[(own | training) & (frame["reg"] == reg)]
    return rows["next_seconds"].notna().any()


def _looks(count):
    """Line and marker of each weight; later ones repeat the marker with thinner lines."""
    return [{**LOOKS[k % len(LOOKS)], "lw": 1.4 / (1 + k // len(LOOKS))} for k in range(count)]


def _stars(panel, printed, task, colours):
    for row in printed[printed["task"] == task].itertuples():
        if row.method in colours:
            panel.plot(row.n, row.seconds, "*", ms=10, mfc="none", mec=colours[row.method], ls="")
    panel.plot([], [], "*", ms=8, mfc="none", mec="0.3", ls="", label="the paper's text")
    panel.plot([], [], "x", ms=6, color="0.3", ls="", label="ended by the time cap")
    panel.plot([], [], "o", ms=8, mfc="none", mec="0.5", ls="", label="busy machine")
