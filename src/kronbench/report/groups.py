"""Rows of a result table in groups, and the repeats of two sides paired with each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from kronbench.intervals import half_width
from kronbench.report.outcomes import NotMeasured


def groups(frame: pd.DataFrame, by: Sequence[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield (name, rows); a missing key is a group of its own, never dropped."""
    if not by:
        yield "", frame
        return
    for names, group in frame.groupby(list(by), dropna=False):
        yield ", ".join(f"{key} {name}" for key, name in zip(by, names, strict=True)), group


def by_repeat(group: pd.DataFrame, value: str, spread: Mapping | None) -> pd.Series:
    """Means by repeat; without ``spread`` the mean of all, as a series of one."""
    if spread is None:
        return pd.Series([group[value].mean()])
    return group.groupby(spread["over"], dropna=False)[value].mean()


def table(
    rows: pd.DataFrame, value: str, spread: Mapping | None, over: str | None = None
) -> pd.DataFrame:
    """Means with a row for each repeat (one without ``spread``) and a column for each ``over``.

    Positions that a repeat did not reach are NaN.
    """
    rows = rows.assign(_set=0, _position=0)
    position = over or "_position"
    keys = spread["over"] if spread else ["_set"]
    return rows.groupby([*keys, position], dropna=False)[value].mean().unstack(position)


def paired(group, value, between, low, high, over, spread) -> pd.Series | None:
    """Differences high - low, one for each repeat that both have; None where none has.

    With ``over`` each side stands at the position along that column where its own mean is largest.
    """
    sides = [group[group[between] == side] for side in (low, high)]
    if any(side.empty for side in sides):
        return None
    tables = [table(side, value, spread, over) for side in sides]
    common = tables[0].index.intersection(tables[1].index)
    tables = [side.loc[common].dropna(axis=1) for side in tables]
    if common.empty or any(side.empty for side in tables):
        return None
    columns = [side[side.mean().idxmax()] for side in tables]
    return columns[1] - columns[0]


def differences(
    frame, value, between, low, high, by, over, spread
) -> Iterator[tuple[str, pd.Series, pd.Index]]:
    """Yield (name, paired differences high - low, rows) of every group, which has both sides."""
    for name, group in groups(frame, by):
        found = paired(group, value, between, low, high, over, spread)
        if found is None:
            sides = group[between].unique()
            lacking = [side for side in (low, high) if side not in sides]
            raise without(lacking or [f"{low} and {high} on the same repeats"], name)
        yield name, found, group.index[group[between].isin([low, high])]


def without(what: Sequence, name: str) -> NotMeasured:
    """The reason of a claim that names what the rows of a group do not have."""
    return NotMeasured(f"without {', '.join(map(str, what))}" + (f" ({name})" if name else ""))


def stated(values: pd.Series, spread: Mapping | None) -> str:
    """A mean with its interval; what should have one and has not says so."""
    mean = values.mean()
    if spread is None:
        return f"{mean:.4g}"
    level = spread.get("level", 0.95)
    half = half_width(values, spread.get("test_over_train", 0.0), level)
    if np.isnan(half):
        return f"{mean:.4g} (one split: no spread)"
    names = spread["over"]
    plain = len(names) == 1 and "_" not in names[0]
    counted = f"{names[0]}s" if plain else "repeats"
    interval = f"{mean - half:.4g} to {mean + half:.4g}"
    return f"{mean:.4g} ({100 * level:.4g} % interval {interval}, {len(values)} {counted})"
