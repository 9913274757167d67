"""The mean over folds of a protocol, drawn several times."""

import types

import numpy as np
import pandas as pd
import pytest

from kronbench.intervals import half_width
from kronbench.papers.airola.draw import repeated_auc
from kronbench.papers.airola.measure import early_stopping, method_comparison
from kronbench.runner.job import run_experiment
from kronbench.runner.seeds import generator

SHARED = {"draws": 2, "fraction": 0.25, "folds": [0, 4], "seed": 7, "time_cap": 10}
CURVES = SHARED | {
    "protocol": "early_stopping",
    "solver": "kronbench.models.KronRidge",
    "solver_parameters": {},
    "iterations": 12,
    "regs": [0.5, 2.0],
}
METHODS = SHARED | {
    "protocol": "method_comparison",
    "inner_folds": [0, 4, 8],
    "grids": {"n_neighbors": [1, 15]},
    "methods": {
        "KronRidge": {"solver": "kronbench.models.KronRidge", "parameters": {"max_iter": 20}},
        "KNN": {"solver": "kronbench.models.PairKNN", "select": "n_neighbors"},
    },
}


def seed_of(draw):
    return int(generator(7, "draw", draw).integers(2**31))


def test_a_draw_is_the_mean_over_the_folds_of_the_protocol_from_another_seed(data):
    frame = run_experiment("airola.repeated_protocol", CURVES, data, "GPCR")
    assert len(frame) == 2 * 2 * 12
    for draw in (0, 1):
        seed = seed_of(draw)
        folds = early_stopping.run(CURVES | {"seed": seed}, data, generator(seed, data.name))
        expected = folds.groupby(["reg", "iteration"])["auc"].mean()
        found = frame[frame["draw"] == draw].set_index(["reg", "iteration"])["auc"]
        pd.testing.assert_series_equal(found.sort_index(), expected, check_names=False)
    first, second = (frame[frame["draw"] == draw]["auc"].to_numpy() for draw in (0, 1))
    assert not np.allclose(first, second)
    assert set(frame["stretch"]) == {"first ten", "later"}


def test_methods_are_compared_on_the_same_draw_and_edges_are_counted(data):
    frame = run_experiment("airola.repeated_protocol", METHODS, data, "GPCR")
    assert frame[["draw", "method"]].to_numpy().tolist() == [
        [draw, method] for draw in (0, 1) for method in ("KronRidge", "KNN")
    ]
    seed = seed_of(1)
    folds = method_comparison.run(METHODS | {"seed": seed}, data, None)
    of_knn = folds[folds["method"] == "KNN"]
    row = frame.query("draw == 1 and method == 'KNN'")
    assert row["auc"].item() == of_knn["auc"].mean()
    assert row["on_edge"].item() == of_knn["on_edge"].sum() == 2  # a grid of two has only ends
    assert frame.query("method == 'KronRidge'")["on_edge"].isna().all()


def test_the_table_has_student_s_interval_over_draws():
    frame = pd.DataFrame(
        {"method": "KNN", "draw": [0, 1, 2], "auc": [0.5, 0.6, 0.7], "on_edge": [0, 2, 1]}
    ).assign(dataset="Ki", source="mirror")
    item = types.SimpleNamespace(printed="file", drawing_options={})
    (row,) = repeated_auc.tabulate(
        frame, item, pd.DataFrame({"method": ["KNN"], "Ki": [0.71]})
    ).to_dict("records")
    assert row["ours"] == pytest.approx(0.6)
    assert row["difference"] == pytest.approx(-0.11)
    assert row["±"] == pytest.approx(half_width([0.5, 0.6, 0.7]))
    assert (row["lowest"], row["highest"], row["draws"], row["on edge"]) == (0.5, 0.7, 3, 3)
