"""Curves over iterations, and the mean over folds of a protocol that is drawn several times."""

import numpy as np
import pandas as pd

from kronbench_suite.papers.airola.measure import (
    early_stopping,
    method_comparison,
    repeated_protocol,
)
from kronbench_suite.papers.airola.measure.early_stopping import run
from kronbench_suite.papers.airola.plot.early_stopping import draw as draw_curves
from kronbench_suite.runner.job import run_measurement
from kronbench_suite.runner.plans import load_plan
from kronbench_suite.runner.seeds import generator
from tests.helpers import merged

SPEC = {
    "solver": "kronbench.models.KronRidge",
    "solver_parameters": {},
    "iterations": 12,
    "regs": [0.5, 2.0],
    "folds": [0, 4],
    "fraction": 0.25,
    "seed": 7,
}


def test_one_krylov_space_gives_the_curves_of_separate_fits(data, monkeypatch):
    shared = run(SPEC, data, generator(1))
    monkeypatch.setattr(early_stopping, "_path_curves", early_stopping._fitted_curves)
    separate = run(SPEC, data, generator(1))
    np.testing.assert_allclose(shared["risk"], separate["risk"], rtol=1e-6)
    np.testing.assert_allclose(shared["auc"], separate["auc"], atol=1e-6)


def test_what_is_left_of_the_risk_begins_with_a_half_for_each_pair(data):
    (left,) = (
        part.set_index("iteration")
        for _, part in run(SPEC | {"folds": [0], "regs": [2.0]}, data, generator(1)).groupby("reg")
    )
    start, last = left["n"].iloc[0] / 2, left["risk"].iloc[-1]
    by_hand = (left["risk"] - last) / (start - last)
    np.testing.assert_allclose(left["risk_left"], by_hand)
    assert 1 > left["risk_left"].iloc[0] > left["risk_left"].iloc[-1] == 0
    assert left.loc[[10, 11], "stretch"].tolist() == ["first ten", "later"]


def test_both_forms_reach_the_same_risk_and_ranking(data):
    ridge = {key: SPEC[key] for key in ("solver", "solver_parameters")}
    svm = {"solver": "kronbench.models.KronSVM", "solver_parameters": {"max_inner": 60}}
    spec = {key: value for key, value in SPEC.items() if key not in ridge} | {
        "methods": {"KronRidge": ridge, "KronSVM": svm},
        "forms": ["dual", "primal"],
        "regs": [500.0],
        "folds": [0],
        "iterations": 40,
    }
    frame = run_measurement("airola.early_stopping", spec, data, "gpcr")
    assert len(frame) == 2 * 2 * 40
    last = frame[frame["iteration"] == 40].pivot(
        index="method", columns="form", values=["risk", "auc"]
    )
    np.testing.assert_allclose(last["risk", "primal"], last["risk", "dual"], rtol=1e-6)
    np.testing.assert_allclose(last["auc", "primal"], last["auc", "dual"], atol=1e-3)
    first = frame[(frame["iteration"] == 1) & (frame["method"] == "KronSVM")]
    assert first["risk"].nunique() == 2  # two forms were fitted, not one twice


def test_rows_that_rounding_decides_have_the_numbers_of_another_order_of_sums(data):
    """A truncated Newton step of 100 iterations of QMR: at a tiny weight far beyond rounding."""
    svm = {
        "solver": "kronbench.models.KronSVM",
        "solver_parameters": {"max_inner": 100, "solver": "qmr", "product": "sparse"},
        "regs": [2.0**-10, 2.0**10],
    }
    frame = run(SPEC | svm | {"folds": [0]}, data, generator(1))
    decided = frame[["risk_reversed", "auc_reversed"]].notna()
    shares = decided.groupby(frame["reg"]).mean()
    assert shares["risk_reversed"].to_dict() == {2.0**-10: 1.0, 2.0**10: 0.0}
    assert shares["auc_reversed"].between([0.5, 0.0], [1.0, 0.0]).all()
    tiny = frame[decided["risk_reversed"]]
    assert (tiny["risk_reversed"] / tiny["risk"] - 1).abs().max() > 1e-2
    # It is the same problem: the first step at a larger weight is nearly the same in both orders.
    early = run(SPEC | svm | {"iterations": 1, "regs": [1.0]}, data, generator(1))
    assert early["risk_reversed"].notna().all()
    np.testing.assert_allclose(early["risk_reversed"], early["risk"], rtol=1e-2)


