"""AUC of two SVMs with Gaussian kernels over folds, sizes and weights."""

from types import SimpleNamespace

import pandas as pd
import pytest

from kronbench.papers.airola.draw import gaussian_auc
from kronbench.runner.job import run_experiment

GAUSSIAN = {"row_kernel": "gaussian", "col_kernel": "gaussian", "row_gamma": 1.0, "col_gamma": 1.0}
SPEC = {
    "fraction": 0.25,
    "folds": [0, 5],
    "regs": [0.5, 8.0],
    "sizes": {"KronSVM": [200, 100_000], "LibSVM": [200]},
    "solvers": {
        "KronSVM": {"solver": "kronbench.models.KronSVM", "parameters": GAUSSIAN},
        "LibSVM": {"solver": "kronbench.models.PairLibSVM", "parameters": {"gamma": 1.0}},
    },
    "seed": 7,
    "time_cap": 100,
}


@pytest.fixture(scope="module")
def frame(data):
    return run_experiment("airola.gaussian_auc", SPEC, data, "GPCR")


def test_kernel_values_that_are_made_once_give_the_same_rows(data):
    """With subsets of several sizes, of which each takes its part of them."""
    tables = []
    for precompute in (False, True):
        parameters = {"gamma": 1.0, "precompute": precompute}
        libsvm = {"solver": "kronbench.models.PairLibSVM", "parameters": parameters}
        spec = SPEC | {"solvers": {"LibSVM": libsvm}, "sizes": {"LibSVM": [100, 201, 300]}}
        tables.append(run_experiment("airola.gaussian_auc", spec, data, "GPCR"))
    anew, shared = (table.drop(columns="peak_mib") for table in tables)
    pd.testing.assert_frame_equal(anew, shared, check_exact=True)


def test_the_table_has_the_means_over_folds(frame):
    frame = frame.assign(dataset="GPCR", source="surrogate")
    table = gaussian_auc.tabulate(frame, SimpleNamespace(protocol={"test_over_train": 0.25}), None)
    assert len(table) == 2 * 3
    (row,) = table.query("method == 'LibSVM' and reg == 0.5").to_dict("records")
    part = frame.query("method == 'LibSVM' and reg == 0.5")
    assert row["AUC"] == pytest.approx(part["auc"].mean())
    assert row["over weights"] == pytest.approx(part["over_weights"].mean())
    assert (row["test sets"], row["λ"]) == (2, "2^-1")
