"""Table 2: what is timed, and what the time cap leaves out."""

import numpy as np

from kronbench.runner.job import run_experiment
from tests.small_classes import COMMON, documents


def test_fits_evaluations_and_searches_are_timed():
    spec = COMMON | {
        "methods": {"others": ["F1, printed", "F1", "H1", "H2", "H1, preconditioned"]},
        "searches": {},
        "timed_folds": {"others": 3},
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
    one = run_experiment(
        "seeger.final_fits", spec | {"timed_folds": {"others": 1}}, documents(), "ipc-d"
    )
    assert set(one["quantity"]) == {"final fit", "cv fold"}
    a_third = evaluations[evaluations["evaluation"] == 2].set_index("method")["products"] / 3
    products = one[one["quantity"] == "cv fold"].set_index("method")["products"]
    # another fold has about as many, from a step of about the same length
    np.testing.assert_allclose(products, a_third[products.index], rtol=0.5)
    capped = run_experiment("seeger.final_fits", spec | {"time_cap": 0}, documents(), "ipc-d")
    assert set(capped["quantity"]) == {"final fit"}
    assert len(capped.attrs["skipped"]) == 4
