"""The words of a verdict, and the file that keeps the verdicts of a run."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

HOLDS, DIFFERS, FAILS, UNTESTED = VERDICTS = ("holds", "differs", "fails", "not tested here")

# Why a claim on time is not tested on rows that other programs disturbed.
BUSY = "the machine was busy"

_COLUMNS = ["id", "paper", "timing", "verdict", "measured"]


def read_verdicts(path: str | Path) -> pd.DataFrame:
    """Verdicts by claim id, from ``verdicts.csv`` or from the ``claims.csv`` of a run."""
    return pd.read_csv(path, keep_default_na=False)[_COLUMNS].set_index("id")
