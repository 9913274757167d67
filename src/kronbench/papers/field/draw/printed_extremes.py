"""The largest and the last test AUC of each curve: printed, and ours."""

import pandas as pd

from kronbench.runner.columns import SHOWN, Columns
from kronbench.runner.items import Item

COLUMNS = SHOWN | Columns(
    key=("kernel", "pairwise", "setting"),
    counts=("iterations", "printed at", "ours at"),
    numbers=(
        *("maximum", "printed maximum", "last", "printed last"),
        *("first ten apart", "most apart", "band", "apart over band"),
    ),
    values={
        "kernel": ("Gaussian", "Linear"),
        "pairwise": ("Kronecker", "Linear", "Poly2D", "Cartesian", "Cartesian, renumbered"),
        "setting": ("setting 1", "setting 2", "setting 3", "setting 4"),
    },
)


def tabulate(frame: pd.DataFrame, item: Item, printed: None) -> pd.DataFrame:
    """One row for each domain kernel, pairwise kernel and setting.

    ``first ten apart`` and ``most apart`` are the largest distances from the printed curve, over
    ten and over all iterations; ``band`` is that between two orders of sums. The printed maximum
    and last value are over the iterations that were made.
    """
    frame = frame[frame["random_state"] == frame.groupby("of")["random_state"].transform("first")]
    rows = []
    keys = ["kernel", "pairwise", "setting"]
    for (kernel, pairwise, setting), part in frame.groupby(keys, sort=False):
        part = part.sort_values("iteration").set_index("iteration")
        known = part["printed"].notna().any()
        apart, band = part["difference"].max(), part["band"].max()
        rows.append(
            {
                "kernel": kernel,
                "pairwise": pairwise,
                "setting": setting,
                "maximum": part["auc"].max(),
                "printed maximum": part["printed"].max(),
                "ours at": part["auc"].idxmax(),
                "printed at": part["printed"].idxmax() if known else None,
                "last": part["auc"].iloc[-1],
                "printed last": part["printed"].iloc[-1],
                "first ten apart": part.loc[:10, "difference"].max(),
                "most apart": apart,
                "band": band,
                "apart over band": apart / band if band > 0 else None,
                "iterations": len(part),
                "dataset": part["dataset"].iloc[0],
                "source": part["source"].iloc[0],
            }
        )
    return pd.DataFrame(rows)
