"""The largest and the last test AUC of each curve: printed, and ours."""

import pandas as pd

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
    rows = []
    for names, part in frame.groupby(keys, sort=False):
        part = part.sort_values("iteration").set_index("iteration")
        auc, printed = part["auc"], part["printed"]
        apart, band = part["difference"].max(), part["band"].max()
        rows.append(
            {
                **dict(zip(keys, names, strict=True)),
                "maximum": auc.max(),
                "maximum_reversed": part["auc_reversed"].max(),
                "printed maximum": printed.max(),
                "ours at": auc.idxmax(),
                "printed at": printed.idxmax() if printed.notna().any() else None,
                "last": auc.iloc[-1],
                "last_reversed": part["auc_reversed"].iloc[-1],
                "printed last": printed.iloc[-1],
                "first ten apart": part.loc[:10, "difference"].max(),
                "most apart": apart,
                "band": band,
                "apart over band": apart / band if band > 0 else None,
            }
        )
    return pd.DataFrame(rows)
