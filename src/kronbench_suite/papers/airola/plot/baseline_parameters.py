"""Mean AUC of the baselines by the parameter that they select, beside the printed values."""

from kronbench.intervals import half_width
from kronbench_suite.papers.airola.plot.rows import printed_number, weight
from kronbench_suite.report.numbers import rows_by


def tabulate(frame, item, printed):
    """One row for each data set, method and value; the paper has one number for each method."""

    def numbers(part):
        return {
            "λ": weight(part),
            "ours": part["auc"].mean(skipna=False),
            "paper": printed_number(printed, part),
            "±": half_width(part["auc"], **item.protocol["spread"]),
            "test sets": len(part),
        }

    return rows_by(frame, ["dataset", "method", "n_neighbors", "reg"], numbers)
