"""Training seconds, prediction seconds and AUC against the number of training pairs."""

import itertools

import numpy as np
from matplotlib.lines import Line2D

from kronbench_suite.report.estimates import disturbed
from kronbench_suite.report.numbers import read_printed
from kronbench_suite.report.style import SMALL, coinciding, new_figure

MARKERS = ".s^vDp"  # of the weights, from the smallest
_REMARKS = {
    "*": {"ms": 8, "mfc": "none", "label": "the paper's text"},
    "x": {"ms": 6, "label": "ended by the time cap"},
    "o": {"ms": 8, "mfc": "none", "label": "busy machine"},
}


def draw(frame, item):
    """Means over folds; the caption tells the signs."""
    figure, axes = new_figure(1, 3, height=3.2, sharex=True)
    training, prediction, auc = axes[0]
    printed = read_printed(item)[0]
    colours = {method: f"C{place}" for place, method in enumerate(frame["method"].unique())}
    markers = dict(zip(sorted(frame["reg"].unique()), itertools.cycle(MARKERS), strict=False))
    optimum = item.plot_options.get("optimum_auc")
    count, unit = frame["fold"].nunique(), "fold" if optimum is None else "board"
    title = f"Test AUC ({count} {unit}{'s' if count > 1 else ''})"
    _curves(training, frame, "training", "seconds", colours, markers, "Training")
    _curves(prediction, frame, "prediction", "seconds", colours, markers, "Prediction")
    _curves(auc, frame, "training", "auc", colours, markers, title)
    # Printed times are stars in the colour of their method.
    for panel, task in ((training, "training"), (prediction, "prediction")):
        for row in printed[printed["task"] == task].itertuples():
            if row.method in colours:
                look = {"ms": 10, "mfc": "none", "mec": colours[row.method]}
                panel.plot(row.n, row.seconds, "*", **look)
    training.set_ylabel("seconds")
    auc.set_ylabel("AUC")
    for row in printed.dropna(subset=["gigabytes"]).itertuples():
        here = frame["peak_mib"].max() * 2**20 / 1e9
        _remark(training, f"memory of all runs: {here:.1f} GB (printed {row.gigabytes:g} GB)")
    if optimum is not None:
        auc.axhline(optimum, color="0.4", lw=0.8, ls=":")
        auc.annotate("optimum", (frame["n"].min(), optimum), va="top")
    # One legend: colours of the methods, markers of the weights, signs that occur.
    used = {line.get_marker() for panel in axes[0] for line in panel.lines}
    handles = [Line2D([], [], color=color, label=name) for name, color in colours.items()]
    handles += [
        _sign(marker, ms=4, label=f"$\\lambda=2^{{{np.log2(reg):g}}}$")
        for reg, marker in markers.items()
    ]
    handles += [_sign(marker, **look) for marker, look in _REMARKS.items() if marker in used]
    if "_" in used:  # the end of a whisker
        handles.append(_sign("|", ms=8, label="range of the repeats"))
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return figure


def _sign(marker, **look):
    return Line2D([], [], ls="", marker=marker, color="0.3", **look)


def _curves(panel, frame, task, value, colours, markers, title):
    part = frame[frame["task"] == task]
    drawn = {}
    for method, colour in colours.items():
        for reg, curve in part[part["method"] == method].groupby("reg"):
            # The curve of a method and weight: means over folds, with the range of their repeats.
            means = curve.groupby("size")[["n", value]].mean()
            look = {"color": colour, "marker": markers[reg], "ms": 3, "lw": 1}
            panel.plot(means["n"], means[value], **look)
            drawn[method, reg] = means.set_index("n")[value]
            for _, point in curve.groupby("size"):
                n, mean = point["n"].mean(), point[value].mean()
                low, high = ("auc", "auc") if value == "auc" else ("seconds_low", "seconds_high")
                low, high = point[low].min(), point[high].max()
                if low < high:
                    ends = [[max(mean - low, 0)], [max(high - mean, 0)]]
                    panel.errorbar(n, mean, ends, color=colour, lw=0.8, capsize=1.5)
                if value != "auc" and disturbed(point):
                    panel.plot(n, mean, "o", ms=8, mfc="none", mec="0.5", ls="")
            # the cap ended its own points, or the training of its model
            own = (frame["method"] == method) & (frame["task"] == task)
            model = frame["method"] == method.removesuffix(" by vec trick")
            rows = frame[(own | model & (frame["task"] == "training")) & (frame["reg"] == reg)]
            if value != "auc" and rows["next_seconds"].notna().any():
                end = means.iloc[-1]
                panel.plot(end["n"], end[value], "x", color=colour, ms=7, mew=1.6)
    panel.set_xscale("log")
    if value != "auc":
        panel.set_yscale("log")
    panel.set_xlabel("training pairs n")
    panel.set_title(title, pad=14)
    groups = [dict.fromkeys(method for method, _ in group) for group in coinciding(panel, drawn)]
    if said := "; ".join(" and ".join(group) for group in groups if len(group) > 1):
        _remark(panel, f"coincide: {said}")


def _remark(panel, text):
    panel.annotate(text, (0, 1.02), xycoords="axes fraction", **SMALL)
