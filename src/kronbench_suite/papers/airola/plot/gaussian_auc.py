"""Mean AUC of two SVMs by size and weight, and how much it varies with the weight."""

from kronbench.intervals import half_width
from kronbench_suite.papers.airola.plot.rows import weight
from kronbench_suite.report.numbers import rows_by


def tabulate(frame, item, printed):
    """One row for each size, method and weight; means over folds."""
    correction = item.protocol["test_over_train"]

    def numbers(part):
        auc, over = part["auc"], part["over_weights"]
        row = {"λ": weight(part), "AUC": auc.mean(skipna=False), "±": half_width(auc, correction)}
        row |= {"over weights": over.mean(skipna=False)}
        return row | {"± over weights": half_width(over, correction), "test sets": len(part)}

    return rows_by(frame, ["dataset", "size", "method", "reg"], numbers)
