"""Data characteristics, counted beside printed."""

import pandas as pd

from kronbench_suite.runner.columns import SHOWN, Columns

COUNTS = ("edges", "positive", "negative", "start_vertices", "end_vertices")

COLUMNS = SHOWN | Columns(
    key=("count",),
)


def tabulate(frame, item, printed):
    """One row for each data set and count, with a note on a number that the paper misprints."""
    printed = printed.set_index("dataset").to_dict("index")
    rows = []
    for measured in frame.to_dict("records"):
        theirs = printed.get(measured["dataset"], {})
        for count in COUNTS:
            ours, paper = measured[count], theirs.get(count)
            row = {key: measured[key] for key in ("dataset", "source")}
            row |= {"count": count.replace("_", " "), "ours": ours, "paper": paper}
            row["difference"] = None if paper is None else ours - paper
            misprinted = theirs.get("misprinted") == count
            rows.append(row | {"note": f"a misprint: {theirs['note']}" if misprinted else ""})
    return pd.DataFrame(rows).astype({"paper": "Int64", "difference": "Int64"})
