"""Table 6.1 of Stock et al. 2016, with figures 4 and 5."""

import itertools
import os
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from kronbench.datasets import load
from kronbench.datasets.drug_target import kernels
from kronbench.models import TwoStepRidge
from kronbench_suite.papers.stock.measure import leave_one_out_grid
from kronbench_suite.papers.stock.plot import (
    leave_one_out_table,
    regularization_curves,
    regularization_maps,
)
from kronbench_suite.report.numbers import read_printed
from kronbench_suite.runner.clock import Timing
from kronbench_suite.runner.job import run_measurement
from kronbench_suite.runner.plans import load_plan
from tests.helpers import merged

GRID = {
    "seed": 5,
    "regs": [0.1, 10.0],
    "submatrix_cap": 1e11,
    "submatrix_sample": 2,
    "methods": [
        {"name": "KK", "solver": "kronbench.models.CompleteKronRidge", "weights": 1},
        {"name": "TS", "solver": "kronbench.models.TwoStepRidge", "weights": 2},
        {"name": "X", "solver": "elsewhere.Solver", "weights": 1},
    ],
}
ITEM = load_plan(merged()).item("stock", "table-6.1")


@pytest.fixture(scope="module")
def grid(nr):
    return run_measurement("stock.leave_one_out_grid", GRID, nr, "nr")


def areas_of(frame, dataset="nr", quantity="AUC"):
    """The rows of the table on one quantity, by setting and method."""
    table = leave_one_out_table.tabulate(frame.assign(dataset=dataset), ITEM, read_printed(ITEM))
    return table[table["quantity"] == quantity].set_index(["setting", "method"])


def test_a_solver_that_is_not_installed_is_skipped_with_its_reason(grid):
    assert set(grid["method"]) == {"KK", "KK by submatrices", "TS", "KK*", "TS*"}
    assert grid.attrs["skipped"] == ["elsewhere.Solver was skipped: elsewhere is not installed"]


def test_areas_are_those_of_the_predictions_averaged_as_the_setting_says(grid, nr):
    K, G, Y = kernels(nr)
    model = TwoStepRidge(
        reg_rows=0.1, reg_cols=10.0, row_kernel="precomputed", col_kernel="precomputed"
    )
    model.fit_matrix(K, G, Y)
    labels = Y > 0

    def mean_of_curves(labels, scores):
        return np.mean(
            [
                roc_auc_score(y, f)
                for y, f in zip(labels, scores, strict=True)
                if y.any() and not y.all()
            ]
        )

    expected = {
        "A": roc_auc_score(labels.ravel(), model.loo("A").ravel()),
        "B": mean_of_curves(labels, model.loo("B")),
        "C": mean_of_curves(labels.T, model.loo("C").T),
        "D": roc_auc_score(labels.ravel(), model.loo("D").ravel()),
    }
    point = grid[(grid["method"] == "TS") & (grid["reg"] == 0.1) & (grid["reg_cols"] == 10.0)]
    assert point.set_index("setting")["auc"].to_dict() == pytest.approx(expected, abs=1e-12)


def test_the_star_divides_by_the_denominators_of_setting_a(grid, nr):
    Y = kernels(nr)[2]
    hats = []
    for key, reg in (("target_similarity", 0.1), ("drug_similarity", 10.0)):
        S = (nr[key] + nr[key].T) / 2
        hats.append(S @ np.linalg.inv(S + reg * np.eye(len(S))))
    k, g = np.diag(hats[0]), np.diag(hats[1])
    F = (hats[0] - np.diag(k)) @ Y @ (hats[1] - np.diag(g)) / (1 - np.outer(k, g))
    point = grid[(grid["method"] == "TS*") & (grid["reg"] == 0.1) & (grid["reg_cols"] == 10.0)]
    point = point[point["setting"] == "D"]
    assert point["auc"].item() == pytest.approx(
        roc_auc_score((Y > 0).ravel(), F.ravel()), abs=1e-9
    )


