"""Training seconds, prediction seconds and AUC against the number of training pairs."""

import numpy as np

from kronbench.report.estimates import disturbed, span
from kronbench.report.numbers import format_number
from kronbench.report.printed import read_printed
from kronbench.report.style import coinciding, new_figure, shared_legend

LOOKS = ({"marker": "o", "ls": "-"}, {"marker": "s", "ls": "--"}, {"marker": "^", "ls": ":"})
_SMALL = {"fontsize": 6, "color": "0.3"}


def draw(frame, item):
    """Means over folds; a cross ends the curves of solvers that the time cap stopped.

    Whiskers go from the smallest to the largest repeat or, for the AUC, fold; a ring marks what
    was measured while the machine was busy. Hollow stars are the numbers that the paper gives in
    its text (Airola & Pahikkala, figures 6 and 7, sections 5.3 to 5.5).
    """
    figure, axes = new_figure(1, 3, width=9.2, height=2.9, sharex=True)
    training, prediction, auc = axes[0]
    printed = read_printed(item)
    colours = {method: f"C{place}" for place, method in enumerate(frame["method"].unique())}
    _curves(training, frame, "training", "seconds", colours)
    _curves(prediction, frame, "prediction", "seconds", colours)
    _curves(auc, frame, "training", "auc", colours)
    for panel, task in ((training, "training"), (prediction, "prediction")):
        panel.set_yscale("log")
        panel.set_ylabel(f"{task}, seconds")
        _stars(panel, printed, task, colours)
    for row in printed.dropna(subset=["gigabytes"]).itertuples():
        here = frame["peak_mib"].max() * 2**20 / 1e9
        text = f"memory: {here:.1f} GB for all of these runs, printed {row.gigabytes:g} GB\n"
        training.set_title(
            f"{text}for n = {format_number(row.n, decimals=0)}", loc="left", **_SMALL
        )
    optimum = item.drawing_options.get("optimum_auc")
    n_folds = frame["fold"].nunique()
    unit = "fold" if optimum is None else "board"
    auc.set_ylabel(f"test AUC, {n_folds} {unit}{'s' if n_folds > 1 else ''}")
    if optimum is not None:
        auc.axhline(optimum, color="0.4", lw=0.8, ls=":")
        auc.annotate("optimum", (frame["n"].min(), optimum), va="bottom")
    shared_legend(figure, axes[0, :2], loc="outside lower center", ncols=3, fontsize=7)
    return figure


def _curves(panel, frame, task, value, colours):
    """The curves of all solvers and weights in one panel, and which of them coincide."""
    part = frame[frame["task"] == task]
    drawn = {}
    for method, colour in colours.items():
        for place, (reg, curve) in enumerate(part[part["method"] == method].groupby("reg")):
            means = curve.groupby("size")[["n", value]].mean()
            label = f"{method}, $\\lambda=2^{{{np.log2(reg):g}}}$"
            # later weights repeat the marker with thinner lines
            look = {**LOOKS[place % len(LOOKS)], "lw": 1.4 / (1 + place // len(LOOKS))}
            panel.plot(means["n"], means[value], color=colour, ms=3, label=label, **look)
            drawn[label] = means.set_index("n")[value]
            for _, point in curve.groupby("size"):
                _mark(panel, point, value, colour)
            if value != "auc" and _ended(frame, method, reg, task):
                end = means.iloc[-1]
                panel.plot(end["n"], end[value], "x", color=colour, ms=7, mew=1.6)
    panel.set_xscale("log")
    panel.set_xlabel("training pairs n")
    if groups := coinciding(panel, drawn):
        names = ("; ".join(label.split(", $")[0] for label in group) for group in groups)
        panel.set_title("coincide: " + " | ".join(names), loc="right", **_SMALL)


def _mark(panel, point, value, colour):
    n, mean = point["n"].mean(), point[value].mean()
    low, high = (point[value].min(), point[value].max()) if value == "auc" else span(point)
    if low < high:
        ends = [[max(mean - low, 0)], [max(high - mean, 0)]]
        panel.errorbar(n, mean, ends, color=colour, lw=0.8, capsize=1.5)
    if value != "auc" and disturbed(point):
        panel.plot(n, mean, "o", ms=8, mfc="none", mec="0.5", ls="")


def _ended(frame, method, reg, task):
    """Whether the cap ended a curve: its own points, or the training of its model."""
    own = (frame["method"] == method) & (frame["task"] == task)
    model = frame["method"] == method.removesuffix(" by vec trick")
    rows = frame[(own | model & (frame["task"] == "training")) & (frame["reg"] == reg)]
    return rows["next_seconds"].notna().any()


def _stars(panel, printed, task, colours):
    hollow = {"ms": 10, "mfc": "none", "ls": ""}
    for row in printed[printed["task"] == task].itertuples():
        if row.method in colours:
            panel.plot(row.n, row.seconds, "*", mec=colours[row.method], **hollow)
    panel.plot([], [], "*", ms=8, mfc="none", mec="0.3", ls="", label="the paper's text")
    panel.plot([], [], "x", ms=6, color="0.3", ls="", label="ended by the time cap")
    panel.plot([], [], "o", ms=8, mfc="none", mec="0.5", ls="", label="busy machine")
