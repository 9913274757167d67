"""What the best iteration on the test set adds to the AUC, and what an honest choice costs."""

import pandas as pd

from kronbench.runner.columns import SHOWN, Columns, Parameter
from kronbench.runner.items import Item

COLUMNS = SHOWN | Columns(
    key=("pairwise", "setting"),
    counts=("best at", "chosen at", "on edge"),
    numbers=(
        *("largest", "printed largest", "last", "printed last", "honest"),
        *("largest less honest", "largest less last", "honest less last"),
        *("first ten apart", "other seed apart"),
    ),
    values={
        "pairwise": (Parameter(("inner",)),),
        "setting": ("setting 1", "setting 2", "setting 3", "setting 4"),
    },
)


def tabulate(frame: pd.DataFrame, item: Item, printed: None) -> pd.DataFrame:
    """One row for each pairwise kernel with inner folds and each setting.

    ``largest`` is the largest test AUC over the iterations, ``honest`` that at the iteration with
    the largest AUC on the inner fold, ``last`` that of the last iteration. ``on edge`` is 1 where
    the inner fold chooses the last one. ``other seed apart`` is the distance from the printed
    curve with the seed that the published script states, over its iterations.
    """
    seed = item.parameters["random_state"]
    rows = []
    inner = frame[frame["auc_inner"].notna()]
    for (pairwise, setting), part in inner.groupby(["pairwise", "setting"], sort=False):
        part = part.sort_values("iteration").set_index("iteration")
        chosen = part["auc_inner"].idxmax()
        largest, honest, last = part["auc"].max(), part.loc[chosen, "auc"], part["auc"].iloc[-1]
        other = frame[
            (frame["random_state"] != seed)
            & (frame["pairwise"] == pairwise)
            & (frame["setting"] == setting)
        ]
        rows.append(
            {
                "pairwise": pairwise,
                "setting": setting,
                "largest": largest,
                "printed largest": part["printed"].max(),
                "best at": part["auc"].idxmax(),
                "honest": honest,
                "chosen at": chosen,
                "on edge": int(chosen == part.index.max()),
                "last": last,
                "printed last": part["printed"].iloc[-1],
                "largest less honest": largest - honest,
                "largest less last": largest - last,
                "honest less last": honest - last,
                "first ten apart": part.loc[:10, "difference"].max(),
                "other seed apart": other["difference"].max(),
                "dataset": part["dataset"].iloc[0],
                "source": part["source"].iloc[0],
            }
        )
    return pd.DataFrame(rows)
