"""Tables 1 to 4: what the experiments count and measure, and the tables drawn from it."""

import types

import numpy as np
import pandas as pd
import pytest

from kronbench.bench.job import run_experiment
from kronbench.bench.seeds import generator
from kronbench.datasets import load
from kronbench.experiments import loss_derivatives
from kronbench.optim import LOSSES
from kronbench.report.drawings import complexity, losses, notation

COST = {
    "features": 5,
    "explicit_mib": 1,
    "independent": [[30, 30, 30], [60, 60, 60]],
    "dependent": [[40, 12, 10], [80, 12, 10], [120, 12, 10]],
    "complete": [[36, 6, 6], [144, 12, 12], [576, 24, 24]],
    "seed": 3,
    "time_cap": 5,
}


def test_notation_counts_a_training_fold():
    data = load("gpcr", policy="surrogate")
    spec = {"fold": 2, "fraction": 0.25, "seed": 5, "time_cap": 1}
    (row,) = run_experiment("notation", spec, data, "GPCR").to_dict("records")
    assert (row["d"], row["r"]) == (223, 95)
    # 148 or 149 of 223 drugs and 63 or 64 of 95 targets train, four ninths of all pairs.
    assert row["m"] in (148, 149) and row["q"] in (63, 64)
    assert row["n"] == pytest.approx(4 / 9 * 5296, rel=0.1)
    assert row["n_test"] == pytest.approx(1 / 9 * 5296, rel=0.2)
    table = notation.tabulate(pd.DataFrame([row]), None, None)
    assert table["n / (m q)"].item() == pytest.approx(0.25, rel=0.1)


def test_losses_agree_with_differences_and_with_the_printed_formulas():
    frame = run_experiment("loss_derivatives", {"draws": 2, "n": 30, "seed": 1}, None, "all")
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


@pytest.mark.parametrize("form", ["dual", "primal"])
def test_products_agree_and_operations_follow_the_printed_complexity(form):
    frame = run_experiment("product_cost", COST | {"form": form}, None, "all")
    assert frame["deviation"].max() < 1e-12
    baseline = frame[frame["method"] == "baseline"]
    np.testing.assert_array_equal(baseline["operations"], 2 * baseline["cost"])
    proposed = frame[frame["method"] == "proposed"].set_index(["setting", "n"])
    if form == "dual":
        assert proposed.loc[("independent", 60), "operations"] == 4 * 60**2
        assert proposed.loc[("dependent", 120), "operations"] == 2 * 120 * (12 + 10)
        assert proposed.loc[("complete", 576), "operations"] == 2 * 2 * 24**3
    else:
        d = r = 5
        dependent = 2 * min(10 * d * r + d * 120, 12 * d * r + r * 120)
        assert proposed.loc[("dependent", 120), "operations"] == dependent
        assert proposed.loc[("complete", 576), "operations"] == 2 * (24 * d * r + 24 * 24 * r)


def test_large_matrices_are_not_made_and_said_so():
    frame = run_experiment("product_cost", COST | {"form": "dual"}, None, "all")
    assert frame.attrs["skipped"] == [
        "explicit matrices beyond 1 MiB were not made: complete n = 576"
    ]
    methods = frame[frame["n"] == 576]["method"]
    assert methods.tolist() == ["proposed"]


def test_exponents_and_speed_up_of_the_complexity_table():
    rows = []
    for n in (10, 20, 40):
        rows.append(("baseline", n, 2 * n**2, n**2, 1e-3 * n**2))
        rows.append(("proposed", n, 6 * n, n, 1e-4 * n))
    rows.append(("proposed", 80, 6 * 80, 80, 1e-4 * 80))
    frame = pd.DataFrame(rows, columns=["method", "n", "operations", "cost", "seconds"])
    frame = frame.assign(setting="dependent", deviation=1e-16)
    item = types.SimpleNamespace(parameters={"form": "dual"})
    baseline, proposed = complexity.tabulate(frame, item, None).to_dict("records")
    assert baseline["of seconds"] == pytest.approx(2)
    assert proposed["of seconds"] == pytest.approx(1)
    assert proposed["operations / O(), least"] == proposed["most"] == 6
    assert (proposed["n to"], proposed["at n"]) == (80, 40)
    assert proposed["speed-up"] == pytest.approx(10 * 40)
