"""Performance table 1: fits end to end and low-rank factors, a process for each size."""

import numpy as np
import pytest

from kronbench.models import KronSVM
from kronbench_suite.runner.job import run_measurement
from kronbench_suite.studies.performance.measure import largest_runs

GAUSSIAN = {"row_kernel": "gaussian", "col_kernel": "gaussian", "row_gamma": 1.0, "col_gamma": 1.0}
SVM = {"solver": "kronbench.models.KronSVM", "parameters": GAUSSIAN}
SPEC = {
    "solvers": {},
    "sizes": {},
    "test_pairs": 900,
    "factor_sizes": [],
    "factors": {"features": 4, "gamma": 1.0, "rank": 30, "lookahead": 10},
    "seed": 7,
}


def test_fits_in_single_precision_and_in_the_primal_form():
    pairs, y = largest_runs._board(np.dtype("float32"), 20, np.random.default_rng(0))
    assert {pairs.row_features.dtype, pairs.col_features.dtype, y.dtype} == {np.dtype("float32")}
    assert KronSVM(**GAUSSIAN).fit(pairs, y).dual_coef_.dtype == np.float32
    form = {"form": "primal", "solver": "pcg"}
    steps = SVM | {"parameters": GAUSSIAN | form | {"iterated": True, "max_iter": 3}}
    solvers = {"double": SVM, "single": SVM | {"dtype": "float32"}, "steps": steps, "no size": SVM}
    spec = SPEC | {"solvers": solvers, "sizes": {name: [80] for name in list(solvers)[:3]}}
    frame = run_measurement("performance.largest_runs", spec, None, "all")
    double, single, _ = frame["auc"]
    assert double == pytest.approx(single, abs=0.01)
    assert frame["objective"].isna().tolist() == [False, False, True]  # its objective is another
    assert frame["n"].tolist() == [1600] * 3
    assert set(frame["predict_pairs"]) == {900}
    assert (frame["peak_mib"] > 50).all()
    np.testing.assert_allclose(frame["products"] * frame["product_seconds"], frame["seconds"])


def test_a_factor_needs_little_more_memory_than_its_columns():
    spec = SPEC | {"factor_sizes": [100_000]}
    frame = run_measurement("performance.largest_runs", spec, None, "all").set_index("solver")
    assert frame.index.tolist() == ["incomplete Cholesky", "CSI"]
    assert (frame["rank"] == 30).all()
    assert frame["columns"].tolist() == [30, 40]
    seconds = frame["seconds"]
    assert frame["ratio"].tolist() == pytest.approx((seconds / seconds.iloc[0]).tolist())
    # G, and a dozen numbers for each point beside it; a second G would make 16
    assert frame["peak_bytes"].between(8, 14).all()
