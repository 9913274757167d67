"""Tables 6 and 7: methods on the same vertex-disjoint splits."""

import types

import numpy as np
import pandas as pd
import pytest

from kronbench.datasets.dataset import Dataset
from kronbench.datasets.generators import registered_checkerboard
from kronbench.evaluation import roc_auc
from kronbench.models import PairKNN
from kronbench_suite.papers.airola.measure import method_comparison
from kronbench_suite.papers.airola.plot import baseline_parameters, method_auc, method_seconds
from kronbench_suite.runner.job import run_measurement

SPEC = {
    "fraction": 0.25,
    "folds": [0, 4],
    "timed_folds": [4],
    "inner_folds": [0, 4, 8],
    "test_vertices": 40,
    "boards": 2,
    "grids": {
        "reg": [0.1, 1.0, 10.0],
        "n_neighbors": {"folds": [1, 15], "checkerboards": [5]},
    },
    "methods": {
        "KronRidge": {
            "solver": "kronbench.models.KronRidge",
            "parameters": {"reg": 1e-4, "max_iter": 20},
            "checkerboard": {"row_kernel": "gaussian", "row_gamma": 1.0},
        },
        "SGD hinge": {
            "solver": "kronbench.models.PairSGD",
            "parameters": {"n_updates": 2000},
            "select": "reg",
            "twin": "SGD hinge, ours",
        },
        "SGD hinge, ours": {
            "solver": "kronbench.models.PairSGD",
            "parameters": {"n_updates": 2000, "form": "dual"},
            "select": "reg",
            "only": "folds",
        },
        "KNN": {"solver": "kronbench.models.PairKNN", "select": "n_neighbors"},
        "Other": {"solver": "elsewhere.Solver"},
    },
    "seed": 7,
}


ITEM = types.SimpleNamespace(
    protocol={"folds": 9, "spread": {"test_over_train": 1 / 3, "degrees": 3}}
)


@pytest.fixture(scope="module")
def frame(data):
    return run_measurement("airola.method_comparison", SPEC, data, "GPCR")


def test_every_method_has_a_score_on_every_fold(frame):
    runs = frame.groupby("method")["fold"].apply(list)
    assert set(runs.index) == {"KronRidge", "SGD hinge", "SGD hinge, ours", "KNN"}
    assert all(folds == [0, 4] for folds in runs)
    assert frame.attrs["skipped"] == ["elsewhere.Solver was skipped: elsewhere is not installed"]


def test_a_twin_gives_the_scores_of_folds_that_are_not_timed(frame):
    ours, theirs = (
        frame[frame["method"] == name].set_index("fold")
        for name in ("SGD hinge, ours", "SGD hinge")
    )
    np.testing.assert_allclose(theirs["auc"], ours["auc"], atol=1e-9)
    assert theirs["scored_by"].fillna("").to_dict() == {0: "SGD hinge, ours", 4: ""}
    assert theirs["seconds"].notna().to_dict() == {0: False, 4: True}
    assert theirs["cpu_seconds"].notna().to_dict() == {0: False, 4: True}
    assert ours[["seconds", "fit_cpu"]].notna().all(axis=None)


def test_selected_values_are_kept_and_whether_they_end_their_grid(frame):
    chosen = frame[frame["method"] == "SGD hinge, ours"]
    assert chosen["reg"].isin([0.1, 1.0, 10.0]).all()
    assert (chosen["on_edge"] == chosen["reg"].isin([0.1, 10.0])).all()
    assert chosen["n_neighbors"].isna().all()
    assert frame.loc[frame["method"] == "KronRidge", "on_edge"].isna().all()


def test_a_selection_beside_a_twin_is_timed_on_one_inner_fold(data, monkeypatch):
    given = []
    whole = method_comparison._Method.inner_areas

    def inner_areas(method, pairs, y, seed, inner):
        given.append((method._parameters.get("form"), len(inner)))
        return whole(method, pairs, y, seed, inner)

    monkeypatch.setattr(method_comparison._Method, "inner_areas", inner_areas)
    methods = {name: SPEC["methods"][name] for name in ("SGD hinge", "SGD hinge, ours")}
    spec = {**SPEC, "folds": [4], "methods": methods}
    frame = run_measurement("airola.method_comparison", spec, data, "GPCR")
    assert given == [("dual", 3), (None, 1)]
    assert frame["reg"].nunique() == 1
    assert frame["auc"].iloc[0] == pytest.approx(frame["auc"].iloc[1], abs=1e-9)


