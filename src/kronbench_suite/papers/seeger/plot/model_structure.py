"""The structure of penalized likelihood models, drawn from the parts of a fitted one."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from kronbench_suite.report.style import new_figure

PARTS = {
    "functions": ("Node functions", "nodes, by depth", "documents", "value"),
    "mixing": ("Mixing $\\Phi_L$", "classes", "nodes, by depth", "entry"),
    "scores": ("Class scores", "classes", "documents", "value"),
    "coupling": ("Coupling $W$", "classes", "classes", "signed square root"),
    "probabilities": ("Probabilities", "classes", "documents", "probability"),
}


def draw(frame, item):
    """From left to right: functions, mixing, scores, coupling, probabilities (figure 1)."""
    figure, axes = new_figure(1, len(PARTS), height=3.3)
    for panel, (part, names) in zip(axes[0], PARTS.items(), strict=True):
        title, rows, columns, scale = names
        entries = frame[frame["part"] == part]
        shape = tuple(int(size) for size in entries["shape"].iloc[0].split(" x "))
        values = np.zeros(shape)
        values[entries["row"], entries["column"]] = entries["value"]
        if part == "coupling":  # next to one class few entries can be seen
            values = np.sign(values) * np.sqrt(np.abs(values))
        size = np.abs(values).max()
        low, colors = (-size, "RdBu_r") if (values < 0).any() else (0, "Blues")
        options = {"aspect": "auto", "interpolation": "nearest"}
        image = panel.imshow(values, cmap=colors, vmin=low, vmax=size, **options)
        bar = figure.colorbar(image, ax=panel, location="bottom", aspect=10, label=scale)
        bar.locator = MaxNLocator(2)
        title += f"\n{shape[0]} × {shape[1]}"
        panel.set(title=title, xlabel=columns, ylabel=rows)
        panel.xaxis.set_major_locator(MaxNLocator(3, integer=True))
        panel.grid(False)
    return figure
