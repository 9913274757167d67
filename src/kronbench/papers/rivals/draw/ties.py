"""Methods that paired differences over splits cannot tell from the best one."""

import pandas as pd

from kronbench.intervals import half_width


def level_with_best(table: pd.DataFrame, test_over_train: float, largest: bool) -> list[str]:
    """The column of the best mean, and those whose 95 % interval of the difference has zero.

    ``table`` has a row for each split. The 5 % are shared by the comparisons; of one split all
    columns are level, since nothing tells them apart.
    """
    best = table.mean().idxmax() if largest else table.mean().idxmin()
    level = 1 - 0.05 / max(1, table.shape[1] - 1)
    apart = {name: (table[name] - table[best]).dropna() for name in table}
    return [
        name
        for name, values in apart.items()
        if len(values) < 2 or abs(values.mean()) <= half_width(values, test_over_train, level)
    ]
