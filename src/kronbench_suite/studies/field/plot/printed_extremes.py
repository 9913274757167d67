"""The largest and the last test AUC of each curve: printed, and ours."""

from kronbench_suite.report.numbers import rows_by
from kronbench_suite.runner.columns import SHOWN, Columns

COLUMNS = SHOWN | Columns(
    key=("kernel", "pairwise", "setting"),
    rounding=("maximum_reversed", "last_reversed", "band", "apart over band"),
)


def tabulate(frame, item, printed):
    """One row for each domain kernel, pairwise kernel and setting.

    ``first ten apart`` and ``most apart`` are the largest distances from the printed curve, over
    ten and over all iterations; ``band`` is the largest between two orders of sums.
    """
    frame = frame[frame["random_state"] == frame.groupby("of")["random_state"].transform("first")]
    keys = ["dataset", "source", "kernel", "pairwise", "setting"]

    def numbers(part):
        part = part.sort_values("iteration").set_index("iteration")
        auc, printed = part["auc"], part["printed"]
        apart, band = part["difference"].max(), part["band"].max()
        again, printed_at = part["auc_reversed"], None
        if printed.notna().any():
            printed_at = printed.idxmax()
        # The largest AUC, where it is, and the last one: ours, in another order of sums, printed.
        row = {"maximum": auc.max(), "maximum_reversed": again.max()}
        row |= {"printed maximum": printed.max(), "ours at": auc.idxmax()}
        row |= {"printed at": printed_at, "last": auc.iloc[-1], "last_reversed": again.iloc[-1]}
        row |= {"printed last": printed.iloc[-1]}
        # The distance from the printed curve, beside that between orders of sums.
        row |= {"first ten apart": part.loc[:10, "difference"].max(), "most apart": apart}
        return row | {"band": band, "apart over band": apart / band if band > 0 else None}

    return rows_by(frame, keys, numbers)
