"""Processor seconds of each method, beside the printed values."""

from kronbench_suite.papers.airola.plot.rows import printed_number, rows_by
from kronbench_suite.report.timed_points import disturbed
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
        rounds = item.protocol["folds"] if part["cross_validated"].all() else 1
        ours = rounds * part["cpu_seconds"].mean(skipna=False)
        paper = printed_number(printed, part)
        return {
            "our seconds": ours,
            "our seconds_low": rounds * part["cpu_seconds"].min(),
            "our seconds_high": rounds * part["cpu_seconds"].max(),
            "spread of seconds": rounds * part["cpu_seconds"].std(),
            "paper seconds": paper,
            "paper / our seconds": paper / ours,
            "fit seconds": rounds * part["fit_cpu"].mean(),
            "prediction seconds": rounds * part["prediction_cpu"].mean(),
            "n": part["n"].mean().round().astype(int),
            "timed": len(part),
            "busy": disturbed(part),
        }

    return rows_by(frame.dropna(subset=["cpu_seconds"]), ["dataset", "method"], numbers)
