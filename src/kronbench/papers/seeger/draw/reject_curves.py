"""Test error against the share of rejected points, mean over partitions."""

import pandas as pd
from matplotlib.figure import Figure

from kronbench.report.style import new_figure
from kronbench.runner.items import Item

# That of Hsu & Lin (2002), of whose curves the paper speaks; the others have one partition.
SCALING = "range"
LOOKS = {
    "mc-sep": {"color": "C0"},
    "mc-tied": {"color": "C2", "ls": "--"},
    "1rest": {"color": "C1"},
}


def draw(frame: pd.DataFrame, item: Item) -> Figure:
    """The curves of Seeger (2006, figure 3): all of them, and from half of the points on."""
    frame = frame[frame["scaling"] == SCALING]
    figure, axes = new_figure(1, 2, height=2.7)
    for panel, least in zip(axes[0], (0.0, 0.75), strict=True):
        part = frame[frame["predicted"] >= least * frame["predicted"].max()]
        for method, look in LOOKS.items():
            curves = part[part["method"] == method].groupby("predicted")["error"]
            if not len(curves):
                continue
            mean, std = curves.mean(), curves.std().fillna(0)
            n = frame[frame["method"] == method]["partition"].nunique()
            label = f"{method}: {mean.iloc[-1]:.4f}" + (f" ± {std.iloc[-1]:.4f}" if n > 1 else "")
            panel.plot(mean.index, mean, label=label, **look)
            panel.fill_between(
                mean.index, mean - std, mean + std, color=look["color"], alpha=0.15, lw=0
            )
        panel.set_xlabel("test points predicted")
    axes[0, 0].set_ylabel("errors / all test points")
    axes[0, 0].legend(title="test error", loc="upper left")
    partitions = frame["partition"].nunique()
    axes[0, 0].set_title(f"partitions of the training points: {partitions}")
    axes[0, 1].set_title("the last quarter")
    return figure
