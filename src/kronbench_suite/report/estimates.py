"""What is computed from measured points: means, exponents, signs of disturbance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from kronbench.intervals import half_width


def exponent(sizes: ArrayLike, values: ArrayLike) -> float:
    """The power p of the law values ~ sizes^p, by least squares on logarithms.

    NaN where a value is not finite and positive, or where all sizes are the same.
    """
    sizes, values = np.asarray(sizes, dtype=float), np.asarray(values, dtype=float)
    usable = np.isfinite(values).all() and (values > 0).all() and len(np.unique(sizes)) > 1
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0]) if usable else np.nan


def disturbed(frame: pd.DataFrame) -> bool:
    """Whether any row was measured while the machine was busy with something else."""
    return "busy" in frame and bool(frame["busy"].isin([True, "True"]).any())


def means(
    frame: pd.DataFrame, by: Sequence[str], values: Sequence[str], **spread: float
) -> pd.DataFrame:
    """One row for each entry of the columns ``by``: means of ``values`` over its other rows.

    The column ``<value> ±`` is half the width of the 95 % interval of a mean, missing for a single
    row, and ``repeats`` is their number; a layout shows both by ``auc: {spread: auc ±}``. Folds
    share training points: give their ``test_over_train`` (:func:`kronbench.intervals.half_width`),
    such as ``**item.protocol["spread"]``. A value that is missing makes its mean missing.
    """
    groups = frame.groupby(list(by), sort=False)
    shown = groups.size().to_frame("repeats")
    for value in values:
        shown[value] = groups[value].agg(lambda numbers: numbers.mean(skipna=False))
        shown[f"{value} ±"] = groups[value].agg(half_width, **spread)
    return shown.reset_index()
