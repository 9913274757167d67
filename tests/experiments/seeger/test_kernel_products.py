"""Section 6.2: ways to multiply that agree."""

from kronbench.bench.job import run_experiment
from tests.small_classes import COMMON, documents


def test_ways_to_multiply_agree_and_are_timed():
    spec = COMMON | {"classes": [4, 8], "dtype": "float32", "gamma": 0.5, "stored": 100}
    frame = run_experiment("seeger.kernel_products", spec, documents(), "ipc-d")
    ways = frame.groupby("comparison")["way"].apply(set)
    assert ways["tree"] == {"flat", "tree"}
    assert ways["folds"] == {"contiguous", "looked up", "copied", "zero-padded"}
    assert (frame[frame["comparison"] == "tree"]["bound"] == 18 / 12).all()
