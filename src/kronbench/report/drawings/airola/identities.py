"""Statements with their deviations, and with operations beside the printed cost."""

import pandas as pd

from kronbench.bench.columns import SHOWN, Columns
from kronbench.bench.items import Item

COLUMNS = SHOWN | Columns(
    key=("name",),
    counts=("operations",),
    numbers=("deviation", "operations / O()", "times fewer", "share"),
    texts=("place", "statement"),
    values={
        "name": (
            *("vec trick", "indices", "lines 2 to 11", "lines 13 to 22", "Algorithm 1"),
            *("complete graph", "repeated pairs", "kernel matrix", "representer theorem"),
            *("dual predictions", "sparse predictions", "primal predictions"),
            *("dual instead of primal", "norm", "dual gradient", "dual Hessian"),
            *("primal gradient", "primal Hessian", "convexity", "diagonal Hessians"),
            *("L1-SVM", "common term", "both forms", "L-BFGS", "one batch", "dual ridge"),
            *("primal ridge", "one step", "least squares", "SVM gradient", "SVM Hessian"),
            *("sparse product", "support", "zeros", "Gaussian kernels"),
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
