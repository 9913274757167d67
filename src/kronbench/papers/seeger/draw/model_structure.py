"""The structure of penalized likelihood models, drawn from the parts of a fitted one."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from kronbench.report.style import new_figure
from kronbench.runner.items import Item

PARTS = {
    "functions": ("independent functions", "nodes, by depth", "documents"),
    "mixing": ("prior mixing $\\Phi_L$", "classes", "nodes, by depth"),
    "scores": ("scores of the classes", "classes", "documents"),
    "coupling": ("likelihood coupling $W$", "classes", "classes"),
    "probabilities": ("probabilities", "classes", "documents"),
}


def draw(frame: pd.DataFrame, item: Item) -> Figure:
    """From left to right: functions, mixing, scores, coupling, probabilities (figure 1)."""
    figure, axes = new_figure(1, len(PARTS), width=9.0, height=3.0)
    for panel, (part, (title, rows, columns)) in zip(axes[0], PARTS.items(), strict=True):
        entries = frame[frame["part"] == part]
        shape = tuple(int(size) for size in entries["shape"].iloc[0].split(" x "))
        if part == "mixing":
            panel.plot(entries["column"], entries["row"], ".", ms=1.5, color="C0")
            panel.set_xlim(-1, shape[1])
            panel.set_ylim(shape[0], -1)
        else:
            values = np.zeros(shape)
            values[entries["row"], entries["column"]] = entries["value"]
            if part == "coupling":  # next to one class few entries can be seen
                values = np.sign(values) * np.sqrt(np.abs(values))
            size = np.abs(values).max()
            low, colors = (0, "Blues") if part == "probabilities" else (-size, "RdBu_r")
            options = {"aspect": "auto", "interpolation": "nearest"}
            panel.imshow(values, cmap=colors, vmin=low, vmax=size, **options)
        panel.set_title(f"{title}\n{shape[0]} x {shape[1]}", fontsize=8)
        panel.set_ylabel(rows)
        panel.set_xlabel(columns)
        panel.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        panel.grid(False)
    return figure
