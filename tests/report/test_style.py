import numpy as np
import pandas as pd
import pytest

from kronbench.report.style import coinciding, log_ticks, new_figure


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
