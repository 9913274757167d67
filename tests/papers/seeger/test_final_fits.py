"""Table 2: what is timed, and what the time cap leaves out."""

import numpy as np

from kronbench_suite.runner.job import run_measurement
from tests.small_classes import COMMON, documents


def test_fits_evaluations_and_searches_are_timed():
    spec = COMMON | {
        "time_cap": 1e6,
        "methods": {"others": ["F1, printed", "F1", "H1", "H1, preconditioned"]},
        "searches": {},
        "timed_folds": {"others": 3},
        "variances": {"F1": 5, "H1": [3, 4, 5]},
        "steps": {"F1": [25, 12]},
        "tol": 1e-6,
        "noise": 1e-4,
    }
    frame = run_measurement("seeger.final_fits", spec, documents(), "ipc-d")
    final = frame[frame["quantity"] == "final fit"]
    assert list(final["method"]) == spec["methods"]["others"]
    printed = final["method"] == "F1, printed"
    assert (final["newton_steps"][printed] <= 25).all()
    assert (final["gap"][printed] <= 1e-4).all()
    assert (final["gap"][~printed] <= 1e-6).all()
    evaluations = frame[frame["quantity"] == "evaluation"]
    assert (evaluations.groupby("method")["stage"].first() == "first").all()
    assert set(frame["quantity"]) == {"final fit", "learning", "evaluation", "cv fold"}
    one = spec | {"timed_folds": {"others": 1}, "searches": {"ipc-d": ["F1"]}}
    one = run_measurement("seeger.final_fits", one, documents(), "ipc-d")
    folds = one[one["quantity"] == "cv fold"]
    assert folds["method"].tolist() == ["F1"]
    assert "learning" not in set(one["quantity"])
    second = evaluations[(evaluations["evaluation"] == 2) & (evaluations["method"] == "F1")]
    # another fold has about as many products, from a step of about the same length
    np.testing.assert_allclose(folds["products"], second["products"] / 3, rtol=0.5)
    capped = run_measurement("seeger.final_fits", spec | {"time_cap": 0}, documents(), "ipc-d")
    assert set(capped["quantity"]) == {"final fit"}
    assert len(capped.attrs["skipped"]) == 3
