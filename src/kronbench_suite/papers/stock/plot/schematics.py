"""The schematic figures 1, 2, 3 and 6 of Stock et al. (2016), drawn from real data."""

import itertools

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from kronbench_suite.papers.stock.plot.leave_one_out_table import NEW
from kronbench_suite.report.style import ROLES, new_figure

_SETTINGS = {
    "train": ("#0072B2", "training pair"),
    "A": ("#56B4E9", f"{NEW['A']},\nlabel withheld"),
    "B": ("#E69F00", NEW["B"]),
    "C": ("#009E73", NEW["C"]),
    "D": ("#D55E00", NEW["D"]),
}
_LEFT_OUT = {
    "train": "used (darker:\nmore influence)",
    "test": "left out, predicted",
    "unused": "left out",
}
# Green, blue and red as in the paper.
_TRANSFER = {
    "constant": ("#009E73", "training, fixed"),
    "varying": ("#0072B2", "training, size varies"),
    "test": ("#D55E00", "test"),
    "none": ("#EEEEEE", "not used"),
}
# left and width of each group; the target, one task of many, would be a hair
_GROUPS = {"auxiliary": (0.0, 0.88), "target": (0.88, 0.12)}


def draw(frame, item):
    """The figure of the ``scheme`` of the item."""
    return _SCHEMES[item.parameters["scheme"]](frame)


def _prediction_settings(frame):
    figure, axes = new_figure(1, 1, height=2.9)
    panel = axes[0, 0]
    codes = {role: place for place, role in enumerate(_SETTINGS)}
    matrix = frame.assign(code=frame["role"].map(codes)).pivot(
        index="row", columns="col", values="code"
    )
    colours = ListedColormap([colour for colour, _ in _SETTINGS.values()])
    look = {"vmin": -0.5, "vmax": len(_SETTINGS) - 0.5, "alpha": 0.75}
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
        for role, (colour, label) in _SETTINGS.items()
    ]
    handles.append(Line2D([], [], marker="o", ms=2.2, ls="", color="black", label="interaction"))
    figure.legend(handles=handles, loc="outside right center")
    return figure


def _two_step_principle(frame):
    matrices = {
        name: part.pivot(index="row", columns="col", values="value").to_numpy()
        for name, part in frame.groupby("matrix")
    }
    # Panels in the proportions of the matrices: new vertices have a row or a column.
    m, q = matrices["Y"].shape
    ratios = {"width_ratios": [m, q, 7], "height_ratios": [q, m, 5]}
    figure, axes = new_figure(3, 3, width=6.4, height=1.75, gridspec_kw=ratios)
    shown = np.abs(matrices["step 1"]).max()
    similarity_look = {"cmap": "viridis", "vmin": 0, "vmax": 1}
    predicted_look = {"cmap": "PuOr", "vmin": -shown, "vmax": shown}
    # Kernels of the known vertices outside, labels in the middle, the two steps below.
    places = {
        (1, 0): ("K", "K: known targets (d)", similarity_look),
        (0, 1): ("G", "G: known drugs (t)", similarity_look),
        (1, 1): ("Y", "Y: labels", {"cmap": "Greys"}),
        (2, 0): ("k", "k: new", similarity_look),
        (0, 2): ("g", "g: new", similarity_look),
        (2, 1): ("step 1", "", predicted_look),
        (2, 2): ("step 2", "", predicted_look),
    }
    images = {}
    for place, panel in np.ndenumerate(axes):
        panel.set(xticks=[], yticks=[])
        panel.grid(False)
        if place not in places:
            panel.axis("off")
            continue
        name, title, look = places[place]
        matrix = matrices[name].T if name == "g" else matrices[name]
        images[name] = panel.imshow(matrix, aspect="auto", **look)
        panel.set_title(title)
    # The prediction of both steps, and the same in one (Eqs. 10 and 11).
    predicted, direct = matrices["step 2"].item(), matrices["direct"].item()
    axes[2, 1].set_xlabel(r"step 1: $f_T(d) = k^\top (K + \lambda_d I)^{-1} Y$")
    axes[2, 2].set_xlabel("step 2")
    axes[2, 2].text(0, 0, f"{predicted:.2f}", ha="center", va="center", fontsize=7)
    low, high = matrices["Y"].min(), matrices["Y"].max()
    axes[0, 0].text(
        0.0,
        1.0,
        "step 2: $f(d, t) = g^\\top (G + \\lambda_t I)^{-1} f_T(d)^\\top$\n"
        f"     = {predicted:.4f}\n"
        f"in one step: {direct:.4f}\n"
        f"true label: {matrices['label'].item():.1f}\n\n"
        f"Labels: $N/N^+$ = {high:.1f} and\n$-N/N^-$ = −{-low:.2f}, with mean 0.",
        transform=axes[0, 0].transAxes,
        va="top",
        fontsize=7.5,
    )
    # Three scales of colour, one below the other in the corner.
    scales = (("K", "similarity"), ("Y", "label"), ("step 1", "prediction of step 1"))
    for place, (name, what) in enumerate(scales):
        bar = axes[0, 0].inset_axes([0.05, 0.33 - 0.16 * place, 0.8, 0.04])
        figure.colorbar(images[name], cax=bar, orientation="horizontal")
        bar.tick_params(labelsize=6)
        bar.set_title(what, fontsize=6.5, loc="center", pad=2)
        if name == "Y":
            bar.set_xticks([low, high], [f"−{-low:.2f}", f"{high:.1f}"])
    return figure


def _left_out_pairs(frame):
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
    handles = [Patch(fc=ROLES[role], label=label) for role, label in _LEFT_OUT.items()]
    figure.legend(handles=handles, loc="outside right center")
    return figure


def _transfer_layout(frame):
    approaches = list(frame["approach"].unique())
    figure, axes = new_figure(1, len(approaches), height=2.6, sharey=True)
    for panel, approach in zip(axes[0], approaches, strict=True):
        part = frame[frame["approach"] == approach]
        for tasks, (left, width) in _GROUPS.items():
            roles = part[part["tasks"] == tasks].sort_values("position")["role"].to_numpy()
            edges = np.flatnonzero(np.r_[True, roles[1:] != roles[:-1], True])
            for low, high in itertools.pairwise(edges):
                look = {"fc": _TRANSFER[roles[low]][0], "ec": "white", "lw": 1.2}
                panel.add_patch(Rectangle((left, low), width, high - low, **look))
        n_auxiliary = part.loc[part["tasks"] == "auxiliary", "n_tasks"].iloc[0]
        panel.set(xlim=(0, 1), ylim=(len(roles), 0), title=approach.capitalize())
        panel.set_xticks([0.44, 0.94], [f"{n_auxiliary} auxiliary", "target"], fontsize=7)
        panel.tick_params(length=0)
        panel.grid(False)
    axes[0, 0].set_ylabel("proteins")
    handles = [Patch(fc=colour, label=label) for colour, label in _TRANSFER.values()]
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return figure


_SCHEMES = {
    "prediction_settings": _prediction_settings,
    "two_step_principle": _two_step_principle,
    "left_out_pairs": _left_out_pairs,
    "transfer_layout": _transfer_layout,
}
