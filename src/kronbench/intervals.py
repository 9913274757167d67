"""Intervals of means over test sets or repeats."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import ArrayLike


def half_width(values: ArrayLike, test_over_train: float = 0.0, level: float = 0.95) -> float:
    """Half the width of the interval of a mean over test sets or repeats; NaN for fewer than two.

    The corrected resampled t interval of Nadeau and Bengio (Machine Learning 52, 2003):
    t sqrt((1/k + ``test_over_train``) s^2) with k - 1 degrees of freedom. Folds share training
    points, so that their scatter alone is too small; with ``test_over_train`` = 0, for independent
    repeats, it is Student's interval.

    ``values`` (k,) are numbers, or paired differences, one for each test set; ``test_over_train``
    are test points for each training point of a split: 0.25 for the ninefold zero-shot split,
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

    A whole number, at least 2; infinite where it is beyond eight million. ``deviation`` is the
    standard deviation of the repeats, ``distance`` that of the mean from the bound, of either
    sign; with ``test_over_train`` the interval stays wider than some width however many there are.
    """
    counts = range(2, (1 << 23) + 1)

    def shortness(count):
        return -interval_factor(count, test_over_train, level) * deviation

    found = bisect_left(counts, -abs(distance), key=shortness)
    return float(counts[found]) if found < len(counts) else np.inf


def interval_factor(repeats: int, test_over_train: float = 0.0, level: float = 0.95) -> float:
    """Half the width of the interval of a mean, in standard deviations of its repeats."""
    # Here: few pictures need scipy, a tenth of a second. scipy.stats.t.ppf is this function, and
    # its import takes half a second.
    from scipy.special import stdtrit

    return float(stdtrit(repeats - 1, 0.5 + level / 2) * np.sqrt(1 / repeats + test_over_train))


def half_of_all(repeats: int, end: float, share: float = 0.95) -> float:
    """Half the width, in standard deviations of some repeats, of what holds a ``share`` of all.

    The deviation of all is known only up to an interval, by the chi-squared distribution; ``end``
    is the chance that the true half width is smaller: 0.005 and 0.995 are the ends of an interval
    of 99 % (Howe, Journal of the American Statistical Association 64, 1969).
    """
    from scipy.special import chdtri, ndtri

    true = np.sqrt((repeats - 1) / chdtri(repeats - 1, end))
    return float(ndtri(0.5 + share / 2) * np.sqrt(1 + 1 / repeats) * true)


def interval_text(
    mean: float, half: float, lowest: float = -np.inf, highest: float = np.inf, sign: str = ""
) -> str:
    """A score with its interval: "0.972 ± 0.011", or "0.972 (0.781 to 1.000)" if ± says too much.

    ``half`` is half its width, NaN where there is none. An interval that reaches beyond the range
    of the score, ``lowest`` to ``highest``, is cut off there. With ``sign`` "+" a plus is shown.
    """
    text = f"{mean:{sign}.3f}"
    if np.isnan(half):
        return text
    if lowest <= mean - half and mean + half <= highest:
        return f"{text} ± {half:.3f}"
    low, high = max(lowest, mean - half), min(highest, mean + half)
    return f"{text} ({low:{sign}.3f} to {high:{sign}.3f})"
