"""Figure 1 of Bach & Jordan 2005: the time of each step of CSI."""

import numpy as np

from kronbench.linalg import KernelColumns, incomplete_cholesky
from kronbench_suite.papers.bach.measure.csi_steps import redo_cholesky
from kronbench_suite.runner.job import run_measurement

SPEC = {
    "sizes": [300, 600],
    "features": 4,
    "gamma": 1.0,
    "rank": 20,
    "kappa": 0.99,
    "lookahead": 8,
    "rank_points": 300,
    "ranks": [5, 10],
    "seed": 0,
}


def test_seconds_of_steps_lie_within_their_spread():
    frame = run_measurement("bach.csi_steps", SPEC, None, "all")
    assert (frame["repeats"] >= 3).all()
    assert (frame["seconds_low"] <= frame["seconds"]).all()
    assert (frame["seconds"] <= frame["seconds_high"]).all()
    assert frame.loc[frame["step"] == "total", "processors"].gt(0).all()


def test_steps_that_are_redone_are_those_of_the_decomposition():
    X = np.random.default_rng(0).random((80, 3))
    kernel = KernelColumns(X, "gaussian", 1.0)
    whole = incomplete_cholesky(kernel, 12)
    redo = redo_cholesky(kernel, whole.pivots, 8)
    redo()
    np.testing.assert_allclose(redo().take(12), whole.factor, atol=1e-12)