def test_the_baselines_are_tested_with_each_value(data):
    knn = SPEC["methods"]["KNN"] | {"parameters": {}, "over": "n_neighbors"}
    sgd = SPEC["methods"]["SGD hinge, ours"] | {"over": "reg"}
    methods = {"KNN": knn, "SGD hinge": sgd}
    grids = {"n_neighbors": [1, 15], "reg": [0.25, 4]}
    spec = SPEC | {"folds": [4], "methods": methods, "grids": grids}
    frame = run_measurement("airola.baseline_parameters", spec, data, "GPCR")
    assert frame["n_neighbors"].tolist()[:2] == [1, 15]
    assert frame["reg"].tolist()[2:] == [0.25, 4]
    _, *train, test_set = next(method_comparison.splits(spec, data))
    pairs, y = test_set()
    for k, area in zip((1, 15), frame["auc"], strict=False):  # of one search
        scores = PairKNN(n_neighbors=k).fit(*train).decision_function(pairs)
        assert area == pytest.approx(roc_auc(y, scores))
    twice = pd.concat([frame, frame]).assign(dataset="Ki", source="mirror")
    table = baseline_parameters.tabulate(twice, ITEM, pd.DataFrame({"method": ["KNN"], "Ki": [7]}))
    assert table["λ"].tolist() == ["", "", "2^-2", "2^2"]
    assert table["test sets"].tolist() == [2] * 4
    np.testing.assert_allclose(table["ours"], frame["auc"])
    np.testing.assert_allclose(table["±"], 0, atol=1e-12)


def test_a_checkerboard_is_drawn_anew_for_training_and_test():
    arrays = registered_checkerboard(np.random.default_rng(0), m=40, fraction=0.25, flip=0.2)
    board = Dataset(name="Board", source="generated", kind="pairs", arrays=arrays)
    splits = list(method_comparison.splits(SPEC, board))
    assert [number for number, *_ in splits] == [0, 1]
    boards = [board for _, *train, test_set in splits for board in (train, test_set())]
    assert [len(y) for _, y in boards] == [400] * 4
    np.testing.assert_array_equal(boards[0][0].row_features, board["row_features"])
    vertices = [pairs.row_features for pairs, _ in boards]
    assert len(np.unique(np.concatenate(vertices))) == 4 * 40
    method = method_comparison._Method(SPEC["methods"]["KronRidge"], SPEC, "checkerboards")
    assert method.make(0).row_kernel == "gaussian"
    frame = run_measurement("airola.method_comparison", SPEC, board, "Board")
    assert not frame["cross_validated"].any()
    assert frame["method"].tolist() == ["KronRidge", "SGD hinge", "KNN"] * 2
    # a model of its own for each board
    assert (frame.groupby("method")["fit_cpu"].nunique() == 2).all()
    assert frame.loc[frame["method"] == "KNN", "n_neighbors"].eq(5).all()
    train, (test, y_test) = boards[2], boards[3]
    scores = method.make(0).fit(*train).decision_function(test)
    auc = frame.query("method == 'KronRidge' and fold == 1")["auc"].item()
    assert auc == pytest.approx(roc_auc(y_test, scores))


def rows(**columns):
    frame = pd.DataFrame({"dataset": "Ki", "method": "KNN", "source": "mirror", **columns})
    return frame.assign(selection_cpu=1.0, fit_cpu=2.0, prediction_cpu=3.0, seconds=4.0, n=10)


def test_tables_put_ours_beside_the_paper():
    printed = pd.DataFrame({"method": ["KNN"], "Ki": [0.71], "Checker": [46.0]})
    frame = rows(auc=[0.7, 0.8], n_neighbors=[10.0, 30.0], cpu_seconds=[5.0, 7.0])
    frame = frame.assign(cross_validated=True, reg=np.nan, on_edge=[0, 1], scored_by=None)
    (auc,) = method_auc.tabulate(frame, ITEM, printed).to_dict("records")
    assert (auc["ours"], auc["difference"]) == (pytest.approx(0.75), pytest.approx(0.04))
    assert (auc["test sets"], auc["chosen"], auc["on edge"]) == (2, "10 to 30", 1)
    (seconds,) = method_seconds.tabulate(frame, ITEM, printed).to_dict("records")
    assert (seconds["our seconds"], seconds["fit seconds"]) == (9 * 6.0, 9 * 2.0)
    assert (seconds["our seconds_low"], seconds["our seconds_high"]) == (9 * 5.0, 9 * 7.0)
    untimed = frame.assign(cpu_seconds=[5.0, np.nan])
    (seconds,) = method_seconds.tabulate(untimed, ITEM, printed).to_dict("records")
    assert (seconds["our seconds"], seconds["timed"]) == (9 * 5.0, 1)
    board = frame.assign(dataset="Checker", cross_validated=False)
    (seconds,) = method_seconds.tabulate(board, ITEM, printed).to_dict("records")
    assert (seconds["our seconds"], seconds["paper / our seconds"]) == (6.0, pytest.approx(46 / 6))
