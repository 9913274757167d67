import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from kronbench.evaluation import SettingKFold
from kronbench.intervals import (
    half_of_all,
    half_width,
    interval_factor,
    interval_text,
    repeats_needed,
)


def test_independent_repeats_have_students_interval():
    values = np.array([0.1, 0.4, 0.35, 0.2])
    low, high = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert half_width(values) == pytest.approx((high - low) / 2)
    assert np.isnan(half_width([0.1]))


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


def test_what_holds_most_of_all_is_known_up_to_an_interval():
    """Of many samples of five, the true half width lies below each end as often as it says."""
    drawn = np.random.default_rng(0).normal(size=(20000, 5))
    mean, deviation = drawn.mean(axis=1), drawn.std(axis=1, ddof=1)
    for end in (0.025, 0.5, 0.975):
        # what holds 95 % of all, of a mean that is known from five
        wanted = 1.959964 * np.sqrt(1 + 1 / 5)
        assert (wanted < half_of_all(5, end) * deviation).mean() == pytest.approx(end, abs=0.01)
    # with the larger end, 95 % of such intervals and more hold 95 % of all
    reach = half_of_all(5, 0.975) * deviation
    held = np.diff(stats.norm.cdf([mean - reach, mean + reach]), axis=0)
    assert (held >= 0.95).mean() > 0.95


def scores_of_splits(rng, setting, k, n=2000, m=60, q=120, known=0.4):
    """Scores (n, k) of random splits with a quarter new, less their mean for what is new.

    Each of n data sets has ``m`` rows and ``q`` columns with effects of half the deviation of the
    noise. In setting A a share of the pairs is known.
    """

    def tested(size):
        """Weights (n, k, size) of the mean of a quarter of the vertices."""
        return (rng.random((n, k, size)).argsort(axis=2) < size // 4) / (size // 4)

    rows, cols = 0.5 * rng.standard_normal((n, m)), 0.5 * rng.standard_normal((n, q))
    pairs = rows[:, :, None] + cols[:, None, :] + rng.standard_normal((n, m, q))
    if setting == "A":
        pairs = pairs[:, ::2, ::2].reshape(
            n, m * q // 4
        )  # a smaller table, as quick as the others
        rows, cols = rows[:, ::2], cols[:, ::2]
        pairs = rng.permuted(pairs, axis=1)[:, : int(known * m * q / 4)]
        quarter = pairs.shape[1] // 4
        again = [rng.permuted(pairs, axis=1)[:, :quarter].mean(axis=1) for _ in range(k)]
        scores = np.stack(again, axis=1)
    else:
        of_rows = tested(m) if setting in "BD" else np.full((n, k, m), 1 / m)
        of_cols = tested(q) if setting in "CD" else np.full((n, k, q), 1 / q)
        scores = (of_rows @ pairs * of_cols).sum(axis=2)
    for effects, new in ((rows, setting in "BD"), (cols, setting in "CD")):
        scores -= 0 if new else effects.mean(axis=1, keepdims=True)
    return scores


@pytest.mark.parametrize("k", [3, 10])
@pytest.mark.parametrize("setting", ["A", "B", "C", "D"])
def test_intervals_cover_the_mean_of_what_is_new(setting, k):
    """Of 2,000 data sets, so that a coverage has the standard error .005."""
    scores = scores_of_splits(np.random.default_rng(5), setting, k)
    ratio = SettingKFold(setting, n_splits=4).test_over_train
    half = interval_factor(k, ratio) * scores.std(axis=1, ddof=1)
    assert 0.93 <= (abs(scores.mean(axis=1)) <= half).mean() <= 0.97
    if k == 10 and setting == "D":  # the ratio of the pairs is too small
        half = interval_factor(k, ratio**2) * scores.std(axis=1, ddof=1)
        assert (abs(scores.mean(axis=1)) <= half).mean() < 0.9


def test_fewer_degrees_widen_an_interval_and_more_than_there_are_do_not():
    values = np.array([0.1, 0.4, 0.35, 0.2])
    wide = stats.t.ppf(0.975, 2) / stats.t.ppf(0.975, 3)
    assert half_width(values, degrees=2) == pytest.approx(wide * half_width(values))
    assert half_width(values, degrees=8) == half_width(values)
    assert repeats_needed(1.0, 1.0, degrees=2) == np.ceil(stats.t.ppf(0.975, 2) ** 2)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((0.972, 0.011, 0, 1), "0.972 ± 0.011"),
        ((0.972, 0.191, 0, 1), "0.972 (0.781 to 1.000)"),
        ((0.1, 0.25, 0, 1), "0.100 (0.000 to 0.350)"),
        ((0.5, 3.0, 0, 1), "0.500 (0.000 to 1.000)"),
        ((0.5, np.nan, 0, 1), "0.500"),
        ((1.0, 0.0, 0, 1), "1.000 ± 0.000"),
        ((0.9, 0.2, -1, 1, "+"), "+0.900 (+0.700 to +1.000)"),
        ((-0.2, 0.1, -1, 1, "+"), "-0.200 ± 0.100"),
        ((3.2, 21.5, 0), "3.200 (0.000 to 24.700)"),
        ((-3.2, 21.5), "-3.200 ± 21.500"),
    ],
)
def test_an_interval_is_told_within_the_range_of_its_score(arguments, text):
    assert interval_text(*arguments) == text
