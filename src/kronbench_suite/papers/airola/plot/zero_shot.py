"""The label matrix of a zero-shot round: known labels of training vertices, unknown new pairs."""

from matplotlib.lines import Line2D

from kronbench_suite.report.style import ROLES, new_figure


def draw(frame, item):
    """Each labelled pair is a point; rows are start vertices and columns end vertices."""
    figure, axes = new_figure(1, 1, width=4.6, height=3.8)
    axes = axes[0, 0]
    ring = {"facecolors": "none", "edgecolors": "black", "linewidths": 0.5}
    for role in ("unused", "train", "test"):
        part = frame[frame["role"] == role]
        axes.scatter(part["col"], part["row"], s=1.6, c=ROLES[role], linewidths=0, rasterized=True)
        positive = part[part["label"] > 0]
        if role != "unused":
            axes.scatter(positive["col"], positive["row"], s=7, **ring)
    axes.set(xlabel="end vertices (targets)", ylabel="start vertices (drugs)")
    axes.invert_yaxis()
    axes.grid(False)
    labels = {
        "train": "training pair",
        "test": "test pair:\nboth vertices new",
        "unused": "not used:\none vertex new",
    }
    handles = [
        Line2D([], [], ls="", marker="o", ms=3, color=ROLES[role], label=label)
        for role, label in labels.items()
    ]
    ring = {"mfc": "none", "mec": "black", "label": "positive label"}
    handles.append(Line2D([], [], ls="", marker="o", ms=4, **ring))
    figure.legend(handles=handles, loc="outside right center")
    return figure
