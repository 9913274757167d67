"""AUC of the baselines by the parameter that they select."""

import types

import numpy as np
import pandas as pd
import pytest

from kronbench.evaluation import roc_auc
from kronbench.models import PairKNN
from kronbench.papers.airola.draw import baseline_parameters
from kronbench.papers.airola.measure.method_comparison import splits
from kronbench.runner.job import run_experiment

SPEC = {
    "fraction": 0.25,
    "folds": [0, 4],
    "grids": {"reg": [0.1, 10.0], "n_neighbors": [1, 15]},
    "methods": {
        "KNN": {"solver": "kronbench.models.PairKNN", "parameters": {}, "over": "n_neighbors"},
        "SGD hinge": {
            "solver": "kronbench.models.PairSGD",
            "parameters": {"n_updates": 2000, "form": "dual"},
            "over": "reg",
        },
    },
    "seed": 7,
    "time_cap": 10,
}


@pytest.fixture(scope="module")
def frame(data):
    return run_experiment("airola.baseline_parameters", SPEC, data, "GPCR")


def test_each_value_of_each_method_is_tested_on_each_fold(frame):
    values = frame.groupby("method")[["n_neighbors", "reg"]].agg(
        lambda part: sorted(set(part.dropna()))
    )
    assert values.loc["KNN"].tolist() == [[1, 15], []]
    assert values.loc["SGD hinge"].tolist() == [[], [0.1, 10.0]]
    assert len(frame) == 2 * (2 + 2)


def test_neighbours_of_one_search_are_those_of_a_model_for_each_number(data, frame):
    for split in splits(SPEC, data):
        pairs, y = split.tests[split.fold]()
        for k in (1, 15):
            scores = (
                PairKNN(n_neighbors=k).fit(split.train, split.y_train).decision_function(pairs)
            )
            row = frame.query(f"method == 'KNN' and fold == {split.fold} and n_neighbors == {k}")
            assert row["auc"].item() == pytest.approx(roc_auc(y, scores))


def test_the_table_has_a_mean_for_each_value():
    frame = pd.DataFrame(
        {"method": "SGD hinge", "fold": [0, 1, 0, 1], "auc": [0.5, 0.7, 0.8, 0.8]}
    )
    frame = frame.assign(n_neighbors=np.nan, reg=[0.25, 0.25, 4, 4], dataset="Ki", source="mirror")
    printed = pd.DataFrame({"method": ["SGD hinge"], "Ki": [0.76]})
    item = types.SimpleNamespace(protocol={"test_over_train": 0.25})
    table = baseline_parameters.tabulate(frame, item, printed)
    assert table["ours"].tolist() == pytest.approx([0.6, 0.8])
    assert table["λ"].tolist() == ["2^-2", "2^2"]
    assert table["test sets"].tolist() == [2, 2]
    assert table["±"].iloc[1] == pytest.approx(0)
