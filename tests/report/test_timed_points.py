"""The power law of timed points, and a machine that was busy."""

import numpy as np
import pandas as pd
import pytest

from kronbench_suite.report.timed_points import disturbed, exponent


@pytest.mark.parametrize("values", [[1.0, np.nan], [1.0, 0.0], [1.0, -1.0], [1.0, np.inf]])
def test_no_exponent_of_what_has_no_logarithm(values):
    assert exponent([1, 3], [3.0, 3.0 * 3**1.5]) == pytest.approx(1.5)
    assert np.isnan(exponent([1, 2], values))
    assert np.isnan(exponent([2, 2], [1.0, 2.0]))


def test_disturbance_is_read_from_a_file_too():
    assert disturbed(pd.DataFrame({"busy": [np.nan, True]}))  # empty for rows without a clock
    assert not disturbed(pd.DataFrame({"busy": ["False", np.nan]}))
