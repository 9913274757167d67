"""Mean AUC of each method, beside the printed values."""

from kronbench.intervals import half_width
from kronbench.papers.airola.draw.rows import printed_number, rows_by


def tabulate(frame, item, printed):
    """One row for each data set and method.

    ``spread`` is the standard deviation over test sets, ``±`` half the width of the 95 % interval
    of the mean, corrected for folds that share training pairs; that of a checkerboard is one over
    boards, drawn anew for training and test. ``chosen`` is the range of the selected values,
    ``on edge`` the number of test sets whose value is the first or last of its grid.
    """

    def numbers(part):
        ours, paper = part["auc"].mean(skipna=False), printed_number(printed, part)
        correction = item.protocol["test_over_train"] * part["cross_validated"].all()
        return {
            "ours": ours,
            "paper": paper,
            "difference": ours - paper,
            "spread": part["auc"].std(),
            "±": half_width(part["auc"], correction),
            "test sets": len(part),
            "chosen": _chosen(part),
            "on edge": part["on_edge"].sum(min_count=1),
            "scored by": ", ".join(part["scored_by"].dropna().unique()),
        }

    return rows_by(frame, ["dataset", "method"], numbers)


def _chosen(part):
    """The range of the selected parameter; empty where nothing was selected."""
    selected = part[["reg", "n_neighbors"]].dropna(axis=1, how="all")
    if selected.empty:
        return ""
    low, high = selected.iloc[:, 0].agg(["min", "max"])
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