def test_stars_of_the_other_settings_are_retrained_with_indefinite_similarities(grid, nr):
    """By brute force, of similarities with a negative eigenvalue each."""
    rng = np.random.default_rng(0)
    K, G = (indefinite(rng, size) for size in (6, 5))
    Y = np.where(rng.random((6, 5)) < 0.4, 2.0, -1.0)
    data = {"target_similarity": K, "drug_similarity": G}
    rows = leave_one_out_grid._left_indefinite(data, Y, np.array([0.3, 2.0]))
    found = pd.DataFrame(rows).set_index(["setting", "method", "reg"])["auc"]

    def without(reg, pairs):
        """Predictions of the pairs (n,), trained on all others."""
        of_pairs = np.kron(K, G)  # row-major
        kept = np.setdiff1d(np.arange(30), pairs)
        coef = np.linalg.solve(
            of_pairs[np.ix_(kept, kept)] + reg * np.eye(len(kept)), Y.ravel()[kept]
        )
        return of_pairs[np.ix_(pairs, kept)] @ coef

    for reg in (0.3, 2.0):
        pair = np.concatenate([without(reg, [i]) for i in range(30)])
        row = np.array([without(reg, np.arange(5 * i, 5 * i + 5)) for i in range(6)])
        expected = roc_auc_score(Y.ravel() > 0, pair)
        assert found["A", "KK*", reg] == pytest.approx(expected)
        curves = [roc_auc_score(y > 0, f) for y, f in zip(Y, row, strict=True) if np.ptp(y)]
        assert found["B", "KK*", reg] == pytest.approx(np.mean(curves))
    # nr has no negative eigenvalue, and the stars have the same best AUC there
    best = grid.groupby(["method", "setting"])["auc"].max()
    for method, setting in itertools.product(("KK", "TS"), "ABC"):
        assert best[f"{method}*", setting] == pytest.approx(best[method, setting], abs=1e-9)


def indefinite(rng, size):
    """A similarity matrix with ones on its diagonal, and one eigenvalue slightly below zero."""
    Q = np.linalg.qr(rng.standard_normal((size, size)))[0]
    values = np.append(-0.05, rng.uniform(0.5, 1.5, size - 1))
    return (Q * values) @ Q.T


def test_printed_numbers_stand_beside_ours(grid):
    areas = areas_of(grid, "e")
    best = grid[(grid["setting"] == "B") & (grid["method"] == "TS")]["auc"].max()
    assert areas.loc[("B", "TS"), "ours"] == best
    assert areas.loc[("B", "TS"), "paper"] == 0.9256
    assert areas.loc[("D", "TS*"), "paper"] == 0.8270
    assert np.isnan(areas.loc[("D", "KK"), "paper"])  # left empty after three days
    hours = areas.loc[("D", "KK")]
    spent = grid[(grid["setting"] == "D") & (grid["method"] == "KK")].iloc[0]
    ours = spent["seconds"] + spent["scoring_seconds"]  # the paper's time includes the AUC
    assert hours["times faster"] * ours == pytest.approx(3 * 86400)
    targets = areas_of(grid, "e", "targets").iloc[0]
    assert (targets["paper"], targets["ours"]) == (664, grid["targets"].iloc[0])


def test_figures_4_and_5_draw_the_table(grid):
    item = load_plan(merged()).item("stock", "figure-4")
    assert item.table("e") == ITEM.table("e")
    frame = grid.assign(dataset="e")
    line, dot, diamond = regularization_curves.draw(frame, item).axes[0].get_lines()[:3]
    curve = frame[(frame["method"] == "KK") & (frame["setting"] == "A")]
    np.testing.assert_array_equal(line.get_ydata(), curve["auc"])
    assert (dot.get_ydata(), diamond.get_ydata()) == ([curve["auc"].max()], [0.9640])
    assert diamond.get_xdata() == dot.get_xdata()
    panel = regularization_maps.draw(frame, item).axes[1]
    part = frame[(frame["method"] == "TS") & (frame["setting"] == "B")]
    best = part.loc[part["auc"].idxmax()]
    assert panel.get_title() == f"B: new target\n\nE, B: {best['auc']:.4f}\n(printed 0.9256)"
    (cross,) = panel.get_lines()
    assert cross.get_xdata() == np.log10(best["reg"])
    assert cross.get_ydata() == np.log10(best["reg_cols"])


def test_the_printed_numbers_of_nr_come_out():
    if not os.environ.get("KRONBENCH_MIRROR"):
        pytest.skip("KRONBENCH_MIRROR is not set")
    nr = load("nr", policy="real")
    frame = run_measurement("stock.leave_one_out_grid", dict(ITEM.parameters), nr, "nr")
    best = frame.groupby(["method", "setting"])["auc"].max().to_dict()
    printed = {("KK", "A"): 0.8662, ("TS", "A"): 0.8857, ("TS", "C"): 0.8515, ("KK", "D"): 0.7107}
    printed |= {("TS*", "D"): 0.7275, ("TS", "D"): 0.7269}
    assert {key: best[key] for key in printed} == pytest.approx(printed, abs=1e-4)


