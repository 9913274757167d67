"""The leave-one-out schemes of the four settings, as their own shortcuts show them."""

import numpy as np
from matplotlib.patches import Patch, Rectangle

from kronbench.report.style import ROLES, new_figure

LABELS = {
    "train": "used (darker:\nmore influence)",
    "test": "left out, predicted",
    "unused": "left out",
}


def draw(frame, item):
    """Labels with an influence on one prediction are dark in proportion to its logarithm."""
    settings = sorted(frame["setting"].unique())
    figure, axes = new_figure(1, len(settings), height=2.1)
    for panel, setting in zip(axes[0], settings, strict=True):
        part = frame[frame["setting"] == setting]
        strength = np.log10(part["influence"].abs().where(part["role"] == "train"))
        low, high = strength.min(), strength.max()
        alphas = (0.35 + 0.6 * (strength - low) / (high - low)).fillna(1.0)
        for (_, pair), alpha in zip(part.iterrows(), alphas, strict=True):
            look = {"fc": ROLES[pair["role"]], "alpha": alpha, "ec": "white", "lw": 1.5}
            panel.add_patch(Rectangle((pair["col"], pair["row"]), 1, 1, **look))
        panel.set(xlim=(0, part["col"].max() + 1), ylim=(part["row"].max() + 1, 0))
        panel.set(aspect="equal", xticks=[], yticks=[], xlabel="tasks")
        panel.set_title(f"Setting {setting}")
        panel.grid(False)
    axes[0, 0].set_ylabel("instances")
    handles = [Patch(fc=ROLES[role], label=label) for role, label in LABELS.items()]
    figure.legend(handles=handles, loc="outside right center")
    return figure
