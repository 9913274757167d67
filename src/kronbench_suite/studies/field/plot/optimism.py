"""What the best iteration on the test set adds to the AUC, and what an honest choice costs."""

import pandas as pd


def tabulate(frame, item, printed):
    """One row for each pairwise kernel with inner folds and each setting.

    ``honest`` is the test AUC at the iteration with the largest AUC on the inner fold. ``on edge``
    is 1 where that is the last one.
    """
    is_other = frame["random_state"] != item.parameters["random_state"]
    keys = ["dataset", "source", "pairwise", "setting"]
    other = frame[is_other].groupby(keys)["difference"].max()
    rows = []
    for names, part in frame[frame["auc_inner"].notna()].groupby(keys, sort=False):
        part = part.sort_values("iteration").set_index("iteration")
        auc, chosen = part["auc"], part["auc_inner"].idxmax()
        largest, honest, last = auc.max(), auc[chosen], auc.iloc[-1]
        rows.append(
            {
                **dict(zip(keys, names, strict=True)),
                "largest": largest,
                "printed largest": part["printed"].max(),
                "best at": auc.idxmax(),
                "honest": honest,
                "chosen at": chosen,
                "on edge": int(chosen == part.index.max()),
                "last": last,
                "printed last": part["printed"].iloc[-1],
                "largest less honest": largest - honest,
                "largest less last": largest - last,
                "first ten apart": part.loc[:10, "difference"].max(),
                "other seed apart": other.get(names),
            }
        )
    return pd.DataFrame(rows)
