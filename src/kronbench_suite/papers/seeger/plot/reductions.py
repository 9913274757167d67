"""Reductions from the criterion down to kernel products, with calls and shares of the time."""

from kronbench_suite.report.numbers import format_number, name_of
from kronbench_suite.report.style import new_figure, shared_legend

COLORS = {"kernel products": "C0", "tree products": "C2", "likelihood": "C1", "the rest": "0.75"}
_BOX = {"boxstyle": "round,pad=0.35", "fc": "white", "ec": "0.4"}
_ARROW = {"arrowstyle": "->", "color": "0.4"}


def draw(frame, item):
    """A column for each data set: the ladder of calls (Seeger 2006, figure 2), and a bar below."""
    datasets = list(frame["dataset"].unique())
    figure, axes = new_figure(2, len(datasets), height=1.7, height_ratios=[3.2, 1])
    for (ladder, bar), dataset in zip(axes.T, datasets, strict=True):
        part = frame[frame["dataset"] == dataset]
        levels, times = part[part["kind"] == "level"], part[part["kind"] == "time"]
        n, first = len(levels), part.iloc[0]
        ladder.axis("off")
        centred = {"ha": "center", "va": "center", "transform": ladder.transAxes, "fontsize": 7}
        for place, (_, level) in enumerate(levels.iterrows()):
            y = 1 - (place + 0.5) / n
            calls = format_number(level["calls"], decimals=0)
            ladder.text(0.5, y, f"{level['name']}: {calls}", bbox=_BOX, **centred)
            if place:
                ends = (0.5, y + 0.42 / n), (0.5, y + 0.68 / n)
                ladder.annotate("", *ends, xycoords="axes fraction", arrowprops=_ARROW)
        ladder.set_title(
            f"{name_of(dataset)}\nn = {first['training']:.0f}, C = {first['classes']:.0f}, "
            f"P = {first['nodes']:.0f}"
        )
        left, middle = 0.0, {"ha": "center", "va": "center", "fontsize": 7}
        for _, time in times.iterrows():
            share = 100 * time["share of seconds"]
            bar.barh(0, share, left=left, color=COLORS[time["name"]], label=time["name"])
            if share > 6:
                bar.text(left + share / 2, 0, f"{share:.0f} %", **middle)
            left += share
        label = f"share of {times['seconds'].sum():.2g} s, %"
        bar.set(xlim=(0, 100), xlabel=label, yticks=[])
        bar.grid(False)
    shared_legend(figure, axes, loc="outside lower center", ncols=4)
    return figure
