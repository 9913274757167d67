"""Section 4: the printed iteration and ours come down to the same mode."""

import numpy as np
import pandas as pd
import pytest

from kronbench_suite.papers.seeger.measure.newton_iterations import _in_step
from kronbench_suite.runner.job import run_measurement
from tests.small_classes import COMMON, documents

SPEC = COMMON | {
    "variances": [5],
    "k2": {"flat": 12, "tree": 17},
    "max_iter": 30,
    "accuracy": 1e-6,
}


@pytest.mark.parametrize("dense", [True, False])
def test_iterations_come_down_to_the_same_mode(dense):
    frame = run_measurement("seeger.newton_iterations", SPEC, documents(dense=dense), "ipc-d")
    ours = frame[frame["iteration"] == "ours"]
    assert ours.groupby("model")["reached"].sum().tolist() == [1, 1]
    known = ours.dropna(subset=["gap"])
    assert (known["excess"] <= known["gap"] * (1 + 1e-6) + 1e-9).all()
    assert frame[frame["iteration"] == "printed"].groupby("model")["reached"].any().all()
    assert frame["iteration"].nunique() == 3
    # the objective falls in every Newton step (Algorithm 3)
    for _, path in frame.groupby(["model", "iteration"]):
        assert (path["value"].diff().dropna() <= 1e-12 * path["value"].min()).all()


@pytest.mark.parametrize("dense", [True, False])
def test_the_printed_iteration_ends_before_rounding_does_and_says_what_rounding_decides(dense):
    frame = run_measurement("seeger.newton_iterations", SPEC, documents(dense=dense), "ipc-d")
    printed = frame[frame["iteration"] == "printed"]
    for _, path in printed.groupby("model"):
        assert (path["excess"] <= 1e-10).tolist() == [False] * (len(path) - 1) + [True]
    assert frame["excess"].min() == 1e-10
    # The printed iteration amplifies rounding a million times and more. Ours, of the same problem
    # in both orders, does not: only its excess at the end is rounding in part.
    apart = (printed["value_reversed"] / printed["value"] - 1).abs()
    assert apart.max() > 1e-9
    ours = frame[frame["iteration"] != "printed"]
    for name in ("value", "products", "newton_step"):
        assert ours[f"{name}_reversed"].isna().all()


def test_a_path_that_is_longer_in_another_order_is_compared_where_both_reach_the_accuracy():
    path, other = (
        pd.DataFrame({"newton_step": range(1, n + 1), "reached": np.arange(1, n + 1) == reached})
        for n, reached in ((4, 2), (3, 3))
    )
    assert _in_step(path, other)["newton_step"].tolist() == [1, 3, 3, 3]
    assert _in_step(other, path)["newton_step"].tolist() == [1, 2, 2]
    never = other.assign(reached=False)
    assert _in_step(path, never)["newton_step"].tolist() == [1, 2, 3, 3]
