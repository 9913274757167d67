"""Mean AUC of two SVMs by size and weight, and how much it varies with the weight."""

from kronbench.intervals import half_width
from kronbench_suite.papers.airola.plot.rows import weight
from kronbench_suite.report.numbers import rows_by


def tabulate(frame, item, printed):
    """One row for each size, method and weight; means over folds."""
    correction = item.protocol["spread"]

    def numbers(part):
        return {
            "λ": weight(part),
            "AUC": part["auc"].mean(skipna=False),
            "±": half_width(part["auc"], **correction),
            "over weights": part["over_weights"].mean(skipna=False),
            "± over weights": half_width(part["over_weights"], **correction),
            "test sets": len(part),
        }

    return rows_by(frame, ["dataset", "size", "method", "reg"], numbers)
