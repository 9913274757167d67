"""Reductions from the criterion down to kernel products, with calls and shares of the time."""

from kronbench.report.numbers import format_number, name_of
from kronbench.report.style import new_figure, shared_legend

COLORS = {"kernel products": "C0", "tree products": "C2", "likelihood": "C1", "the rest": "0.75"}


def draw(frame, item):
    """A column for each data set: the ladder of calls (Seeger 2006, figure 2), and a bar below."""
    datasets = list(frame["dataset"].unique())
    figure, axes = new_figure(2, len(datasets), height=1.7, height_ratios=[3.2, 1])
    for column, dataset in enumerate(datasets):
        part = frame[frame["dataset"] == dataset]
        _ladder(axes[0, column], part[part["kind"] == "level"])
        _bar(axes[1, column], part[part["kind"] == "time"])
        first = part.iloc[0]
        axes[0, column].set_title(
            f"{name_of(dataset)}\nn = {first['training']:.0f}, C = {first['classes']:.0f}, "
            f"P = {first['nodes']:.0f}"
        )
    shared_legend(figure, axes, loc="outside lower center", ncols=4)
    return figure


def _ladder(panel, levels):
    panel.axis("off")
    n = len(levels)
    centred = {"ha": "center", "va": "center", "transform": panel.transAxes, "fontsize": 7}
    box = {"boxstyle": "round,pad=0.35", "fc": "white", "ec": "0.4"}
    arrow = {"arrowstyle": "->", "color": "0.4"}
    for place, (_, level) in enumerate(levels.iterrows()):
        y = 1 - (place + 0.5) / n
        calls = format_number(level["calls"], decimals=0)
        panel.text(0.5, y, f"{level['name']}: {calls}", bbox=box, **centred)
        if place:
            ends = (0.5, y + 0.42 / n), (0.5, y + 0.68 / n)
            panel.annotate("", *ends, xycoords="axes fraction", arrowprops=arrow)


def _bar(panel, times):
    left = 0.0
    for _, time in times.iterrows():
        share = 100 * time["share of seconds"]
        panel.barh(0, share, left=left, color=COLORS[time["name"]], label=time["name"])
        if share > 6:
            panel.text(left + share / 2, 0, f"{share:.0f} %", ha="center", va="center", fontsize=7)
        left += share
    panel.set_yticks([])
    panel.set_xlim(0, 100)
    panel.set_xlabel(f"share of {times['seconds'].sum():.2g} s, %")
    panel.grid(False)
