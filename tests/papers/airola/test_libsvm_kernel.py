"""LibSVM with kernel values that are made once for many subsets."""

import numpy as np
import pytest

from kronbench.datasets.drug_target import labelled_pairs
from kronbench.models import PairLibSVM
from kronbench.papers.airola.measure.libsvm_kernel import LibSVMKernel


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
