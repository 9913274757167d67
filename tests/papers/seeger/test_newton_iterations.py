"""Section 4: the printed iteration and ours come down to the same mode."""

import pytest

from kronbench_suite.runner.job import run_experiment
from tests.small_classes import COMMON, documents


@pytest.mark.parametrize("dense", [True, False])
def test_iterations_come_down_to_the_same_mode(dense):
    spec = COMMON | {
        "variances": [5],
        "k2": {"flat": 12, "tree": 17},
        "max_iter": 30,
        "accuracy": 1e-6,
    }
    frame = run_experiment("seeger.newton_iterations", spec, documents(dense=dense), "ipc-d")
    ours = frame[frame["iteration"] == "ours"]
    assert ours.groupby("model")["reached"].sum().tolist() == [1, 1]
    known = ours.dropna(subset=["gap"])
    assert (known["excess"] <= known["gap"] * (1 + 1e-6) + 1e-9).all()
    assert frame[frame["iteration"] == "printed"].groupby("model")["reached"].any().all()
    assert frame["iteration"].nunique() == 3
    # the objective falls in every Newton step (Algorithm 3)
    for _, path in frame.groupby(["model", "iteration"]):
        assert (path["value"].diff().dropna() <= 1e-12 * path["value"].min()).all()
