"""Figures 1, 2, 3 and 6 and table 3.3 of Stock et al. 2016 show what their words say."""

import functools

import numpy as np
import pytest

from kronbench.datasets import load
from kronbench.datasets.drug_target import kernels
from kronbench.models import TwoStepRidge
from kronbench.papers.stock.measure.transfer_learning_curves import Split
from kronbench.runner.job import run_experiment
from tests.helpers import matrix

run = functools.partial(run_experiment, "stock.schematics")
SYSTEMS = {"scheme": "system_residuals", "seed": 5, "reg": 0.3, "reg_cols": 2.0}


def test_a_setting_says_which_vertices_are_new(nr):
    spec = {"scheme": "prediction_settings", "new_targets": 4, "new_drugs": 9, "withheld": 0.1}
    frame = run(spec | {"seed": 5}, nr, "nr")
    role = matrix(frame, "role")
    assert role.shape == nr["values"].T.shape
    assert set(role[:-4, :-9].ravel()) == {"train", "A"}
    assert set(role[-4:, :-9].ravel()) == {"B"}
    assert set(role[:-4, -9:].ravel()) == {"C"}
    assert set(role[-4:, -9:].ravel()) == {"D"}
    assert frame["interacts"].sum() == nr["values"].sum()


def test_both_steps_are_drawn_with_the_numbers_of_their_formulas(nr):
    spec = {"scheme": "two_step_principle", "seed": 5, "reg": 0.2, "reg_cols": 0.7}
    parts = {name: matrix(part, "value") for name, part in run(spec, nr, "nr").groupby("matrix")}
    m, q = parts["Y"].shape
    first = parts["k"] @ np.linalg.solve(parts["K"] + 0.2 * np.eye(m), parts["Y"])
    second = parts["g"] @ np.linalg.solve(parts["G"] + 0.7 * np.eye(q), first.T)
    np.testing.assert_allclose(parts["step 1"], first, atol=1e-10)
    np.testing.assert_allclose(parts["step 2"], second, atol=1e-10)
    np.testing.assert_allclose(parts["direct"], second, atol=1e-10)
    assert parts["label"] == parts["Y"].max()


def test_the_shortcuts_leave_out_what_the_settings_say(nr):
    spec = {"scheme": "left_out_pairs", "seed": 5, "shape": [6, 4], "pair": [2, 1], "reg": 0.3}
    row, col = np.indices((6, 4))
    left_out = {
        "A": (row == 2) & (col == 1),
        "B": row == 2,
        "C": col == 1,
        "D": (row == 2) | (col == 1),
    }
    predicted = left_out | {"D": left_out["A"]}
    for setting, part in run(spec, nr, "nr").groupby("setting"):
        role = matrix(part, "role")
        np.testing.assert_array_equal(role != "train", left_out[setting])
        np.testing.assert_array_equal(role == "test", predicted[setting])


def test_the_layout_is_that_of_the_first_split_of_the_learning_curves():
    data = load("davis", policy="surrogate")
    _, _, Y = kernels(data)
    spec = {"scheme": "transfer_layout", "seed": 5, "size": 30}
    spec |= {"test": {"davis": 192}, "task_folds": 5}
    frame = run(spec, data, "davis")
    split = Split.draw(spec, data, Y.shape, repetition=0)
    proteins = frame.groupby(["approach", "tasks", "role"])["protein"].apply(list)
    assert proteins["independent-task", "target", "varying"] == split.pool[:30].tolist()
    assert proteins["zero-shot", "auxiliary", "varying"] == split.pool[:30].tolist()
    assert proteins["almost zero-shot", "auxiliary", "constant"] == split.pool.tolist()
    for approach in frame["approach"].unique():
        assert proteins[approach, "target", "test"] == split.test.tolist()
        assert (approach, "auxiliary", "test") not in proteins
    assert ("zero-shot", "target", "varying") not in proteins
    assert ("independent-task", "auxiliary", "varying") not in proteins
    assert not set(split.pool) & set(split.test)
    assert frame.drop_duplicates("tasks")["n_tasks"].sum() == Y.shape[1]


def test_systems_are_solved_and_predictions_are_those_of_the_printed_functions(nr):
    frame = run(SYSTEMS, nr, "nr")
    assert len(frame) == 4
    assert frame["residual"].max() < 1e-8
    assert frame["deviation"].max() < 1e-8


def test_another_prediction_is_told(nr, monkeypatch):
    right = TwoStepRidge.predict_matrix
    monkeypatch.setattr(TwoStepRidge, "predict_matrix", lambda self, *at: 1.001 * right(self, *at))
    deviation = run(SYSTEMS, nr, "nr").set_index("method")
    assert deviation.loc["two-step", "deviation"] == pytest.approx(1e-3, rel=1e-2)
