"""Figures 2 and 3 and table 3.3 of Stock et al. 2016 show what their words say."""

import functools

import numpy as np
import pytest

from kronbench.models import TwoStepRidge
from kronbench_suite.runner.job import run_measurement
from tests.helpers import matrix

run = functools.partial(run_measurement, "stock.schematics")
SYSTEMS = {"scheme": "system_residuals", "seed": 5, "reg": 0.3, "reg_cols": 2.0}


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
