import numpy as np
import pandas as pd
import pytest
from scipy import stats

from kronbench.report.estimates import disturbed, exponent, half_width, span


def test_exponent_of_a_power_law():
    n = np.array([10.0, 30.0, 100.0])
    assert exponent(n, 3.0 * n**1.5) == pytest.approx(1.5)


@pytest.mark.parametrize("values", [[1.0, np.nan], [1.0, 0.0], [1.0, -1.0], [1.0, np.inf]])
def test_no_exponent_of_what_has_no_logarithm(values):
    assert np.isnan(exponent([1, 2], values))
    assert np.isnan(exponent([2, 2], [1.0, 2.0]))


def test_independent_repeats_have_students_interval():
    values = np.array([0.1, 0.4, 0.35, 0.2])
    low, high = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert half_width(values) == pytest.approx((high - low) / 2)
    assert np.isnan(half_width([0.1]))


def test_corrected_intervals_cover_the_mean_of_means_of_overlapping_training_sets():
    # Test errors of a "model" that is the mean of its training points: folds share these, so that
    # their scatter says too little. Nadeau and Bengio's factor makes up for it.
    rng = np.random.default_rng(1)
    covered = {0.0: 0, 1 / 9: 0}
    for _ in range(300):
        points = rng.standard_normal(100)
        folds = np.arange(100) % 10
        errors = [
            np.mean((points[folds == k] - points[folds != k].mean()) ** 2) for k in range(10)
        ]
        for ratio in covered:
            covered[ratio] += abs(np.mean(errors) - (1 + 1 / 90)) <= half_width(errors, ratio)
    assert covered[1 / 9] / 300 > 0.95
    assert covered[1 / 9] > covered[0.0]


def test_disturbance_and_span_of_timed_rows():
    calm = pd.DataFrame({"seconds_low": [1.0, 0.5], "seconds_high": [2.0, 3.0]})
    assert span(calm) == (0.5, 3.0)
    assert np.isnan(span(calm.drop(columns="seconds_low"))).all()
    assert not disturbed(calm)
    # as read from a file: empty for rows without a clock
    assert disturbed(calm.assign(busy=[np.nan, True]))
    assert not disturbed(calm.assign(busy=["False", np.nan]))
