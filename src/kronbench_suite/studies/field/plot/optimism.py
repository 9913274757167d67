"""What the best iteration on the test set adds to the AUC, and what an honest choice costs."""

from kronbench_suite.report.numbers import rows_by


def tabulate(frame, item, printed):
    """One row for each pairwise kernel with inner folds and each setting.

    ``honest`` is the test AUC at the iteration with the largest AUC on the inner fold. ``on edge``
    is 1 where that is the last one.
    """
    is_other = frame["random_state"] != item.parameters["random_state"]
    keys = ["dataset", "source", "pairwise", "setting"]
    other = frame[is_other].groupby(keys)["difference"].max()

    def numbers(part):
        part = part.sort_values("iteration").set_index("iteration")
        auc, chosen = part["auc"], part["auc_inner"].idxmax()
        largest, honest, last = auc.max(), auc[chosen], auc.iloc[-1]
        printed, apart = part["printed"], part.loc[:10, "difference"].max()
        row = {"largest": largest, "printed largest": printed.max(), "best at": auc.idxmax()}
        row |= {"honest": honest, "chosen at": chosen, "on edge": int(chosen == part.index.max())}
        row |= {"last": last, "printed last": printed.iloc[-1]}
        # What the choice on the test set adds, and how far our curves are from the printed ones.
        row |= {"largest less honest": largest - honest, "largest less last": largest - last}
        seeds_apart = other.get(tuple(part[name].iloc[0] for name in keys))
        return row | {"first ten apart": apart, "other seed apart": seeds_apart}

    return rows_by(frame[frame["auc_inner"].notna()], keys, numbers)
