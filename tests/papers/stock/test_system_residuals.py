"""Table 3.3 of Stock et al. 2016: every method solves its own system; the theorems hold."""

from kronbench.models import TwoStepRidge
from kronbench.papers.stock.measure import system_residuals
from kronbench.runner.job import run_experiment

SPEC = {"seed": 5, "time_cap": 1, "reg": 0.3, "reg_cols": 2.0, "block": [6, 5]}


def test_systems_are_solved_and_predictions_are_those_of_the_printed_functions(nr):
    frame = run_experiment("stock.system_residuals", SPEC, nr, "nr")
    systems = frame[frame["residual"].notna()]
    assert len(systems) == 4
    assert systems["residual"].max() < 1e-8
    assert systems["deviation"].max() < 1e-8


def test_both_sides_of_every_statement_agree(nr):
    rows = run_experiment("stock.system_residuals", SPEC, nr, "nr").set_index("method")
    statements = rows[rows["residual"].isna()]
    assert len(statements) == 12
    assert statements["deviation"].notna().sum() == 10
    assert statements["deviation"].max() < 1e-8
    # the bound is sharp for the exponent 1/2, and none for a larger one
    assert 0.9 < rows.loc["Theorem 5", "share"] <= 1
    assert rows.loc["Theorem 5, beyond 1/2", "share"] > 10


def test_another_prediction_breaks_the_statements(nr, monkeypatch):
    right = TwoStepRidge.predict_matrix
    monkeypatch.setattr(
        system_residuals.TwoStepRidge,
        "predict_matrix",
        lambda self, *at: 1.001 * right(self, *at),
    )
    deviation = run_experiment("stock.system_residuals", SPEC, nr, "nr").set_index("method")[
        "deviation"
    ]
    for name in ("order of the steps", "Theorem 1", "Theorem 2", "Theorem 3"):
        assert deviation[name] > 1e-4


def test_updates_that_forget_a_batch_deviate(nr, monkeypatch):
    right = TwoStepRidge.partial_fit_rows

    def forgetful(self, features, Y):
        return right(self, features[1:], Y[1:])

    monkeypatch.setattr(system_residuals.TwoStepRidge, "partial_fit_rows", forgetful)
    deviation = run_experiment("stock.system_residuals", SPEC, nr, "nr").set_index("method")[
        "deviation"
    ]
    assert deviation["Algorithm 1, l < d"] > 1e-3
    assert deviation["Algorithm 2, l < r"] < 1e-8
