"""The numbers of all items in one long table, beside the printed ones."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from kronbench.report.cells import printed_columns
from kronbench.runner.columns import columns_shown
from kronbench.runner.items import Item
from kronbench.runner.read_results import read_numbers

# Curves and clouds of points have more rows; their own files have them.
MOST_ROWS = 1000


def all_results(items: Iterable[Item]) -> pd.DataFrame:
    """One line for each number: paper, item, dataset, source, row, column, value, printed.

    ``row`` has the key of its row in the item's file, such as "setting=B; method=KK".
    """
    tables = ((item, read_numbers(item)) for item in items)
    parts = [_long(item, table) for item, table in tables if len(table) <= MOST_ROWS]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _long(item, table):
    columns = columns_shown(item)
    keys = [key for key in columns.key_of(table) if key != "dataset"]
    rows = [
        "; ".join(f"{key}={entry}" for key, entry in zip(keys, entries, strict=True))
        for entries in table[keys].to_numpy(dtype=object)
    ]
    printed = printed_columns(table, words=("paper", "printed"))
    others = {*keys, *columns.conditions, *printed.values()}
    place = table[["dataset", "source"]].assign(paper=item.paper, item=item.name, row=rows)
    parts = [
        place.assign(
            column=column,
            value=table[column],
            printed=pd.to_numeric(table.get(printed.get(column)), errors="coerce"),
        )
        for column in table.select_dtypes("number")
        if column not in others
    ]
    order = ["paper", "item", "dataset", "source", "row", "column", "value", "printed"]
    if not parts:
        return place.reindex(columns=order)[:0]
    # the columns of a row stand below each other, in their order
    long = pd.concat(parts).sort_index(kind="stable")[order]
    return long.dropna(subset=["value", "printed"], how="all")
