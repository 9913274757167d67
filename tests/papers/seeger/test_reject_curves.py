"""Figures 3 and 4: curves from nothing predicted to the test error."""

import numpy as np

from kronbench.runner.job import run_experiment
from tests.small_classes import COMMON, pixels


def test_curves_end_at_the_test_error_and_start_at_zero():
    spec = COMMON | {
        "methods": ["mc-tied", "mc-sep", "1rest"],
        "partitions": 2,
        "other_scalings": {"variance": ["1rest"], "none": ["mc-tied", "1rest"]},
        "start": 10,
        "bias_variance": 1.0,
        "noise": 1e-3,
        "max_evaluations": 6,
        "coarse": 60,
        "points": 11,
    }
    frame = run_experiment("seeger.reject_curves", spec, pixels(), "satimage")
    assert len(frame) == (2 * 3 + 3) * 11
    counts = frame.groupby("method")["hyperparameters"].first()
    assert counts[["mc-tied", "mc-sep", "1rest"]].tolist() == [2, 6, 6]
    for _, curve in frame.groupby(["scaling", "partition", "method"]):
        assert curve["error"].iloc[0] == 0
        assert curve["error"].is_monotonic_increasing
        assert curve["predicted"].iloc[-1] == 80
    same = frame["scaling"] == "range"
    rest = frame[same & (frame["method"] == "1rest")]
    assert (rest["advantage"] == 0).all()
    tied = frame[same & (frame["method"] == "mc-tied")]
    np.testing.assert_allclose(
        tied["advantage"].to_numpy(), rest["error"].to_numpy() - tied["error"].to_numpy()
    )
