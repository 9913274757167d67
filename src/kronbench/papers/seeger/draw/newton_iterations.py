"""Excess of the objective against kernel products, for the printed iteration and ours."""

import pandas as pd
from matplotlib.figure import Figure

from kronbench.report.style import new_figure, shared_legend
from kronbench.runner.items import Item

LOOKS = {
    "printed": {"color": "C1"},
    "ours": {"color": "C0"},
    "ours, tree preconditioner": {"color": "C2"},
}
FLOOR = 1e-10


def draw(frame: pd.DataFrame, item: Item) -> Figure:
    """A panel for each data set and model; dots are Newton steps, crosses certified gaps."""
    datasets, models = list(frame["dataset"].unique()), ["flat", "tree"]
    variance = frame["variance"].max()
    figure, axes = new_figure(len(datasets), 2, height=2.3, sharey=True)
    for row, dataset in enumerate(datasets):
        for column, model in enumerate(models):
            panel = axes[row, column]
            part = frame[
                (frame["dataset"] == dataset)
                & (frame["model"] == model)
                & (frame["variance"] == variance)
            ]
            for iteration, look in LOOKS.items():
                curve = part[part["iteration"] == iteration]
                if curve.empty:
                    continue
                excess = curve["excess"].clip(lower=FLOOR)
                panel.plot(
                    curve["products"], excess, marker=".", markersize=4, label=iteration, **look
                )
                panel.plot(curve["products"], curve["gap"], "x", ms=3, color=look["color"])
            panel.set_yscale("log")
            panel.set_ylim(FLOOR / 2, 10)
            panel.set_title(f"{dataset}: {model}, v = {variance:g}")
            if row == len(datasets) - 1:
                panel.set_xlabel("kernel products")
            if column == 0:
                panel.set_ylabel("$(\\Phi - \\Phi^*) / \\Phi^*$")
    shared_legend(figure, axes, loc="outside lower center", ncols=4)
    return figure
