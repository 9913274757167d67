"""AUC of two SVMs with Gaussian kernels over folds, sizes and weights."""

import numpy as np
import pandas as pd
import pytest

from kronbench.datasets.drug_target import labelled_pairs
from kronbench.models import PairLibSVM
from kronbench_suite.papers.airola.measure.gaussian_auc import LibSVMKernel
from kronbench_suite.runner.job import run_measurement

SPEC = {"fraction": 0.25, "folds": [0, 5], "regs": [0.5, 8.0], "seed": 7}


def test_kernel_values_that_are_made_once_give_the_same_rows(data):
    """With subsets of several sizes, of which each takes its part of them."""
    tables = []
    for precompute in (False, True):
        parameters = {"gamma": 1.0, "precompute": precompute}
        libsvm = {"solver": "kronbench.models.PairLibSVM", "parameters": parameters}
        spec = SPEC | {"solvers": {"LibSVM": libsvm}, "sizes": {"LibSVM": [100, 201, 300]}}
        tables.append(run_measurement("airola.gaussian_auc", spec, data, "GPCR"))
    anew, shared = (table.drop(columns="peak_mib") for table in tables)
    pd.testing.assert_frame_equal(anew, shared, check_exact=True)


@pytest.mark.parametrize("n", [300, 301])
def test_models_are_those_of_libsvm_itself(data, n):
    """To the bit, for subsets that begin with either class, at each weight."""
    rng = np.random.default_rng(n)
    pairs, y = labelled_pairs(data, rng, 0.25)
    some = np.sort(np.append(np.flatnonzero(y > 0), rng.choice(np.flatnonzero(y < 0), n)))[:n]
    pairs, y = pairs[some], y[some]
    parameters = {"gamma": 0.5, "precompute": True}
    kernel = LibSVMKernel(parameters, 305)
    kernel.take(pairs[::-2])  # others before, with more values where these have none
    kernel.take(pairs)
    everything = np.arange(n)
    for subset in (everything, everything[y.argmax() :], everything[y.argmin() :][::3]):
        for reg in (0.1, 10.0):
            model = PairLibSVM(reg=reg, **parameters).fit(pairs[subset], y[subset])
            found = kernel.train(subset, y[subset], reg)
            expected = model.to_vec_trick()
            np.testing.assert_array_equal(found.dual_coef_, expected.dual_coef_)
            assert found.intercept_ == expected.intercept_
            np.testing.assert_array_equal(
                found.decision_function(pairs), expected.decision_function(pairs)
            )
