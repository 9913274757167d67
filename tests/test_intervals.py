import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from kronbench.intervals import half_width, interval_factor, interval_text, repeats_needed


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


@pytest.mark.parametrize("ratio", [0.0, 0.25])
def test_the_factor_of_an_interval_is_students_with_the_correction(ratio):
    for repeats in (2, 3, 9, 100):
        student = stats.t.ppf(0.975, repeats - 1)
        expected = student * np.sqrt(1 / repeats + ratio)
        assert interval_factor(repeats, ratio) == pytest.approx(expected, rel=1e-12)
    # more repeats have shorter intervals, down to the width that the shared points leave
    factors = [interval_factor(k, ratio) for k in range(2, 300)]
    assert (np.diff(factors) < 0).all()
    assert interval_factor(10**7, ratio) == pytest.approx(1.96 * np.sqrt(ratio), abs=1e-3)


def needed(deviation, distance, ratio, most=400):
    """By trying one number after the other."""
    for repeats in range(2, most):
        if stats.t.ppf(0.975, repeats - 1) * np.sqrt(1 / repeats + ratio) * deviation <= distance:
            return repeats
    return np.inf


@given(st.floats(0.01, 1.0), st.floats(0.1, 10.0), st.sampled_from([0.0, 0.25]), st.booleans())
def test_the_repeats_needed_are_the_fewest_that_do(deviation, distance, ratio, other_side):
    found = repeats_needed(deviation, -distance if other_side else distance, ratio)
    expected = needed(deviation, distance, ratio)
    assert found == expected or (expected == np.inf and found >= 400)


def test_no_number_of_repeats_is_enough_for_a_mean_at_its_bound():
    assert repeats_needed(1.0, 0.0) == np.inf
    assert repeats_needed(0.0, 0.0) == 2
    floor = 1.959964 * np.sqrt(0.25)
    assert np.isfinite(repeats_needed(1.0, 1.001 * floor, 0.25))


@pytest.mark.parametrize(
    ("mean", "half", "text"),
    [
        (0.972, 0.011, "0.972 ± 0.011"),
        (0.972, 0.191, "0.972 (0.781 to 1.000)"),
        (0.1, 0.25, "0.100 (0.000 to 0.350)"),
        (0.5, 3.0, "0.500 (0.000 to 1.000)"),
        (0.5, np.nan, "0.500"),
        (1.0, 0.0, "1.000 ± 0.000"),
    ],
)
def test_an_interval_is_told_within_the_range_of_its_score(mean, half, text):
    assert interval_text(mean, half, 0.0, 1.0) == text


def test_a_difference_is_told_with_its_sign_and_an_error_above_zero():
    assert interval_text(0.9, 0.2, -1.0, 1.0, "+") == "+0.900 (+0.700 to +1.000)"
    assert interval_text(-0.2, 0.1, -1.0, 1.0, "+") == "-0.200 ± 0.100"
    assert interval_text(3.2, 21.5, 0.0) == "3.200 (0.000 to 24.700)"
    assert interval_text(-3.2, 21.5, sign="+") == "-3.200 ± 21.500"
