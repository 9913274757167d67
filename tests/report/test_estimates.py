import numpy as np
import pandas as pd
import pytest

from kronbench.report.estimates import disturbed, exponent, span


def test_exponent_of_a_power_law():
    n = np.array([10.0, 30.0, 100.0])
    assert exponent(n, 3.0 * n**1.5) == pytest.approx(1.5)


@pytest.mark.parametrize("values", [[1.0, np.nan], [1.0, 0.0], [1.0, -1.0], [1.0, np.inf]])
def test_no_exponent_of_what_has_no_logarithm(values):
    assert np.isnan(exponent([1, 2], values))
    assert np.isnan(exponent([2, 2], [1.0, 2.0]))


def test_disturbance_and_span_of_timed_rows():
    calm = pd.DataFrame({"seconds_low": [1.0, 0.5], "seconds_high": [2.0, 3.0]})
    assert span(calm) == (0.5, 3.0)
    assert np.isnan(span(calm.drop(columns="seconds_low"))).all()
    assert not disturbed(calm)
    # as read from a file: empty for rows without a clock
    assert disturbed(calm.assign(busy=[np.nan, True]))
    assert not disturbed(calm.assign(busy=["False", np.nan]))
