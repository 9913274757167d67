"""Sizes of the sections of a collection, counted beside printed."""

import pandas as pd

from kronbench.runner.columns import SHOWN, Columns
from kronbench.runner.items import Item

COUNTED = {"training": "n", "classes": "C", "nodes": "P", "children": "F2, H2"}

COLUMNS = SHOWN | Columns(
    key=("section", "count"),
    counts=("ours", "paper"),
    values={
        "section": ("all", "A", "B", "C", "D", "E", "F", "G", "H"),
        "count": ("training (n)", "classes (C)", "nodes (P)", "children (F2, H2)"),
    },
)


def tabulate(frame: pd.DataFrame, item: Item, printed: pd.DataFrame) -> pd.DataFrame:
    """One row for each section and count; empty where the paper prints none."""
    printed = printed.set_index("section")
    rows = []
    for _, counted in frame.iterrows():
        for column, symbol in COUNTED.items():
            section = counted["section"]
            paper = printed[column].get(section)
            rows.append(
                {
                    "section": section,
                    "count": f"{column} ({symbol})",
                    "ours": int(counted[column]),
                    "paper": paper,
                    "source": counted["source"],
                }
            )
    table = pd.DataFrame(rows)
    table["dataset"] = frame["dataset"].iloc[0]
    return table.astype({"paper": "Int64"})
