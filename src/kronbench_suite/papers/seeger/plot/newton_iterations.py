"""Excess of the objective against kernel products, for the printed iteration and ours."""

from kronbench_suite.report.numbers import name_of
from kronbench_suite.report.style import new_figure, shared_legend

COLORS = {"printed": "C1", "ours": "C0", "ours, tree preconditioner": "C2"}
FLOOR = 1e-10


def draw(frame, item):
    """A panel for each data set and model; dots are Newton steps, crosses certified gaps."""
    datasets = list(frame["dataset"].unique())
    variance = frame["variance"].max()
    frame = frame[frame["variance"] == variance]
    figure, axes = new_figure(len(datasets), 2, height=2.3, sharey=True)
    for row, dataset in zip(axes, datasets, strict=True):
        for panel, model in zip(row, ("flat", "tree"), strict=True):
            part = frame[(frame["dataset"] == dataset) & (frame["model"] == model)]
            for iteration, curve in part.groupby("iteration", sort=False):
                color, excess = COLORS[iteration], curve["excess"].clip(lower=FLOOR)
                panel.plot(
                    curve["products"], excess, marker=".", ms=4, label=iteration, color=color
                )
                panel.plot(curve["products"], curve["gap"], "x", ms=3, color=color)
            title = f"{name_of(dataset)}: {model} model, v = {variance:g}"
            panel.set(title=title, yscale="log", ylim=(FLOOR / 2, None))
        row[0].set_ylabel("excess, $(\\Phi - \\Phi^*) / \\Phi^*$")
    axes[0, 0].plot([], [], "x", ms=3, color="0.3", label="certified duality gap")
    for panel in axes[-1]:
        panel.set_xlabel("kernel products")
    shared_legend(figure, axes, loc="outside lower center", ncols=4)
    return figure
