"""Sizes of the sections of a collection, counted beside printed."""

import pandas as pd

from kronbench_suite.runner.columns import SHOWN, Columns

COUNTED = {"training": "n", "classes": "C", "nodes": "P", "children": "F2, H2"}

COLUMNS = SHOWN | Columns(key=("section", "count"))


def tabulate(frame, item, printed):
    """One row for each section and count; empty where the paper prints none."""
    printed = printed.set_index("section")
    rows = []
    for _, counted in frame.iterrows():
        shared = counted[["dataset", "source", "section"]].to_dict()
        for column, symbol in COUNTED.items():
            paper = printed[column].get(counted["section"])
            row = {"count": f"{column} ({symbol})", "ours": counted[column], "paper": paper}
            rows.append(shared | row)
    return pd.DataFrame(rows).astype({"paper": "Int64"})
