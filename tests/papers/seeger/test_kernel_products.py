"""Section 6.2: ways to multiply that agree."""

from kronbench.runner.job import run_experiment
from tests.small_classes import COMMON, pixels

SPEC = COMMON | {"classes": [4, 8], "gamma": 0.5, "stored": 100}


def test_ways_to_multiply_agree_and_are_timed():
    frame = run_experiment("seeger.kernel_products", SPEC, pixels(), "satimage")
    ways = frame.groupby("comparison")["way"].apply(set)
    assert ways["classes"] == {"4", "8"}
    assert ways["folds"] == {"contiguous", "looked up", "copied", "zero-padded"}
    assert ways["stored"] == {"stored", "from distances"}
    assert (frame["seconds"] > 0).all()
