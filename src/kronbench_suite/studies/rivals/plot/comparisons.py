"""Means over repetitions with intervals, and which methods these cannot tell apart."""

import numpy as np
import pandas as pd

from kronbench.intervals import half_width

# A quarter of what is new tests in each setting: of the pairs (A), or of a side (B, C), or of each
# side (D), where kronbench.intervals derives why pairs are not counted.
TEST_OVER_TRAIN = 1 / 3
TITLES = {
    "A": "A: known vertices",
    "B": "B: new drugs",
    "C": "C: new targets",
    "D": "D: both new",
}


def by_method(part, value):
    """``value`` of one data set and setting: repetitions (k) by methods, in their order."""
    table = part.pivot_table(index="repetition", columns="method", values=value, sort=False)
    return table[[name for name in part["method"].unique() if name in table]]


def compared(one, other, level=0.95):
    """1 where ``one`` is surely larger, -1 where smaller, 0 where 95 % cannot tell; its lead."""
    paired = (one - other).dropna()
    lead = float(paired.mean())
    surely = abs(lead) > half_width(paired, TEST_OVER_TRAIN, level)
    return int(np.sign(lead)) if surely else 0, lead


def shared_level(n_methods):
    """The level of a method's comparisons with all others, which share the 5 % (Bonferroni)."""
    return 1 - 0.05 / max(1, n_methods - 1)


def level_with_best(table, test_over_train, largest):
    """The method of the best mean, and those whose 95 % interval of the difference has zero.

    ``table`` has a row for each repetition, split, or data set. The comparisons share the 5 %; of
    one row all methods are level, since nothing tells them apart.
    """
    best = table.mean().idxmax() if largest else table.mean().idxmin()
    level = shared_level(table.shape[1])
    apart = {name: (table[name] - table[best]).dropna() for name in table}
    return [
        name
        for name, values in apart.items()
        if len(values) < 2 or abs(values.mean()) <= half_width(values, test_over_train, level)
    ]


def ranks(repetitions):
    """For each method ``low``, one more than are surely better, and ``high``, less those worse.

    ``rank`` is that of its mean; ``best`` says that it cannot be told from the best.
    """
    level = shared_level(repetitions.shape[1])
    signs = pd.DataFrame(
        {
            name: [
                compared(repetitions[name], repetitions[other], level)[0] for other in repetitions
            ]
            for name in repetitions
        },
        index=repetitions.columns,
    )
    means = repetitions.mean().rank(ascending=False)
    low, high = 1 + (signs < 0).sum(), len(signs) - (signs > 0).sum()
    best = repetitions.columns.isin(level_with_best(repetitions, TEST_OVER_TRAIN, largest=True))
    return pd.DataFrame({"rank": means, "low": low, "high": high, "best": best})
