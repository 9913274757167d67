"""Statements with their deviations, and with operations beside the printed cost."""

import pandas as pd

from kronbench.bench.items import Item


def tabulate(frame: pd.DataFrame, item: Item, printed: None) -> pd.DataFrame:
    """One row for each statement, in the order of the text."""
    return pd.DataFrame(
        {
            "key": frame["key"],
            "place": frame["place"],
            "name": frame["name"],
            "statement": frame["statement"],
            "deviation": frame["deviation"],
            "operations": frame["operations"],
            "operations / O()": frame["operations"] / frame["cost"],
            "times fewer": frame["plain"] / frame["operations"],
            "share": frame["share"],
            "dataset": frame["dataset"],
            "source": frame["source"],
        }
    )
