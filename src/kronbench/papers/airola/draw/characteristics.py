"""Data characteristics, counted beside printed."""

import pandas as pd

from kronbench.runner.columns import SHOWN, Columns

# What is counted, and the column that the printed tables of 2018 or 2016 have for it.
COUNTS = {
    "edges": ("edges", "pairs"),
    "positive": ("positive",),
    "negative": ("negative",),
    "start_vertices": ("start_vertices", "drugs"),
    "end_vertices": ("end_vertices", "targets"),
}

COLUMNS = SHOWN | Columns(
    key=("count",),
    counts=("ours", "paper", "difference"),
    texts=("note",),
    values={"count": ("edges", "positive", "negative", "start vertices", "end vertices")},
)


def tabulate(frame, item, printed):
    """One row for each data set and count: ours, the paper's, the difference.

    A number that the paper misprints stands as it is printed, with a note.
    """
    printed = printed.set_index("dataset").to_dict("index")
    rows = []
    for measured in frame.to_dict("records"):
        theirs = printed.get(measured["dataset"], {})
        for count, printed_names in COUNTS.items():
            paper = next((theirs[name] for name in printed_names if name in theirs), None)
            ours = int(measured[count])
            misprinted = theirs.get("misprinted") == count
            rows.append(
                {
                    "dataset": measured["dataset"],
                    "count": count.replace("_", " "),
                    "ours": ours,
                    "paper": paper,
                    "difference": None if paper is None else ours - paper,
                    "note": f"a misprint: {theirs['note']}" if misprinted else "",
                    "source": measured["source"],
                }
            )
    return pd.DataFrame(rows).astype({"paper": "Int64", "difference": "Int64"})
