"""Tables 6 and 7: methods on the same vertex-disjoint splits."""

import types

import numpy as np
import pandas as pd
import pytest

from kronbench.bench.job import run_experiment
from kronbench.datasets import load
from kronbench.datasets.checkerboard import generate
from kronbench.datasets.dataset import Dataset
from kronbench.evaluation import VertexDisjointKFold, roc_auc
from kronbench.experiments.airola import method_comparison
from kronbench.models import KronRidge, PairKNN
from kronbench.report.drawings.airola import method_auc, method_seconds

SPEC = {
    "fraction": 0.25,
    "folds": [0, 4],
    "repeats": [0, 1],
    "costly_folds": [4],
    "test_vertices": 40,
    "grids": {"reg": [0.1, 10.0], "n_neighbors": [1, 15]},
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
            "costly": True,
        },
        "KNN": {"solver": "kronbench.models.PairKNN", "select": "n_neighbors"},
        "Other": {"solver": "elsewhere.Solver"},
    },
    "seed": 7,
    "time_cap": 10,
}


@pytest.fixture(scope="module")
def data():
    return load("gpcr", policy="surrogate")


@pytest.fixture(scope="module")
def frame(data):
    return run_experiment("airola.method_comparison", SPEC, data, "GPCR")


def test_every_method_runs_on_its_folds(frame):
    runs = frame.groupby("method")[["repeat", "fold"]].apply(lambda part: part.values.tolist())
    assert runs["KronRidge"] == runs["KNN"] == [[0, 0], [0, 4], [1, 0], [1, 4]]
    assert runs["SGD hinge"] == [[0, 4]]
    assert frame.attrs["skipped"] == ["elsewhere.Solver was skipped: elsewhere is not installed"]


def test_methods_see_the_same_pairs_and_repeats_see_others(frame):
    sizes = frame.groupby(["repeat", "fold"])[["n", "n_test"]].nunique()
    assert (sizes == 1).all(axis=None)
    ridge = frame[frame["method"] == "KronRidge"]
    assert ridge["auc"].nunique() == 4


def test_seconds_are_the_sum_of_the_three_steps(frame):
    parts = frame[["selection_cpu", "fit_cpu", "prediction_cpu"]].sum(axis=1)
    np.testing.assert_allclose(frame["cpu_seconds"], parts)


def test_auc_is_that_of_the_model(data, frame):
    repeat, fold, train, test = next(method_comparison._splits(SPEC, data))
    model = KronRidge(reg=1e-4, max_iter=20).fit(*train)
    expected = roc_auc(test[1], model.decision_function(test[0]))
    row = frame.query(f"method == 'KronRidge' and repeat == {repeat} and fold == {fold}")
    assert row["auc"].item() == pytest.approx(expected)


def test_selection_by_one_search_is_selection_by_separate_fits(data):
    _, _, (pairs, y), _ = next(method_comparison._splits(SPEC, data))
    method = method_comparison._Method(SPEC["methods"]["KNN"], SPEC["grids"], False)
    splits = list(VertexDisjointKFold(3, 3, random_state=11).split(pairs, y))
    areas = np.array(
        [
            [
                roc_auc(
                    y[splits[block][1]],
                    PairKNN(n_neighbors=k)
                    .fit(pairs[splits[block][0]], y[splits[block][0]])
                    .decision_function(pairs[splits[block][1]]),
                )
                for k in (1, 15)
            ]
            for block in (0, 4, 8)
        ]
    )
    assert method.select(pairs, y, 11) == (1, 15)[int(areas.mean(axis=0).argmax())]


def test_a_checkerboard_is_trained_on_whole_and_tested_on_new_vertices():
    arrays = generate(np.random.default_rng(0), m=40, fraction=0.25, flip=0.2)
    board = Dataset(name="Board", source="generated", kind="pairs", arrays=arrays)
    ((repeat, fold, train, test),) = method_comparison._splits(SPEC, board)
    assert (repeat, fold) == (0, 0)
    assert len(train[0]) == 400
    assert len(test[0]) == 400
    assert not np.isin(test[0].row_features, train[0].row_features).any()
    method = method_comparison._Method(SPEC["methods"]["KronRidge"], {}, True)
    assert method.make(0).row_kernel == "gaussian"
    frame = run_experiment(
        "airola.method_comparison",
        SPEC | {"costly_folds": [0]},
        board,
        "Board",
    )
    assert not frame["cross_validated"].any()
    assert len(frame) == 3


def rows(**columns):
    frame = pd.DataFrame({"dataset": "Ki", "method": "KNN", "source": "mirror", **columns})
    return frame.assign(selection_cpu=1.0, fit_cpu=2.0, prediction_cpu=3.0, seconds=4.0, n=10)


def test_tables_put_ours_beside_the_paper():
    printed = pd.DataFrame({"method": ["KNN"], "Ki": [0.71], "Checker": [46.0]})
    frame = rows(auc=[0.7, 0.8], chosen=[10.0, 30.0], cpu_seconds=[5.0, 7.0], cross_validated=True)
    item = types.SimpleNamespace()
    (auc,) = method_auc.tabulate(frame, item, printed).to_dict("records")
    assert (auc["ours"], auc["difference"]) == (pytest.approx(0.75), pytest.approx(0.04))
    assert (auc["test sets"], auc["chosen"]) == (2, "10 to 30")
    (seconds,) = method_seconds.tabulate(frame, item, printed).to_dict("records")
    assert (seconds["our seconds"], seconds["selection seconds"]) == (9 * 6.0, 9.0)
    board = frame.assign(dataset="Checker", cross_validated=False)
    (seconds,) = method_seconds.tabulate(board, item, printed).to_dict("records")
    assert (seconds["our seconds"], seconds["paper / our seconds"]) == (6.0, pytest.approx(46 / 6))
