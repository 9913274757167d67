"""Table 1 of Airola & Pahikkala: the sizes of a training fold."""

import numpy as np
import pandas as pd
import pytest

from kronbench.datasets import load
from kronbench.papers.airola.draw import notation
from kronbench.papers.airola.measure import notation as experiment
from kronbench.runner.job import run_experiment


def test_shared_vertices_are_counted(monkeypatch):
    class OneRow:
        def __init__(self, random_state):
            pass

        def split(self, pairs, y):
            yield np.flatnonzero(pairs.cols < 50), np.flatnonzero(pairs.rows == 3)

    monkeypatch.setattr(experiment, "VertexDisjointKFold", OneRow)
    spec = {"fold": 0, "fraction": 1.0, "seed": 5, "time_cap": 1}
    data = load("gpcr", policy="surrogate")
    (row,) = run_experiment("airola.notation", spec, data, "GPCR").to_dict("records")
    assert (row["shared_start"], row["shared_end"]) == (1, 50)


def test_notation_counts_a_training_fold():
    data = load("gpcr", policy="surrogate")
    spec = {"fold": 2, "fraction": 0.25, "seed": 5, "time_cap": 1}
    (row,) = run_experiment("airola.notation", spec, data, "GPCR").to_dict("records")
    assert (row["d"], row["r"]) == (223, 95)
    # 148 or 149 of 223 drugs and 63 or 64 of 95 targets train, four ninths of all pairs.
    assert row["m"] in (148, 149)
    assert row["q"] in (63, 64)
    assert row["n"] == pytest.approx(4 / 9 * 5296, rel=0.1)
    assert row["n_test"] == pytest.approx(1 / 9 * 5296, rel=0.2)
    assert row["shared_start"] == row["shared_end"] == 0
    table = notation.tabulate(pd.DataFrame([row]), None, None)
    assert table["n / (m q)"].item() == pytest.approx(0.25, rel=0.1)
