"""Table 3.3 of Stock et al. 2016: every method solves its own system."""

from kronbench.bench.job import run_experiment


def test_systems_are_solved_and_predictions_are_those_of_the_printed_functions(nr):
    frame = run_experiment(
        "system_residuals", {"seed": 5, "time_cap": 1, "reg": 0.3, "reg_cols": 2.0}, nr, "nr"
    )
    assert len(frame) == 4
    assert frame["residual"].max() < 1e-8
    assert frame["deviation"].max() < 1e-8
