"""What is read off timed points: the power law of their seconds, and a busy machine."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike


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
