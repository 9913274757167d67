"""Figure 1 of Bach & Jordan 2005: the time of each step of CSI, and its identities."""

import numpy as np

from kronbench.linalg.csi_decomposition import CSI_STEPS
from kronbench.papers.bach.measure import csi_steps
from kronbench.runner.seeds import generator

SPEC = {
    "sizes": [300, 600],
    "features": 4,
    "gamma": 1.0,
    "rank": 20,
    "lookahead": 8,
    "rank_points": 300,
    "ranks": [5, 10],
    "identity_points": 60,
}


def test_csi_steps_account_for_the_whole():
    frame = csi_steps.run(SPEC, None, generator(0))
    single = {
        "one iteration: permute, exact gain, gains of all",
        "one iteration: redo Cholesky steps",
    }
    others = {"total", "incomplete Cholesky", "total, by rank", "identity"}
    assert set(frame["step"]) == {*CSI_STEPS, *others, *single}
    timed = frame[frame["step"] != "identity"]
    assert (timed["seconds"] >= 0).all()
    assert (timed["columns"] <= 28).all()
    assert sorted(timed["n"].unique()) == [300, 600]
    assert (timed["repeats"] >= 3).all()
    assert (timed["seconds_low"] <= timed["seconds"]).all()
    assert (timed["seconds"] <= timed["seconds_high"]).all()
    assert timed.loc[timed["step"] == "total", "processors"].gt(0).all()
    assert (frame.loc[frame["step"] == "identity", "deviation"] < 1e-10).all()


def test_steps_that_are_redone_are_those_of_the_decomposition():
    X = np.random.default_rng(0).random((80, 3))
    kernel = csi_steps.KernelColumns(X, "gaussian", 1.0)
    whole = csi_steps.incomplete_cholesky(kernel, 12)
    redo = csi_steps._Redo(kernel, whole.pivots, 8, 4)
    redo()
    redo()
    np.testing.assert_allclose(redo.steps.take(12), whole.factor, atol=1e-12)


def test_regret_tells_a_choice_that_was_not_the_best():
    rng = np.random.default_rng(1)
    X = rng.random((40, 2))
    K = csi_steps.gram(X, kernel="gaussian", gamma=2.0)
    Y = X - X.mean(axis=0)
    best = csi_steps.csi(K, Y, 5, lookahead=40, tol=0.0)
    assert abs(csi_steps._regret(K, Y, best)) < 1e-10
    assert csi_steps._regret(K, Y, csi_steps.csi(K, Y, 5, lookahead=0, tol=0.0)) > 1e-3
