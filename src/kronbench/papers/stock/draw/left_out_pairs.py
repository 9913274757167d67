"""The leave-one-out schemes of the four settings, as their own shortcuts show them."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from kronbench.report.style import ROLES, new_figure
from kronbench.runner.items import Item

LABELS = {"train": "used", "test": "left out, predicted", "unused": "left out"}


def draw(frame: pd.DataFrame, item: Item) -> Figure:
    """Labels with an influence on one prediction are dark in proportion to its logarithm."""
    settings = sorted(frame["setting"].unique())
    figure, axes = new_figure(1, len(settings), width=6.8, height=2.2)
    for panel, setting in zip(axes[0], settings, strict=True):
        part = frame[frame["setting"] == setting]
        strength = np.log10(part["influence"].abs().where(part["role"] == "train"))
        low, high = strength.min(), strength.max()
        for (_, pair), value in zip(part.iterrows(), strength, strict=True):
            alpha = 1.0 if np.isnan(value) else 0.35 + 0.6 * (value - low) / (high - low)
            panel.add_patch(
                Rectangle(
                    (pair["col"], pair["row"]),
                    1,
                    1,
                    fc=ROLES[pair["role"]],
                    alpha=alpha,
                    ec="white",
                    lw=1.5,
                )
            )
        panel.set_xlim(0, part["col"].max() + 1)
        panel.set_ylim(part["row"].max() + 1, 0)
        panel.set_aspect("equal")
        panel.set_xticks([])
        panel.set_yticks([])
        panel.grid(False)
        panel.set_title(f"setting {setting}")
        panel.set_xlabel("tasks")
    axes[0, 0].set_ylabel("instances")
    handles = [Patch(fc=ROLES[role], label=label) for role, label in LABELS.items()]
    figure.legend(handles=handles, loc="outside right center")
    return figure
