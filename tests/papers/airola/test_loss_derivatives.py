"""Table 2 of Airola & Pahikkala: derivatives of the losses."""

import numpy as np
import pytest

from kronbench.pairs import LOSSES
from kronbench.papers.airola.draw import losses
from kronbench.papers.airola.measure import loss_derivatives
from kronbench.runner.job import run_experiment
from kronbench.runner.seeds import generator


def test_losses_agree_with_differences_and_with_the_printed_formulas():
    frame = run_experiment(
        "airola.loss_derivatives",
        {"draws": 2, "n": 30, "seed": 1},
        None,
        "all",
    )
    assert set(frame["loss"]) == set(LOSSES) == set(losses.FORMULAS)
    assert frame["gradient_deviation"].max() < 1e-8
    assert frame["hessian_deviation"].max() < 1e-8
    assert frame["printed_deviation"].max() < 1e-14
    table = losses.tabulate(frame, None, None)
    assert table["gradient against differences"].max() == frame["gradient_deviation"].max()


@pytest.mark.parametrize("part", ["gradient", "hessian_product", "value"])
def test_a_wrong_derivative_is_seen(part, monkeypatch):
    right = getattr(LOSSES["l2svm"], part)
    monkeypatch.setattr(LOSSES["l2svm"], part, lambda *arguments: 1.01 * right(*arguments))
    frame = loss_derivatives.run({"draws": 1, "n": 20}, None, generator(1))
    (row,) = frame[frame["loss"] == "l2svm"].to_dict("records")
    assert row["printed_deviation"] > 1e-3
    assert max(row["gradient_deviation"], row["hessian_deviation"]) > 1e-3


def test_points_keep_away_from_the_kinks():
    rng = np.random.default_rng(0)
    p, y = loss_derivatives._point(rng, 100_000)
    assert np.abs(1 - y * p).min() >= 0.999 * loss_derivatives._FROM_KINK
