"""AUC over several repetitions with other pairs and folds, beside the printed values."""

from kronbench.intervals import half_width
from kronbench_suite.papers.airola.plot.rows import printed_number, weight
from kronbench_suite.report.numbers import rows_by


def tabulate(frame, item, printed):
    """One row for each data set, method, form, weight and iteration: means over repetitions.

    ``deviation`` is that of one repetition. The plot's options ``regs`` and ``iterations`` say at
    which points of the curves.
    """
    for column, shown in (("reg", "regs"), ("iteration", "iterations")):
        if column in frame:
            frame = frame[frame[column].isin(item.plot_options[shown])]

    def numbers(part):
        auc = part["auc"]
        row = {"ours": auc.mean(skipna=False), "±": half_width(auc), "deviation": auc.std()}
        row |= {"lowest": auc.min(), "highest": auc.max(), "repetitions": len(part)}
        if item.printed:
            row["paper"] = printed_number(printed, part)
            row["difference"] = row["ours"] - row["paper"]
        if "reg" in part:
            row["λ"] = weight(part)
        if "on_edge" in part:
            row["on edge"] = part["on_edge"].sum(min_count=1)
        return row

    keys = ("dataset", "method", "form", "reg", "iteration")
    return rows_by(frame, [name for name in keys if name in frame], numbers)
