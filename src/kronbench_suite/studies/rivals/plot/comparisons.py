"""Means over draws with intervals, and which methods these cannot tell apart."""

import numpy as np
import pandas as pd

from kronbench.intervals import half_width

# Test over training pairs of a draw, of which a quarter of a side is new (A, B, C) or both (D).
RATIOS = {"A": 1 / 3, "B": 1 / 3, "C": 1 / 3, "D": 1 / 9}
TITLES = {
    "A": "A: known vertices",
    "B": "B: new drugs",
    "C": "C: new targets",
    "D": "D: both new",
}


def by_method(part, value):
    """``value`` of one data set and setting: draws (k) by methods, in their order."""
    table = part.pivot_table(index="repetition", columns="method", values=value, sort=False)
    return table[[name for name in part["method"].unique() if name in table]]


def compared(one, other, setting):
    """1 where ``one`` is surely larger, -1 where smaller, 0 where 95 % cannot tell; its lead."""
    paired = (one - other).dropna()
    lead = float(paired.mean())
    return int(np.sign(lead)) if abs(lead) > half_width(paired, RATIOS[setting]) else 0, lead


def level_with_best(table, test_over_train, largest):
    """The method of the best mean, and those whose 95 % interval of the difference has zero.

    ``table`` has a row for each draw or split. The 5 % are shared by the comparisons; of one split
    all methods are level, since nothing tells them apart.
    """
    best = table.mean().idxmax() if largest else table.mean().idxmin()
    level = 1 - 0.05 / max(1, table.shape[1] - 1)
    apart = {name: (table[name] - table[best]).dropna() for name in table}
    return [
        name
        for name, values in apart.items()
        if len(values) < 2 or abs(values.mean()) <= half_width(values, test_over_train, level)
    ]


def ranks(draws, setting):
    """For each method ``low``, one more than are surely better, and ``high``, less those worse.

    ``rank`` is that of its mean.
    """
    signs = pd.DataFrame(
        {
            name: [compared(draws[name], draws[other], setting)[0] for other in draws]
            for name in draws
        },
        index=draws.columns,
    )
    means = draws.mean().rank(ascending=False)
    low, high = 1 + (signs < 0).sum(), len(signs) - (signs > 0).sum()
    return pd.DataFrame({"rank": means, "low": low, "high": high})
