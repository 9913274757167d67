"""Figure 3 of Stock et al. 2016: what the shortcuts leave out."""

import numpy as np

from kronbench.runner.job import run_experiment
from tests.helpers import matrix


def test_the_shortcuts_leave_out_what_the_settings_say(nr):
    spec = {"seed": 5, "time_cap": 1, "shape": [6, 4], "pair": [2, 1], "reg": 0.3}
    frame = run_experiment("stock.left_out_pairs", spec, nr, "nr")
    row, col = np.indices((6, 4))
    left_out = {
        "A": (row == 2) & (col == 1),
        "B": row == 2,
        "C": col == 1,
        "D": (row == 2) | (col == 1),
    }
    predicted = left_out | {"D": left_out["A"]}
    for setting, part in frame.groupby("setting"):
        role = matrix(part, "role")
        np.testing.assert_array_equal(role != "train", left_out[setting])
        np.testing.assert_array_equal(role == "test", predicted[setting])
