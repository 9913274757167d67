"""Data characteristics, counted beside printed."""

import pandas as pd

from kronbench.runner.columns import SHOWN, Columns
from kronbench.runner.items import Item

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


def tabulate(frame: pd.DataFrame, item: Item, printed: pd.DataFrame) -> pd.DataFrame:
    """One row for each data set and count: ours, the paper's, the difference.

    A number that the paper misprints stands as it is printed, with a note.
    """
    printed = printed.set_index("dataset")
    rows = []
    for _, measured in frame.iterrows():
        for count, printed_names in COUNTS.items():
            column = next((name for name in printed_names if name in printed.columns), None)
            known = column is not None and measured["dataset"] in printed.index
            paper = printed.loc[measured["dataset"], column] if known else None
            misprinted = known and printed.loc[measured["dataset"]].get("misprinted") == count
            note = printed.loc[measured["dataset"], "note"] if misprinted else ""
            rows.append(
                {
                    "dataset": measured["dataset"],
                    "count": count.replace("_", " "),
                    "ours": int(measured[count]),
                    "paper": paper,
                    "difference": int(measured[count]) - paper if known else None,
                    "note": f"a misprint: {note}" if misprinted else "",
                    "source": measured["source"],
                }
            )
    table = pd.DataFrame(rows)
    return table.astype({"paper": "Int64", "difference": "Int64"})
