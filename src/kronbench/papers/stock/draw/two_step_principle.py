"""The matrices of two-step ridge regression in their places, for one new pair."""

import numpy as np

from kronbench.report.style import new_figure


def draw(frame, item):
    """Kernels beside the labels they act on: step 1 fills a row, step 2 its last entry."""
    matrices = {
        name: part.pivot(index="row", columns="col", values="value").to_numpy()
        for name, part in frame.groupby("matrix")
    }
    m, q = matrices["Y"].shape
    ratios = {"width_ratios": [m, q, 7], "height_ratios": [q, m, 5]}
    figure, axes = new_figure(3, 3, width=6.4, height=1.75, gridspec_kw=ratios)
    shown = np.abs(matrices["step 1"]).max()
    similarity_look = {"cmap": "viridis", "vmin": 0, "vmax": 1}
    predicted_look = {"cmap": "PuOr", "vmin": -shown, "vmax": shown}
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
    scales = (("K", "similarity"), ("Y", "label"), ("step 1", "prediction of step 1"))
    for place, (name, what) in enumerate(scales):
        bar = axes[0, 0].inset_axes([0.05, 0.33 - 0.16 * place, 0.8, 0.04])
        figure.colorbar(images[name], cax=bar, orientation="horizontal")
        bar.tick_params(labelsize=6)
        bar.set_title(what, fontsize=6.5, loc="center", pad=2)
        if name == "Y":
            bar.set_xticks([low, high], [f"−{-low:.2f}", f"{high:.1f}"])
    return figure
