"""The paper's own leave-one-out for Kronecker ridge against dense systems."""

import numpy as np
import pytest
from hypothesis import given

from kronbench.papers.stock.measure.retraining import retrained_kron_leave_one_out
from tests.models.complete_problems import make_problem, problems, retrained, splits


@pytest.mark.parametrize("setting", "BCD")
@given(problems)
def test_left_out_predictions_are_those_of_dense_systems(setting, problem):
    K, G, Y = make_problem(*problem)
    for reuse in (False, True):
        predicted = retrained_kron_leave_one_out(setting, K, G, Y, [0.2, 3.0], reuse=reuse)
        for reg, F in zip((0.2, 3.0), predicted, strict=True):
            expected = retrained(np.kron(K, G), reg, Y, splits(setting, None, Y.shape))
            np.testing.assert_allclose(F, expected, atol=1e-7)


@pytest.mark.parametrize("setting", "BCD")
def test_a_sample_is_a_block_of_the_whole(setting):
    K, G, Y = make_problem(6, 9, 7, "full", "clipped")
    rows, cols = [4, 0, 8], [6, 2]
    whole = retrained_kron_leave_one_out(setting, K, G, Y, [0.5, 2.0])
    sample = retrained_kron_leave_one_out(setting, K, G, Y, [0.5, 2.0], rows=rows, cols=cols)
    np.testing.assert_allclose(sample, whole[:, rows][:, :, cols], atol=1e-12)
    none = retrained_kron_leave_one_out(setting, K, G, Y, [0.5, 2.0], rows=rows, cols=[])
    assert none.shape == (2, 3, 0)
