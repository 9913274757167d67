"""AUC over several draws of the pairs and folds, beside the printed values."""

import numpy as np
import pandas as pd

from kronbench.intervals import half_width
from kronbench.papers.airola.draw.method_auc import printed_number
from kronbench.runner.columns import SHOWN, Columns, Parameter
from kronbench.runner.items import Item

COLUMNS = SHOWN | Columns(
    key=("method", "form", "reg", "iteration"),
    counts=("draws", "on edge"),
    numbers=("ours", "paper", "difference", "±", "deviation", "lowest", "highest"),
    texts=("λ",),
    values={"method": (Parameter(("methods",)),), "reg": (Parameter(("regs",)),)},
)


def tabulate(frame: pd.DataFrame, item: Item, printed: pd.DataFrame) -> pd.DataFrame:
    """One row for each data set, method, form, weight and iteration.

    ``ours`` is the mean over draws, ``±`` half the width of its 95 % interval, ``deviation`` the
    standard deviation of one draw, ``lowest`` and ``highest`` the draws at the ends, ``on edge``
    the number of selections in all draws that ended at the edge of their grid. The drawing
    options ``regs`` and ``iterations`` say at which points of the curves.
    """
    for column, shown in (("reg", "regs"), ("iteration", "iterations")):
        if column in frame:
            frame = frame[frame[column].isin(item.drawing_options[shown])]
    keys = [name for name in ("dataset", *COLUMNS.key) if name in frame]
    rows = []
    for names, part in frame.groupby(keys, sort=False):
        row = dict(zip(keys, names, strict=True))
        ours = part["auc"].mean(skipna=False)
        if item.printed:
            paper = printed_number(printed.set_index("method"), row["method"], row["dataset"])
            row |= {"paper": paper, "difference": ours - paper}
        if "reg" in row:
            row["λ"] = f"2^{np.log2(row['reg']):g}"
        row |= {
            "ours": ours,
            "±": half_width(part["auc"]),
            "deviation": part["auc"].std(),
            "lowest": part["auc"].min(),
            "highest": part["auc"].max(),
            "draws": len(part),
            "source": part["source"].iloc[0],
        }
        if "on_edge" in part:
            row["on edge"] = part["on_edge"].sum(min_count=1)
        rows.append(row)
    return pd.DataFrame(rows)
