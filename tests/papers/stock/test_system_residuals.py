"""Table 3.3 of Stock et al. 2016: every method solves its own system."""

import pytest

from kronbench.papers.stock.measure import system_residuals
from kronbench.runner.job import run_experiment

SPEC = {"seed": 5, "time_cap": 1, "reg": 0.3, "reg_cols": 2.0}


def test_systems_are_solved_and_predictions_are_those_of_the_printed_functions(nr):
    frame = run_experiment("stock.system_residuals", SPEC, nr, "nr")
    assert len(frame) == 4
    assert frame["residual"].max() < 1e-8
    assert frame["deviation"].max() < 1e-8


def test_another_prediction_is_told(nr, monkeypatch):
    model = system_residuals.TwoStepRidge
    right = model.predict_matrix
    monkeypatch.setattr(model, "predict_matrix", lambda self, *at: 1.001 * right(self, *at))
    deviation = run_experiment("stock.system_residuals", SPEC, nr, "nr").set_index("method")
    assert deviation.loc["two-step", "deviation"] == pytest.approx(1e-3, rel=1e-2)
