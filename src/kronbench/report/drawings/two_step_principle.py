"""The matrices of two-step ridge regression in their places, for one new pair."""

import numpy as np

from kronbench.report.style import new_figure


def draw(frame, item):
    """Kernels beside the labels they act on: step 1 fills a row, step 2 its last entry.

    Each matrix has its own colours; the row of step 1 has those of step 2 (Stock et al. 2016,
    figure 2).
    """
    matrices = {
        name: part.pivot(index="row", columns="col", values="value").to_numpy()
        for name, part in frame.groupby("matrix")
    }
    m, q = matrices["Y"].shape
    figure, axes = new_figure(
        3,
        3,
        width=6.4,
        height=1.75,
        gridspec_kw={"width_ratios": [m, q, 7], "height_ratios": [q, m, 5]},
    )
    shown = np.abs(matrices["step 1"]).max()
    places = {
        (1, 0): ("K", "K: known targets (d)", {}),
        (0, 1): ("G", "G: known drugs (t)", {}),
        (1, 1): ("Y", "Y: labels", {}),
        (2, 0): ("k", "k: new", {}),
        (0, 2): ("g", "g: new", {}),
        (2, 1): ("step 1", "", {"cmap": "PuOr", "vmin": -shown, "vmax": shown}),
        (2, 2): ("step 2", "", {"cmap": "PuOr", "vmin": -shown, "vmax": shown}),
    }
    for row in range(3):
        for col in range(3):
            panel = axes[row, col]
            panel.set_xticks([])
            panel.set_yticks([])
            panel.grid(False)
            if (row, col) not in places:
                panel.axis("off")
                continue
            name, title, look = places[row, col]
            matrix = matrices[name].T if name == "g" else matrices[name]
            panel.imshow(matrix, aspect="auto", **({"cmap": "viridis"} | look))
            panel.set_title(title, fontsize=8)
    predicted, direct = matrices["step 2"].item(), matrices["direct"].item()
    axes[2, 1].set_xlabel(r"step 1: $f_T(d) = k^\top (K + \lambda_d I)^{-1} Y$")
    axes[2, 2].set_xlabel("step 2")
    axes[2, 2].text(0, 0, f"{predicted:.2f}", ha="center", va="center", fontsize=7)
    axes[0, 0].text(
        0.0,
        0.5,
        "step 2: $f(d, t) = g^\\top (G + \\lambda_t I)^{-1} f_T(d)^\\top$\n"
        f"     = {predicted:.4f}\n"
        f"in one step: {direct:.4f}\n"
        f"true label: {matrices['label'].item():.4f}",
        transform=axes[0, 0].transAxes,
        va="center",
    )
    return figure
