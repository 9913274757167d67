import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from kronbench_suite.report.style import ALARM, coinciding, log_ticks, new_figure, stamp


@pytest.mark.parametrize(
    ("low", "high"), [(1750, 2600), (150, 4000), (20, 900), (3, 500), (0.1, 1e4)]
)
def test_a_logarithmic_axis_has_ticks_with_numbers(low, high):
    _, axes = new_figure(1, 1)
    panel = axes[0, 0]
    panel.plot([0, 1], [low, high])
    panel.set_yscale("log")
    log_ticks(panel.yaxis)
    bottom, top = panel.get_ylim()
    labels = [
        label.get_text()
        for place, label in zip(panel.get_yticks(), panel.get_yticklabels(), strict=True)
        if bottom <= place <= top
    ]
    assert sum(map(bool, labels)) >= 2


def test_curves_that_no_eye_tells_apart_are_named_together():
    _, axes = new_figure(1, 1)
    panel = axes[0, 0]
    positions = np.arange(1, 11)
    curve = pd.Series(np.linspace(1, 1000, 10), positions)
    curves = {"a": curve, "b": 1.001 * curve, "c": curve[:4], "d": curve + 300, "e": curve + 301}
    for line in curves.values():
        panel.plot(line.index, line)
    assert coinciding(panel, curves) == [["a", "b", "c"], ["d", "e"]]
    panel.set_yscale("log")
    assert coinciding(panel, {"a": curve, "f": curve + 50}) == []


@pytest.mark.parametrize("width", [2.6, 7.2, 11])
def test_a_stamp_is_no_wider_than_its_figure_and_covers_nothing(width):
    figure, axes = new_figure(1, 2, width=width)
    height = figure.get_figheight()
    names = [f"collection-{letter}" for letter in "abcdefgh"]
    stamp(figure, names, ["a: the kernel of the drugs is another one"])
    FigureCanvasAgg(figure).draw()
    box, whole = figure._suptitle.get_window_extent(), figure.bbox
    assert 0 <= box.x0 < box.x1 <= whole.width
    assert max(panel.get_tightbbox().y1 for panel in axes.flat) <= box.y0 < box.y1 <= whole.height
    assert axes[0, 0].get_window_extent().height > 0.5 * 100 * height, "the figure has grown"
    assert figure._suptitle.get_color() == ALARM


def test_surrogate_is_written_across_the_panels_that_show_them():
    figure, axes = new_figure(1, 2)
    for panel, name in zip(axes[0], ("drawn", "real"), strict=True):
        panel.set_gid(name)
    stamp(figure, ["drawn"])
    assert [text.get_text() for text in axes[0, 0].texts] == ["surrogate"]
    assert not axes[0, 1].texts
    assert "surrogate" not in [text.get_text() for text in figure.texts]
    figure, _ = new_figure(1, 2)
    stamp(figure, ["drawn"])
    assert "surrogate" in [text.get_text() for text in figure.texts], "nothing says which panels"