def test_the_papers_own_way_predicts_what_the_shortcut_does(grid):
    own_way = grid[grid["method"] == "KK by submatrices"].set_index(["setting", "reg"])
    shortcut = grid[grid["method"] == "KK"].set_index(["setting", "reg"]).loc[own_way.index]
    assert own_way["deviation"].max() < 1e-8
    np.testing.assert_allclose(own_way["auc"], shortcut["auc"], atol=1e-6)


def test_what_would_take_too_long_is_sampled_and_extrapolated_and_said_so(nr):
    frame = run_measurement("stock.leave_one_out_grid", GRID | {"submatrix_cap": 0}, nr, "nr")
    sampled = frame[frame["method"] == "KK by submatrices"]
    assert sampled["auc"].isna().all()
    assert sampled["deviation"].max() < 1e-8
    m, q = kernels(nr)[2].shape
    said = sampled.groupby("setting")["extrapolated_from"].first()
    assert said.to_dict() == {
        "B": f"2 of {m} rows",
        "C": f"2 of {q} columns",
        "D": f"4 of {m * q} pairs",
    }
    areas = areas_of(frame)
    assert areas.loc[("B", "TS"), "by submatrices is"] == f"extrapolated from 2 of {m} rows"


def test_no_clock_decides_which_areas_there_are(grid, nr, monkeypatch):
    clock = time.perf_counter
    monkeypatch.setattr(time, "perf_counter", lambda: 1e6 * clock())  # of a very slow machine
    slow = run_measurement("stock.leave_one_out_grid", GRID, nr, "nr")
    assert slow["seconds"].max() > 1e3
    pd.testing.assert_series_equal(slow["auc"], grid["auc"])


def test_at_each_scale_the_paper_s_own_way_is_whole_where_the_accepted_run_has_it():
    whole = {}
    for scale in (None, "paper", "smoke"):
        item = load_plan(merged(scale)).item("stock", "table-6.1")
        sizes = {"e": (664, 445), "gpcr": (95, 223), "ic": (204, 210), "nr": (26, 54)}
        whole[scale] = " ".join(
            name
            + "".join(
                setting
                for setting in "BCD"
                if leave_one_out_grid._decomposed(setting, *sizes[name])
                <= item.parameters["submatrix_cap"]
            )
            for name in item.datasets
        )
    assert whole == {
        None: "eC gpcrBC icBC nrBCD",
        "paper": "eBC gpcrBCD icBCD nrBCD",
        "smoke": "gpcrBC",
    }


@pytest.mark.parametrize(
    ("setting", "seconds"),
    [
        ("B", 1 + 8 * 10),
        ("C", 1 + 8 * 5),
        # two rows: one second for both, eight for their four pairs
        ("D", 20 * 1 / 2 + 200 * 8 / 4),
    ],
)
def test_what_is_shared_is_not_multiplied(setting, seconds):
    problem = np.eye(20), np.eye(10), np.zeros((20, 10))
    own_way = leave_one_out_grid.OwnWay(setting, problem, [1.0], 2, np.random.default_rng(0))
    timed = {
        name: (None, Timing(spent, spent, spent, 1, spent, 0.0, 1))
        for name, spent in zip(own_way.pieces, (1.0, 9.0), strict=True)
    }
    found = own_way.timing(timed)
    assert found.seconds == found.seconds_low == pytest.approx(seconds)


def test_the_table_compares_two_step_regression_with_both_ways(grid):
    areas = areas_of(grid)
    assert "KK by submatrices" not in areas.index.get_level_values("method")
    clocks = grid.groupby(["setting", "method"])[["seconds", "scoring_seconds"]].first()
    seconds = clocks["seconds"]
    for setting in "BCD":
        own_way = seconds[setting, "KK by submatrices"]
        assert areas.loc[(setting, "KK"), "by submatrices, s"] == own_way
        ratio = areas.loc[(setting, "TS"), "speed-up over KK by submatrices"]
        assert ratio == pytest.approx(own_way / seconds[setting, "TS"])
    assert areas.loc[("A", "KK"), ["by submatrices, s", "deviation of it"]].isna().all()
    theirs = seconds["D", "KK by submatrices"] + clocks.loc[("D", "KK"), "scoring_seconds"]
    ratio = theirs / clocks.loc[("D", "TS")].sum()
    assert areas.loc[("D", "TS"), "the same, AUC included"] == pytest.approx(ratio)


def test_beside_your_own_data_nothing_is_printed(grid):
    areas = areas_of(grid, "lab")
    assert areas["paper"].isna().all()
    assert areas.loc[("D", "TS"), "ours"] > 0
