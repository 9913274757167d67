"""Performance table 1: KronSVM end to end, a process for each run."""

import pytest

from kronbench.bench.job import run_experiment

GAUSSIAN = {"row_kernel": "gaussian", "col_kernel": "gaussian", "row_gamma": 1.0, "col_gamma": 1.0}
SPEC = {
    "solvers": {"CG": {"solver": "kronbench.models.KronSVM", "parameters": GAUSSIAN}},
    "sizes": {"CG": [60, 80]},
    "test_pairs": 900,
    "seed": 7,
    "time_cap": 10,
}


def test_each_run_has_its_memory_and_its_products():
    frame = run_experiment("largest_runs", SPEC, None, "all")
    assert frame["n"].tolist() == [900, 1600] and set(frame["predict_pairs"]) == {900}
    assert (frame["peak_mib"] > 50).all() and frame["auc"].between(0.4, 1).all()
    assert (frame["products"] * frame["product_seconds"]).tolist() == pytest.approx(
        frame["seconds"].tolist()
    )
    # 10 x 10 iterations of QMR make two products each
    assert (frame["products"] > 20).all()
