"""Processor seconds of each method, beside the printed values."""

from kronbench.papers.airola.draw.rows import printed_number, rows_by
from kronbench.report.estimates import disturbed
from kronbench.runner.columns import SHOWN, Columns

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

    Over the folds, or boards, where it was timed, ``timed`` in number; ``spread of seconds`` is
    their standard deviation, times as many, ``_low`` and ``_high`` the least and the most of them,
    times as many. The paper's numbers are sums over its folds: 298 s for KronSVM on Ki, where its
    section 5.3 gives 25 s for one.
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
