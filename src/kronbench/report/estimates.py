"""What is computed from measured points: exponents, spans, signs of disturbance."""

from __future__ import annotations

from collections.abc import Mapping

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


def worst_load(waiting: float) -> float:
    """How many times as long a busy machine may have made a time; NaN where nothing is known.

    A thread that waited for a share of the time ran for the rest of it. On a core, a cache or a
    memory that it shared with another program it ran at half its speed, which no clock counts.
    """
    return float(np.divide(2.0, 1.0 - waiting))


def span(frame: pd.DataFrame, value: str = "seconds") -> tuple[float, float]:
    """Smallest and largest repeat behind the timed rows of a frame; NaN where none is kept."""
    low, high = f"{value}_low", f"{value}_high"
    if low not in frame or high not in frame:
        return np.nan, np.nan
    return float(frame[low].min()), float(frame[high].max())


def doubts(row: Mapping) -> str:
    """What a reader must know before quoting a row: surrogate data, a busy machine."""
    found = {
        "surrogate data": row["source"] == "surrogate",
        "busy machine": row.get("busy") in (True, "True"),
    }
    return ", ".join(doubt for doubt, applies in found.items() if applies)
