"""Errors of low-rank factors at equal rank and at equal columns read, with what follows."""

import pandas as pd

from kronbench.intervals import half_width
from kronbench_suite.runner.columns import SHOWN, Columns
from kronbench_suite.studies.rivals.plot.comparisons import level_with_best

TEST_OVER_TRAIN = 1 / 3
EQUAL = {"rank": "rank", "budget": "columns read"}  # by the column of the measurement

_WHERE = {"rank": "for a small model", "columns read": "where columns are dear"}

COLUMNS = SHOWN | Columns(
    key=("line", "equal", "at", "pivots"),
    clock=("seconds",),
)


def tabulate(frame, item, printed):
    """Two kinds of ``line``: of each "data set" and way to choose pivots, and "in words"."""
    rows = []
    for column, equal in EQUAL.items():
        for at in item.plot_options[column]:
            found = [
                row
                for _, of_dataset in frame.groupby("dataset", sort=False)
                for row in _of_dataset(of_dataset, column, at)
            ]
            for line, of_line in (("data set", found), ("in words", _words(found, equal))):
                rows += [{"line": line, "equal": equal, "at": at, **row} for row in of_line]
    return pd.DataFrame(rows)


def _of_dataset(frame, column, at):
    here = frame[(frame[column] == at) & (frame["pivots"] != "full kernel")]
    full = frame.loc[frame["pivots"] == "full kernel", "error"].mean()
    errors = here.pivot_table(index="split", columns="pivots", values="error", sort=False)
    level = level_with_best(errors, TEST_OVER_TRAIN, largest=False)
    for pivots, of_splits in errors.items():
        rows = here[here["pivots"] == pivots]
        yield {
            "dataset": frame["dataset"].iloc[0],
            "source": frame["source"].iloc[0],
            "pivots": pivots,
            "error": of_splits.mean(),
            "±": half_width(of_splits, TEST_OVER_TRAIN),
            "full error": full,
            "level": int(pivots in level),
            "cannot be told apart": ", ".join(level),
            "rank": rows["rank"].mean(),
            "columns": rows["columns"].mean(),
            "trace left": rows["trace_left"].mean(),
            "seconds": rows["cpu_seconds"].median(),
            "splits": len(of_splits),
        }


def _words(rows, equal):
    """For each way on how many data sets it is level with the best, and which ways to take."""
    table = pd.DataFrame(rows)
    if table.empty:
        return
    by_dataset = table.pivot_table(index="dataset", columns="pivots", values="error", sort=False)
    total = len(by_dataset)
    counts = pd.DataFrame({"level": table.groupby("pivots", sort=False)["level"].sum()})
    counts["least"] = by_dataset.idxmin(axis=1).value_counts().reindex(counts.index, fill_value=0)
    level, least = counts.sort_values(["level", "least"]).iloc[-1]
    best = counts.index[(counts["level"] == level) & (counts["least"] == least)]
    unsure = "; none surely ahead" if (counts["level"] == total).all() else ""
    said = f"{_WHERE[equal]}: {' or '.join(best)}, best or level on {level} of {total}"
    for pivots, count in counts["level"].items():
        yield {
            "dataset": "all",
            "source": "surrogate" if "surrogate" in set(table["source"]) else table["source"][0],
            "pivots": pivots,
            "level": int(count),
            "of": total,
            "what follows": f"{said}, least error on {least}{unsure}",
        }
