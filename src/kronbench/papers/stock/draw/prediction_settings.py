"""The four prediction settings in a label matrix: known and new vertices, labelled or not."""

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

from kronbench.report.style import new_figure

ROLES = {
    "train": ("#0072B2", "training pair"),
    "A": ("#56B4E9", "A: both known,\nlabel withheld"),
    "B": ("#E69F00", "B: new target"),
    "C": ("#009E73", "C: new drug"),
    "D": ("#D55E00", "D: both new"),
}


def draw(frame, item):
    """Pairs coloured by role, dots where there are interactions (Stock et al. 2016, figure 1)."""
    figure, axes = new_figure(1, 1, height=2.9)
    panel = axes[0, 0]
    codes = {role: place for place, role in enumerate(ROLES)}
    matrix = frame.assign(code=frame["role"].map(codes)).pivot(
        index="row", columns="col", values="code"
    )
    colours = ListedColormap([colour for colour, _ in ROLES.values()])
    look = {"vmin": -0.5, "vmax": len(ROLES) - 0.5, "alpha": 0.75}
    look |= {"edgecolors": "white", "linewidth": 0.3}
    edges = (np.arange(length + 1) for length in reversed(matrix.shape))
    panel.pcolormesh(*edges, matrix, cmap=colours, **look)
    positive = frame[frame["interacts"]]
    panel.plot(positive["col"] + 0.5, positive["row"] + 0.5, "o", ms=2.2, color="black")
    panel.invert_yaxis()
    panel.grid(False)
    panel.set(aspect="equal", xlabel="drugs (tasks), new ones last")
    panel.set_ylabel("targets (instances),\nnew ones last")
    counts = frame["role"].value_counts()
    handles = [
        Patch(fc=colour, alpha=0.75, label=f"{label} ({counts[role]})")
        for role, (colour, label) in ROLES.items()
    ]
    figure.legend(handles=handles, loc="outside right center")
    return figure
