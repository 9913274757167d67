"""Processor seconds of each method, beside the printed values."""

from kronbench_suite.papers.airola.plot.rows import printed_number
from kronbench_suite.report.estimates import disturbed
from kronbench_suite.report.numbers import rows_by
from kronbench_suite.runner.columns import SHOWN, Columns

COLUMNS = SHOWN | Columns(
    key=("method",),
    clock=(
        *("our seconds", "our seconds_low", "our seconds_high", "spread of seconds"),
        *("fit seconds", "prediction seconds"),
    ),
    ratios_of_clock=("paper / our seconds",),
)


def tabulate(frame, item, printed):
    """One row for each data set and method: nine times the mean of a fold, or the board's mean.

    Over those that were timed, ``timed`` in number; the spread, the least (``_low``) and the most
    are multiplied like the mean.
    """

    def numbers(part):
        # The paper's seconds are those of all folds.
        rounds = item.protocol["folds"] if part["cross_validated"].all() else 1
        seconds = part["cpu_seconds"]
        ours = rounds * seconds.mean(skipna=False)
        paper = printed_number(printed, part)
        low, high = rounds * seconds.min(), rounds * seconds.max()
        row = {"our seconds": ours, "our seconds_low": low, "our seconds_high": high}
        row |= {"spread of seconds": rounds * seconds.std(), "paper seconds": paper}
        row["paper / our seconds"] = paper / ours
        # What of it is the last fit, and what the prediction; the rest selects.
        row["fit seconds"] = rounds * part["fit_cpu"].mean()
        row["prediction seconds"] = rounds * part["prediction_cpu"].mean()
        row |= {"n": part["n"].mean().round().astype(int), "timed": len(part)}
        return row | {"busy": disturbed(part)}

    return rows_by(frame.dropna(subset=["cpu_seconds"]), ["dataset", "method"], numbers)
