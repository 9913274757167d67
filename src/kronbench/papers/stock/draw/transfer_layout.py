"""Training and test labels of each approach to transfer learning, as blocks of a label matrix."""

import itertools

import numpy as np
from matplotlib.patches import Patch, Rectangle

from kronbench.report.style import new_figure

# Green, blue and red as in the paper.
COLOURS = {"constant": "#009E73", "varying": "#0072B2", "test": "#D55E00", "none": "#EEEEEE"}
LABELS = {
    "constant": "training, fixed",
    "varying": "training, size varies",
    "test": "test",
    "none": "not used",
}
# left and width of each group; the target, one task of many, would be a hair
GROUPS = {"auxiliary": (0.0, 0.88), "target": (0.88, 0.12)}


def draw(frame, item):
    """Proteins in the order of a real split; the target task is drawn wider than it is."""
    approaches = list(frame["approach"].unique())
    figure, axes = new_figure(1, len(approaches), height=2.6, sharey=True)
    for panel, approach in zip(axes[0], approaches, strict=True):
        part = frame[frame["approach"] == approach]
        for tasks, (left, width) in GROUPS.items():
            roles = part[part["tasks"] == tasks].sort_values("position")["role"].to_numpy()
            edges = np.flatnonzero(np.r_[True, roles[1:] != roles[:-1], True])
            for low, high in itertools.pairwise(edges):
                look = {"fc": COLOURS[roles[low]], "ec": "white", "lw": 1.2}
                panel.add_patch(Rectangle((left, low), width, high - low, **look))
        n_auxiliary = part.loc[part["tasks"] == "auxiliary", "n_tasks"].iloc[0]
        panel.set(xlim=(0, 1), ylim=(len(roles), 0), title=approach.capitalize())
        panel.set_xticks([0.44, 0.94], [f"{n_auxiliary} auxiliary", "target"], fontsize=7)
        panel.tick_params(length=0)
        panel.grid(False)
    axes[0, 0].set_ylabel("proteins")
    handles = [Patch(fc=COLOURS[role], label=label) for role, label in LABELS.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return figure
