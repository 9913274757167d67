"""Performance table 1: KronSVM end to end, a process for each run."""

import numpy as np
import pytest

from kronbench.bench.job import run_experiment
from kronbench.experiments import largest_runs
from kronbench.models import KronSVM

GAUSSIAN = {"row_kernel": "gaussian", "col_kernel": "gaussian", "row_gamma": 1.0, "col_gamma": 1.0}
SVM = {"solver": "kronbench.models.KronSVM", "parameters": GAUSSIAN}
SPEC = {
    "solvers": {"CG": SVM, "elsewhere": SVM},
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


def test_single_precision_is_that_of_features_and_labels_and_ranks_alike():
    pairs, y = largest_runs._board(np.dtype("float32"), 20, np.random.default_rng(0))
    assert {pairs.row_features.dtype, pairs.col_features.dtype, y.dtype} == {np.dtype("float32")}
    assert KronSVM(**GAUSSIAN).fit(pairs, y).dual_coef_.dtype == np.float32
    solvers = {"double": SVM, "single": SVM | {"dtype": "float32"}}
    spec = SPEC | {"solvers": solvers, "sizes": {"double": [80], "single": [80]}}
    double, single = run_experiment("largest_runs", spec, None, "all")["auc"]
    assert double == pytest.approx(single, abs=0.01)
