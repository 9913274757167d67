"""Mean AUC of each method, beside the printed values."""

from kronbench.intervals import half_width
from kronbench_suite.papers.airola.plot.rows import printed_number
from kronbench_suite.report.numbers import rows_by


def tabulate(frame, item, printed):
    """One row for each data set and method; ``spread`` is the standard deviation over test sets.

    ``±`` is corrected for folds that share training pairs, which boards do not.
    """

    def numbers(part):
        ours, paper = part["auc"].mean(skipna=False), printed_number(printed, part)
        # The range of the selected parameter; empty where nothing was selected.
        selected, chosen = part[["reg", "n_neighbors"]].dropna(axis=1, how="all"), ""
        if not selected.empty:
            low, high = selected.iloc[:, 0].agg(["min", "max"])
            chosen = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        correction = item.protocol["spread"] if part["cross_validated"].all() else {}
        return {
            "ours": ours,
            "paper": paper,
            "difference": ours - paper,
            "spread": part["auc"].std(),
            "±": half_width(part["auc"], **correction),
            "test sets": len(part),
            "chosen": chosen,
            "on edge": part["on_edge"].sum(min_count=1),
            "scored by": ", ".join(part["scored_by"].dropna().unique()),
        }

    return rows_by(frame, ["dataset", "method"], numbers)