def test_a_mean_over_folds_in_another_order_of_sums_is_of_all_folds(data, monkeypatch):
    rows = {"reg": 1.0, "iteration": 1, "stretch": "first ten", "fold": [0, 1, 0, 1]}
    folds = pd.DataFrame(rows | {"auc": [0.6, 0.8, 0.5, 0.5]})
    folds["reg"] = [1.0, 1.0, 2.0, 2.0]
    folds["auc_reversed"] = [np.nan, 0.7, np.nan, np.nan]
    known = repeated_protocol._PROTOCOLS["early_stopping"][1]
    protocols = {"early_stopping": (lambda *given: folds, known)}
    monkeypatch.setattr(repeated_protocol, "_PROTOCOLS", protocols)
    frame = repeated_protocol.run(DRAWN | {"repetitions": 1}, data, None)
    np.testing.assert_allclose(frame["auc"], [0.7, 0.5])
    np.testing.assert_allclose(frame["auc_reversed"], [0.65, np.nan])


def test_another_order_of_sums_is_drawn_where_rounding_decides():
    item = load_plan(merged()).item("airola", "figure-5")
    iterations = np.tile(np.arange(1, 101), 2)
    frame = pd.DataFrame({"dataset": "GPCR", "reg": 1.0, "iteration": iterations, "n": 100})
    frame["fold"] = np.repeat([0, 1], 100)
    frame["risk"], frame["auc"] = 1.0 / iterations, 0.6
    for other, drawn in (
        (np.where(iterations > 50, 0.8, np.nan), [0.6] * 50 + [0.8] * 50),
        (np.nan, None),
    ):
        figure = draw_curves(frame.assign(auc_reversed=other, risk_reversed=np.nan), item)
        dotted = [
            line.get_ydata()
            for panel in figure.axes
            for line in panel.lines
            if line.get_linestyle() == ":" and len(line.get_ydata()) == 100
        ]
        assert len(dotted) == (drawn is not None)
        if dotted:
            np.testing.assert_allclose(dotted[0], drawn)
        texts = [text.get_text() for text in figure.legends[0].get_texts()]
        assert ("sums in another order" in texts) == (drawn is not None)


DRAWN = SPEC | {"protocol": "early_stopping", "repetitions": 2}
METHODS = {
    **{key: SPEC[key] for key in ("folds", "fraction", "seed")},
    "protocol": "method_comparison",
    "repetitions": 2,
    "inner_folds": [0, 4, 8],
    "grids": {"n_neighbors": [1, 15]},
    "methods": {
        "KronRidge": {"solver": "kronbench.models.KronRidge", "parameters": {"max_iter": 20}},
        "KNN": {"solver": "kronbench.models.PairKNN", "select": "n_neighbors"},
    },
}


def seed_of(repetition):
    return int(generator(7, "draw", repetition).integers(2**31))


def test_a_draw_is_the_mean_over_the_folds_of_the_protocol_from_another_seed(data):
    frame = run_measurement("airola.repeated_protocol", DRAWN, data, "GPCR")
    assert len(frame) == 2 * 2 * 12
    for repetition in (0, 1):
        seed = seed_of(repetition)
        folds = run(DRAWN | {"seed": seed}, data, generator(seed, data.name))
        expected = folds.groupby(["reg", "iteration"])["auc"].mean()
        found = frame[frame["repetition"] == repetition].set_index(["reg", "iteration"])["auc"]
        pd.testing.assert_series_equal(found.sort_index(), expected, check_names=False)
    first, second = (
        frame[frame["repetition"] == repetition]["auc"].to_numpy() for repetition in (0, 1)
    )
    assert not np.allclose(first, second)
    assert set(frame["stretch"]) == {"first ten", "later"}


def test_methods_are_compared_on_the_same_draw_and_edges_are_counted(data):
    frame = run_measurement("airola.repeated_protocol", METHODS, data, "GPCR")
    assert frame[["repetition", "method"]].to_numpy().tolist() == [
        [repetition, method] for repetition in (0, 1) for method in ("KronRidge", "KNN")
    ]
    seed = seed_of(1)
    folds = method_comparison.run(METHODS | {"seed": seed}, data, None)
    of_knn = folds[folds["method"] == "KNN"]
    row = frame.query("repetition == 1 and method == 'KNN'")
    assert row["auc"].item() == of_knn["auc"].mean()
    assert row["on_edge"].item() == of_knn["on_edge"].sum() == 2  # a grid of two has only ends
    assert frame.query("method == 'KronRidge'")["on_edge"].isna().all()
