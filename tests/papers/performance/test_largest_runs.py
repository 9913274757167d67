"""Performance table 1: fits end to end and low-rank factors, a process for each size."""

import numpy as np
import pytest

from kronbench.models import KronSVM
from kronbench.papers.performance.measure import largest_runs
from kronbench.runner.job import run_experiment

GAUSSIAN = {"row_kernel": "gaussian", "col_kernel": "gaussian", "row_gamma": 1.0, "col_gamma": 1.0}
SVM = {"solver": "kronbench.models.KronSVM", "parameters": GAUSSIAN}
SPEC = {
    "solvers": {"CG": SVM, "elsewhere": SVM},
    "sizes": {"CG": [60, 80]},
    "test_pairs": 900,
    "factor_sizes": [],
    "factors": {"features": 4, "gamma": 1.0, "rank": 30, "lookahead": 10},
    "fingerprints": {"sizes": [], "rank": 40, "parameters": {"reg": 1.0, "product": "sparse"}},
    "seed": 7,
    "time_cap": 10,
}


def test_each_run_has_its_memory_and_its_products():
    frame = run_experiment("performance.largest_runs", SPEC, None, "all")
    assert frame["n"].tolist() == [900, 1600]
    assert set(frame["predict_pairs"]) == {900}
    assert (frame["peak_mib"] > 50).all()
    assert frame["auc"].between(0.4, 1).all()
    assert (frame["products"] * frame["product_seconds"]).tolist() == pytest.approx(
        frame["seconds"].tolist()
    )


def test_single_precision_is_that_of_features_and_labels_and_ranks_alike():
    pairs, y = largest_runs._board(np.dtype("float32"), 20, np.random.default_rng(0))
    assert {pairs.row_features.dtype, pairs.col_features.dtype, y.dtype} == {np.dtype("float32")}
    assert KronSVM(**GAUSSIAN).fit(pairs, y).dual_coef_.dtype == np.float32
    solvers = {"double": SVM, "single": SVM | {"dtype": "float32"}}
    spec = SPEC | {"solvers": solvers, "sizes": {"double": [80], "single": [80]}}
    double, single = run_experiment("performance.largest_runs", spec, None, "all")["auc"]
    assert double == pytest.approx(single, abs=0.01)


def test_the_primal_form_is_measured_in_products_of_the_same_kernel_matrix():
    primal = GAUSSIAN | {"form": "primal", "solver": "pcg", "reg": 2.0**-7}
    steps = primal | {"iterated": True, "reg": 0.25, "max_iter": 3, "max_inner": 1}
    optimum = primal | {"line_search": True, "max_iter": 30, "max_inner": 30, "tol": 1e-6}
    ten = GAUSSIAN | {"solver": "cg", "reg": 2.0**-7}
    solvers = {
        name: {"solver": "kronbench.models.KronSVM", "parameters": parameters}
        for name, parameters in {"steps": steps, "optimum": optimum, "10 x 10": ten}.items()
    }
    spec = SPEC | {"solvers": solvers, "sizes": {name: [80] for name in solvers}}
    frame = run_experiment("performance.largest_runs", spec, None, "all").set_index("solver")
    assert np.isnan(frame["objective"]["steps"])  # its objective is another
    assert frame["objective"]["optimum"] < frame["objective"]["10 x 10"]
    assert (frame["products"] * frame["product_seconds"]).tolist() == pytest.approx(
        frame["seconds"].tolist()
    )


def test_product_of_the_primal_form_is_that_of_the_dual():
    pairs, y = largest_runs._board(np.dtype("float64"), 30, np.random.default_rng(0))
    dual = KronSVM(**GAUSSIAN).prediction_operator(pairs)
    primal = KronSVM(form="primal", **GAUSSIAN).prediction_operator(pairs)
    np.testing.assert_allclose(largest_runs._gram_product(primal)(y), dual.matvec(y), atol=1e-8)


def test_a_factor_needs_little_more_memory_than_its_columns():
    spec = SPEC | {"sizes": {}, "factor_sizes": [100_000]}
    frame = run_experiment("performance.largest_runs", spec, None, "all").set_index("solver")
    assert frame.index.tolist() == ["incomplete Cholesky", "CSI"]
    assert (frame["rank"] == 30).all()
    assert frame["columns"].tolist() == [30, 40]
    seconds = frame["seconds"]
    assert frame["ratio"].tolist() == pytest.approx((seconds / seconds.iloc[0]).tolist())
    # G, and a dozen numbers for each point beside it; a second G would make 16
    assert frame["peak_bytes"].between(8, 14).all()


def test_landmarks_of_fingerprints_predict_new_compounds():
    size = {"compounds": 2000, "series": 10, "targets": 50, "pairs": 30_000}
    entry = SPEC["fingerprints"] | {"sizes": [size]}
    frame = run_experiment(
        "performance.largest_runs", SPEC | {"sizes": {}, "fingerprints": entry}, None, "all"
    )
    (row,) = frame.to_dict("records")
    assert (row["m"], row["q"], row["n"], row["rank"]) == (2000, 50, 30_000, 40)
    assert 0.2 < row["r2"] < 0.8  # a fifth of the variance is noise
    assert 0.1 < row["trace_error"] < 0.9
