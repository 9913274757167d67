"""Statements with their deviations, and with operations beside the printed cost."""

import pandas as pd

from kronbench.runner.columns import SHOWN, Columns
from kronbench.runner.items import Item

COLUMNS = SHOWN | Columns(
    key=("name",),
    counts=("operations",),
    numbers=("deviation", "operations / O()", "times fewer", "share"),
    texts=("key", "place", "statement"),
    values={
        "key": (
            *("lemma-1", "lemma-2", "algorithm-1", "theorem-1", "remark-1"),
            *("2016-remark-1", "kernel-matrix", "representer", "dual-predictions"),
            *("sparse-predictions", "primal-predictions", "dual-saves", "norm"),
            *("dual-gradient", "dual-hessian", "primal-gradient", "primal-hessian"),
            *("convex", "diagonal-hessians", "l1-hessian", "equation-9", "algorithms-2-3"),
            *("other-optimizers", "batches", "ridge-system", "ridge-primal-system"),
            *("ridge-once", "svm-formulas", "svm-sparse-product", "svm-support"),
            *("svm-sparsity", "concatenated"),
        ),
    },
)


def tabulate(frame: pd.DataFrame, item: Item, printed: None) -> pd.DataFrame:
    """One row for each statement, in the order of the text."""
    return pd.DataFrame(
        {
            "key": frame["key"],
            "place": frame["place"],
            "name": frame["name"],
            "statement": frame["statement"],
            "deviation": frame["deviation"],
            "operations": frame["operations"],
            "operations / O()": frame["operations"] / frame["cost"],
            "times fewer": frame["plain"] / frame["operations"],
            "share": frame["share"],
            "dataset": frame["dataset"],
            "source": frame["source"],
        }
    )
