"""Accuracy by the number of neighbours."""

from kronbench_suite.report.style import new_figure


def draw(frame, item):
    """One curve."""
    figure, ((axes,),) = new_figure(1, 1)
    axes.plot(frame["neighbours"], frame["accuracy"], "o-")
    axes.set(xlabel="neighbours", ylabel="right, %")
    return figure
