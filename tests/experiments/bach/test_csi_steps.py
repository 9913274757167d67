"""Figure 1 of Bach & Jordan 2005: the time of each step of CSI, its look-ahead and identities."""

import numpy as np

from kronbench.bench.seeds import generator
from kronbench.experiments.bach import csi_steps
from kronbench.linalg.side_information import CSI_STEPS

SPEC = {
    "sizes": [300, 600],
    "features": 4,
    "gamma": 1.0,
    "rank": 20,
    "lookahead": 8,
    "rank_points": 300,
    "ranks": [5, 10],
    "lookahead_points": 60,
    "lookaheads": [0, 60],
    "problem_features": [2],
    "problem_gammas": [1.0],
    "identity_points": 60,
}


def test_csi_steps_account_for_the_whole():
    frame = csi_steps.run(SPEC, None, generator(0))
    others = {"total", "incomplete Cholesky", "total, by rank", "look-ahead", "identity"}
    assert set(frame["step"]) == {*CSI_STEPS, *others}
    timed = frame[~frame["step"].isin({"look-ahead", "identity"})]
    assert (timed["seconds"] >= 0).all()
    assert (timed["columns"] <= 28).all()
    assert sorted(timed["n"].unique()) == [300, 600]
    assert (timed["repeats"] >= 3).all()
    assert (timed["seconds_low"] <= timed["seconds"]).all()
    assert (timed["seconds"] <= timed["seconds_high"]).all()
    assert timed.loc[timed["step"] == "total", "processors"].gt(0).all()
    ahead = frame[frame["step"] == "look-ahead"].set_index("lookahead")
    assert ahead.loc[60, "same"] == 1
    assert ahead.loc[60, "share of the gain"] == 1
    assert (frame.loc[frame["step"] == "identity", "deviation"] < 1e-10).all()


def test_regret_tells_a_choice_that_was_not_the_best():
    rng = np.random.default_rng(1)
    X = rng.random((40, 2))
    K = csi_steps.gram(X, kernel="gaussian", gamma=2.0)
    Y = X - X.mean(axis=0)
    best = csi_steps.csi(K, Y, 5, lookahead=40, tol=0.0)
    assert abs(csi_steps._regret(K, Y, best)) < 1e-10
    assert csi_steps._regret(K, Y, csi_steps.csi(K, Y, 5, lookahead=0, tol=0.0)) > 1e-3
