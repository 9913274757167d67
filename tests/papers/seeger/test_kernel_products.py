"""Section 6.2: ways to multiply that agree."""

from kronbench.runner.job import run_experiment
from tests.small_classes import COMMON, documents, pixels

SPEC = COMMON | {"classes": [4, 8], "gamma": 0.5, "stored": 100}


def test_products_of_a_tree_are_timed_beside_flat_ones():
    frame = run_experiment("seeger.kernel_products", SPEC, documents(), "ipc-d")
    assert set(frame["comparison"]) == {"classes", "tree"}
    assert (frame[frame["comparison"] == "tree"]["bound"] == 18 / 12).all()


def test_ways_to_multiply_agree_and_are_timed():
    frame = run_experiment("seeger.kernel_products", SPEC, pixels(), "satimage")
    ways = frame.groupby("comparison")["way"].apply(set)
    assert ways["classes"] == {"4", "8"}
    assert ways["folds"] == {"contiguous", "looked up", "copied", "zero-padded"}
    assert ways["stored"] == {"stored", "from distances"}
    read = frame.dropna(subset=["gbytes_per_second"]).set_index("way")
    assert set(read.index) == {"contiguous", "looked up"}
    assert (read["gbytes_per_second"] * read["seconds"]).round(12).eq(8 * 80**2 / 1e9).all()
