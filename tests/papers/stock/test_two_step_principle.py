"""Figure 2 of Stock et al. 2016: both steps for one new pair."""

import numpy as np

from kronbench.runner.job import run_experiment
from tests.helpers import matrix


def test_both_steps_are_drawn_with_the_numbers_of_their_formulas(nr):
    spec = {"seed": 5, "time_cap": 1, "reg": 0.2, "reg_cols": 0.7}
    frame = run_experiment("stock.two_step_principle", spec, nr, "nr")
    parts = {name: matrix(part, "value") for name, part in frame.groupby("matrix")}
    m, q = parts["Y"].shape
    first = parts["k"] @ np.linalg.solve(parts["K"] + 0.2 * np.eye(m), parts["Y"])
    second = parts["g"] @ np.linalg.solve(parts["G"] + 0.7 * np.eye(q), first.T)
    np.testing.assert_allclose(parts["step 1"], first, atol=1e-10)
    np.testing.assert_allclose(parts["step 2"], second, atol=1e-10)
    np.testing.assert_allclose(parts["direct"], second, atol=1e-10)
    assert parts["label"] == parts["Y"].max()
