"""Intervals of means over test sets or repeats."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def half_width(values: ArrayLike, test_over_train: float = 0.0, level: float = 0.95) -> float:
    """Half the width of the interval of a mean over test sets or repeats; NaN for fewer than two.

    The corrected resampled t interval of Nadeau and Bengio (Machine Learning 52, 2003):
    t sqrt((1/k + ``test_over_train``) s^2) with k - 1 degrees of freedom. Folds share training
    points, so that their scatter alone is too small; with ``test_over_train`` = 0, for independent
    repeats, it is Student's interval.

    Parameters
    ----------
    values : (k,) array
        One number, or one paired difference, for each test set.
    test_over_train : float
        Test points for each training point of a split; 0.25 for the ninefold zero-shot split,
        which tests on one block and trains on four.
    """
    values = np.asarray(values, dtype=float)
    if len(values) < 2:
        return np.nan
    factor = interval_factor(len(values), test_over_train, level)
    return float(factor * values.std(ddof=1))


def repeats_needed(
    deviation: float, distance: float, test_over_train: float = 0.0, level: float = 0.95
) -> float:
    """How many repeats make the interval of a mean shorter than its distance from a bound.

    Parameters
    ----------
    deviation : float
        Standard deviation of the repeats.
    distance : float
        Of the mean from the bound, of either sign.
    test_over_train : float
        As in ``half_width``; with it the interval stays wider than some width however many
        repeats there are.

    Returns
    -------
    float
        A whole number, at least 2; infinite where it is beyond ten million.
    """
    few, many = 1, 2
    while interval_factor(many, test_over_train, level) * deviation > abs(distance):
        few, many = many, 2 * many
        if many > 10_000_000:
            return np.inf
    while many - few > 1:
        middle = (few + many) // 2
        if interval_factor(middle, test_over_train, level) * deviation > abs(distance):
            few = middle
        else:
            many = middle
    return float(many)


def interval_factor(repeats: int, test_over_train: float = 0.0, level: float = 0.95) -> float:
    """Half the width of the interval of a mean, in standard deviations of its repeats."""
    # Here: few pictures need scipy, a tenth of a second. scipy.stats.t.ppf is this function, and
    # its import takes half a second.
    from scipy.special import stdtrit

    return float(stdtrit(repeats - 1, 0.5 + level / 2) * np.sqrt(1 / repeats + test_over_train))


def interval_text(
    mean: float, half: float, lowest: float = -np.inf, highest: float = np.inf, sign: str = ""
) -> str:
    """A score with its interval: "0.972 ± 0.011", or "0.972 (0.781 to 1.000)" if ± says too much.

    Parameters
    ----------
    mean, half : float
        Of the interval, half its width; NaN where there is none.
    lowest, highest : float
        The range of the score, at which an interval that reaches beyond is cut off.
    sign : {"", "+"}
        As in a format of Python: whether a plus is shown.
    """
    text = f"{mean:{sign}.3f}"
    if np.isnan(half):
        return text
    if lowest <= mean - half and mean + half <= highest:
        return f"{text} ± {half:.3f}"
    low, high = max(lowest, mean - half), min(highest, mean + half)
    return f"{text} ({low:{sign}.3f} to {high:{sign}.3f})"
