"""Means over draws with intervals, and which methods these cannot tell apart."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from kronbench.intervals import half_width

# Test over training pairs of a draw, of which a quarter of a side is new (A, B, C) or both (D).
_RATIOS = {"A": 1 / 3, "B": 1 / 3, "C": 1 / 3, "D": 1 / 9}
TITLES = {
    "A": "A: known vertices",
    "B": "B: new drugs",
    "C": "C: new targets",
    "D": "D: both new",
}


def by_method(part: pd.DataFrame, value: str) -> pd.DataFrame:
    """``value`` of one data set and setting: draws (k) by methods, in their order."""
    table = part.pivot_table(index="draw", columns="method", values=value, sort=False)
    return table[[name for name in part["method"].unique() if name in table]]


def difference(one: pd.Series, other: pd.Series, setting: str) -> tuple[float, float]:
    """Mean of the paired difference over draws, and half its 95 % interval."""
    paired = (one - other).dropna()
    return float(paired.mean()), half_width(paired, _RATIOS[setting])


def sure(one: pd.Series, other: pd.Series, setting: str) -> int:
    """1 where ``one`` is larger, -1 where it is smaller, 0 where 95 % cannot tell."""
    mean, half = difference(one, other, setting)
    return int(np.sign(mean)) if abs(mean) > half else 0


def tied_with_best(draws: pd.DataFrame, setting: str, sign: int = 1) -> list[str]:
    """The best method by its mean, and those that the paired differences cannot tell from it.

    Largest numbers are best, or smallest where ``sign`` is -1.
    """
    best = (sign * draws.mean()).idxmax()
    return [name for name in draws if not sure(sign * draws[best], sign * draws[name], setting)]


def ranks(draws: pd.DataFrame, setting: str) -> pd.DataFrame:
    """For each method ``low``, one more than are surely better, and ``high``, less those worse.

    ``rank`` is that of its mean.
    """
    signs = pd.DataFrame(
        {name: [sure(draws[name], draws[other], setting) for other in draws] for name in draws},
        index=draws.columns,
    )
    means = draws.mean().rank(ascending=False)
    low, high = 1 + (signs < 0).sum(), len(signs) - (signs > 0).sum()
    return pd.DataFrame({"rank": means, "low": low, "high": high})


def parts(frame: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield data set, setting and rows of each problem."""
    for (dataset, setting), part in frame.groupby(["dataset", "setting"], sort=False):
        yield dataset, setting, part
