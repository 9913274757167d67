"""What kernel products cost: seconds, and how many times those of the first way."""

from kronbench.runner.columns import SHOWN, Columns

COLUMNS = SHOWN | Columns(
    key=("comparison", "way"),
    clock=("ms", "GB / s"),
    ratios_of_clock=("seconds over the first", "seconds ratio over P/C"),
)


def tabulate(frame, item, printed):
    """One row for each comparison and way; ``seconds over the first`` within a data set."""
    frame = frame.reindex(columns=[*frame, *{"bound", "gbytes_per_second"}.difference(frame)])
    comparisons = frame.groupby(["dataset", "comparison"], sort=False)["seconds"]
    ratio = frame["seconds"] / comparisons.transform("first")
    way, of_classes = frame["way"].astype(str), frame["comparison"] == "classes"
    columns = {
        "way": way.mask(of_classes, way + " classes"),
        "ms": 1000 * frame["seconds"],
        "seconds over the first": ratio,
        "P / C": frame["bound"],
        "GB / s": frame["gbytes_per_second"],
        "seconds ratio over P/C": (ratio / frame["bound"]).where(way == "tree"),
    }
    return frame[["dataset", "source", "busy", "comparison", "classes"]].assign(**columns)
