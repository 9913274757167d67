"""What kernel products cost: seconds, and how many times those of the first way."""

from kronbench_suite.runner.columns import SHOWN, Columns

COLUMNS = SHOWN | Columns(
    key=("comparison", "way"),
    clock=("ms",),
    ratios_of_clock=("seconds over the first",),
)


def tabulate(frame, item, printed):
    """One row for each comparison and way; ``seconds over the first`` within a data set."""
    comparisons = frame.groupby(["dataset", "comparison"], sort=False)["seconds"]
    way, of_classes = frame["way"].astype(str), frame["comparison"] == "classes"
    columns = {
        "way": way.mask(of_classes, way + " classes"),
        "ms": 1000 * frame["seconds"],
        "seconds over the first": frame["seconds"] / comparisons.transform("first"),
    }
    return frame[["dataset", "source", "busy", "comparison", "classes"]].assign(**columns)
