"""Intervals of means over test sets or repeats, and the ratio that corrects them.

Random splits of one data set share test points. If two of the k scores have the correlation c,
their mean has the variance s^2 (1/k + c / (1 - c)), where s^2 is estimated from the scores. Nadeau
and Bengio (Machine Learning 52, 2003) take for c the share p of the points that test, so that the
ratio c / (1 - c) is the number of test points over that of training points.

Points are whatever is new. Let the difference of two methods on a pair be a mean, an effect of its
row, one of its column, and noise: a drug that is hard for one of the methods is so with each
target. The ratio depends on which of these the splits share:

- In setting A pairs are new, and pairs are counted.
- In settings B and C the vertices of one side are new, and vertices are counted. The other side is
  the same in each split, and the interval speaks of that side alone.
- In setting D a share p of each side is new. The effects of both sides have c = p. Only the noise
  has c = p^2, the share of the pairs, and it nearly averages out over the pairs of a test set. So
  the ratio is p / (1 - p): 1/3 for a quarter of each side, and not the 1/9 of the pairs.

The n x n blocks of one cross-validation in D are no random splits but a table of row fold a and
column fold b, with scores R_a + C_b. Their mean has the variance (V(R) + V(C)) / n, and s^2 is
(V(R) + V(C)) n / (n + 1) on average. The factor 1/n^2 + ratio is therefore (n + 1) / n^2, and the
ratio is 1/n. Each side has n - 1 degrees of freedom: s^2 has 2 (n - 1) if both variances are
alike, and n - 1 if one of them vanishes (Satterthwaite, Biometrics Bulletin 2, 1946). The ratio of
3 x 3 blocks is 1/3 with 2 to 4 degrees, of which 3 are taken.

Simulated intervals of 95 % with such effects (tests/test_intervals.py and
tests/papers/airola/test_protocol.py) cover .94 to .96 in A, B, C and D for 3 and for 10 random
splits with a quarter new, where 1/9 has .87 in D. For nine blocks on the sizes of the papers' data
they cover .95 to .98, where 1/4 with 8 degrees has .87 to .91. They cover more where noise
outweighs the effects of the vertices, or where the known pairs of A are all pairs, and .91 for
nine blocks if one side has all the variance. The chance of the training set is not covered: the
ratio of Nadeau and Bengio leaves it out.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import ArrayLike


def half_width(
    values: ArrayLike, test_over_train: float = 0.0, level: float = 0.95, degrees: float = np.inf
) -> float:
    """Half the width of the interval of a mean over test sets or repeats; NaN for fewer than two.

    The corrected resampled t interval of Nadeau and Bengio (Machine Learning 52, 2003):
    t sqrt((1/k + ``test_over_train``) s^2) with k - 1 degrees of freedom, or fewer ``degrees``.
    Splits share points, so that their scatter alone is too small; with ``test_over_train`` = 0,
    for independent repeats, it is Student's interval.

    ``values`` (k,) are numbers, or paired differences, one for each test set; ``test_over_train``
    are test points for each training point of a split, counted in what is new: vertices in the
    settings B, C and D (see above). The nine blocks of 3 x 3 folds have 1/3 and 3 ``degrees``.
    """
    values = np.asarray(values, dtype=float)
    if len(values) < 2:
        return np.nan
    factor = interval_factor(len(values), test_over_train, level, degrees)
    return float(factor * values.std(ddof=1))


def repeats_needed(
    deviation: float,
    distance: float,
    test_over_train: float = 0.0,
    level: float = 0.95,
    degrees: float = np.inf,
) -> float:
    """How many repeats make the interval of a mean shorter than its distance from a bound.

    A whole number, at least 2; infinite where it is beyond eight million. ``deviation`` is the
    standard deviation of the repeats, ``distance`` that of the mean from the bound, of either
    sign; with ``test_over_train`` the interval stays wider than some width however many there are.
    """
    counts = range(2, (1 << 23) + 1)

    def shortness(count):
        return -interval_factor(count, test_over_train, level, degrees) * deviation

    found = bisect_left(counts, -abs(distance), key=shortness)
    return float(counts[found]) if found < len(counts) else np.inf


def interval_factor(
    repeats: int, test_over_train: float = 0.0, level: float = 0.95, degrees: float = np.inf
) -> float:
    """Half the width of the interval of a mean, in standard deviations of its repeats."""
    # Here: few pictures need scipy, a tenth of a second. scipy.stats.t.ppf is this function, and
    # its import takes half a second.
    from scipy.special import stdtrit

    return float(
        stdtrit(min(repeats - 1, degrees), 0.5 + level / 2)
        * np.sqrt(1 / repeats + test_over_train)
    )


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
