"""Table 2: what is timed, and what the time cap leaves out."""

from kronbench.bench.job import run_experiment
from tests.small_classes import COMMON, documents


def test_fits_evaluations_and_searches_are_timed():
    spec = COMMON | {
        "methods": {"others": ["F1, printed", "F1", "H1", "H2", "H1, preconditioned"]},
        "searches": {},
        "variances": {"F1": 5, "H1": [3, 4, 5], "H2": 4},
        "steps": {"F1": [25, 12]},
        "folds": 3,
        "bias_variance": 0.1,
        "dtype": "float32",
        "tol": 1e-6,
        "noise": 1e-4,
    }
    frame = run_experiment("seeger.final_fits", spec, documents(), "ipc-d")
    final = frame[frame["quantity"] == "final fit"]
    methods = ["F1, printed", "F1", "H1", "H2", "H1, preconditioned"]
    assert final["method"].tolist() == methods
    printed = final["method"] == "F1, printed"
    assert (final["newton_steps"][printed] <= 25).all()
    assert (final["gap"][printed] <= 1e-4).all()
    assert (final["gap"][~printed] <= 1e-6).all()
    assert (final["seconds"] > 0).all()
    evaluations = frame[frame["quantity"] == "evaluation"]
    assert (evaluations.groupby("method")["stage"].first() == "first").all()
    assert set(frame["quantity"]) == {"final fit", "learning", "evaluation", "cv fold"}
    some = run_experiment(
        "seeger.final_fits", spec | {"searches": {"ipc-d": ["F1"]}}, documents(), "ipc-d"
    )
    assert some.loc[some["quantity"] == "learning", "method"].tolist() == ["F1"]
    capped = run_experiment("seeger.final_fits", spec | {"time_cap": 0}, documents(), "ipc-d")
    assert set(capped["quantity"]) == {"final fit"}
    assert len(capped.attrs["skipped"]) == 4
