"""Checks that a claim can name: functions of a result table that return what was measured.

Each takes the rows that the claim selects, and the arguments of its entry in
``config/claims``; it returns ``(holds, measured)``, a bool and a short text, or
raises ``NotMeasured``. What they have in common:

- No rows: ``NotMeasured``, "not tested here".
- A number that is not finite never holds: a check that reads one fails and says where it stands.
  Only ``reaches`` and ``mostly_at_least`` accept a missing value: its row misses the bound.
- A comparison holds when the *means* have the claimed order and size. The interval printed beside
  it tells how far chance among splits or repeats may reach; it makes no claim hold that the means
  contradict. A claim that an advantage is more than chance says ``significant: true``: then the
  whole interval must lie on the claimed side, and a single split leaves it not tested.
- ``spread: {over: [fold], test_over_train: 0.25}`` names the columns that tell test sets or
  repeats apart. Differences are paired along them, and the 95 % interval is that of
  ``fits.half_width``.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from kronbench.report.estimates import exponent, half_width

_NO_PLACE = {"source", "paper took", "beyond", "chosen", "O()", "L"}


class NotMeasured(Exception):
    """The rows hold too little for a check; the message says what is missing."""


def _judges(column, rows_read=lambda frame, **arguments: frame, finite=True):
    """Make a check refuse empty selections and, with ``finite``, numbers that are not finite.

    ``column`` is the argument that names the column of numbers; ``rows_read`` narrows the selected
    rows to those that the verdict rests on.
    """

    def decorate(check):
        @functools.wraps(check)
        def judged(frame, **arguments):
            if frame.empty:
                raise NotMeasured("no such rows")
            frame = rows_read(frame, **arguments)
            values = frame[arguments.get(column, column)].astype(float)
            bad = ~np.isfinite(values)
            if finite and bad.any():
                where = _place(frame[bad].iloc[0])
                return False, f"{bad.sum()} of {len(values)} numbers are not finite ({where})"
            holds, measured = check(frame, **arguments)
            return bool(holds), measured

        judged.rows_read = rows_read
        return judged

    return decorate


def _printed_rows(frame, *, paper="paper", **arguments):
    rows = frame.dropna(subset=[paper])
    if rows.empty:
        raise NotMeasured("nothing is printed for these rows")
    return rows


def _largest_rows(frame, *, between, slow, fast, by=(), at_largest=None, **arguments):
    """The rows of both sides, in groups that have both; at the largest common ``at_largest``."""
    by = list(by)
    groups = []
    for _, group in frame.groupby(by, dropna=False) if by else [((), frame)]:
        sides = [group[group[between] == side] for side in (slow, fast)]
        if at_largest:
            common = set(sides[0][at_largest]) & set(sides[1][at_largest])
            sides = [side[side[at_largest] == max(common, default=None)] for side in sides]
        groups += sides if all(len(side) for side in sides) else []
    if not groups:
        where = f"no {at_largest}" if at_largest else "no group"
        raise NotMeasured(f"{where} has both {slow} and {fast}")
    return pd.concat(groups)


@_judges("value")
def decreases(
    frame: pd.DataFrame, *, value: str, over: str, by: Sequence[str], tolerance: float = 0.0
) -> tuple[bool, str]:
    """``value``, a mean over all columns but ``by`` and ``over``, never rises along ``over``.

    ``tolerance`` is the largest relative rise from one step to the next that counts as level.
    """
    rises = {}
    for names, curve in _curves(frame, value, over, by):
        if len(curve) < 2:
            raise NotMeasured(f"fewer than two values of {over} ({names})")
        values = curve.to_numpy()
        with np.errstate(divide="ignore", invalid="ignore"):
            rises[names] = np.max(np.diff(values) / np.abs(values[:-1]))
    # A step from zero has no relative size: it counts as the worst.
    where = max(rises, key=lambda names: np.nan_to_num(rises[names], nan=np.inf))
    return rises[where] <= tolerance, f"largest relative rise {rises[where]:.2g} ({where})"


@_judges("value")
def peaks_within(
    frame: pd.DataFrame,
    *,
    value: str,
    over: str,
    by: Sequence[str],
    limit: float,
    slack: float = 0.0,
    spread: Mapping | None = None,
) -> tuple[bool, str]:
    """After ``over`` = ``limit`` the mean of ``value`` rises by no more than ``slack``.

    The best mean of the whole curve is compared with the best up to ``limit``, paired along
    ``spread``.
    """
    along = _along(spread)
    gains = {}
    for names, group in _groups(frame, by):
        table = _table(group, value, along, over).dropna(axis=1)
        means = table.mean()
        early = means[means.index <= limit]
        if early.empty:
            raise NotMeasured(f"nothing was measured up to {over} {limit:g} ({names})")
        if means.index.max() <= limit:
            raise NotMeasured(f"the curve ends at {over} {means.index.max():g} ({names})")
        gains[names] = (table[means.idxmax()] - table[early.idxmax()], means.idxmax())
    where = max(gains, key=lambda names: gains[names][0].mean())
    difference, position = gains[where]
    text = (
        f"best at {over} {position:g}, better than up to {limit:g} by "
        f"{_stated(difference, spread)} ({where})"
    )
    return difference.mean() <= slack, text


@_judges("value")
def within(
    frame: pd.DataFrame,
    *,
    value: str,
    target: float,
    tolerance: float,
    spread: Mapping | None = None,
) -> tuple[bool, str]:
    """The mean of ``value`` over the selected rows is ``target`` up to ``tolerance``."""
    values = _means(frame, _along(spread), value) if spread else frame[value]
    mean = float(values.mean())
    text = f"{_stated(values, spread)} against {target:g} \u00b1 {tolerance:g}"
    return abs(mean - target) <= tolerance, text


@_judges("ours", rows_read=_printed_rows)
def agrees(
    frame: pd.DataFrame,
    *,
    tolerance: float,
    ours: str = "ours",
    paper: str = "paper",
    interval: str | None = None,
) -> tuple[bool, str]:
    """Every printed number is met up to ``tolerance``; rows without one do not count.

    ``interval`` names the column with half the width of the interval of ours; it is printed.
    """
    difference = (frame[ours] - frame[paper]).abs()
    worst = frame.loc[difference.idxmax()]
    text = f"largest difference {difference.max():.4g}"
    if interval:
        half = worst[interval]
        text += f" \u00b1 {half:.2g}" if np.isfinite(half) else " (one split: no spread)"
    return (difference <= tolerance).all(), f"{text} of {len(frame)} numbers ({_place(worst)})"


@_judges("value")
def vanishes(frame: pd.DataFrame, *, value: str, tolerance: float) -> tuple[bool, str]:
    """No selected row has a ``value`` of a size above ``tolerance``."""
    sizes = frame[value].abs()
    where = _place(frame.loc[sizes.idxmax()])
    return sizes.max() <= tolerance, f"largest {sizes.max():.2g}, bound {tolerance:g} ({where})"


@_judges("value")
def nowhere_vanishes(frame: pd.DataFrame, *, value: str, tolerance: float) -> tuple[bool, str]:
    """Every selected row has a ``value`` of a size of at least ``tolerance``."""
    sizes = frame[value].abs()
    where = _place(frame.loc[sizes.idxmin()])
    return sizes.min() >= tolerance, f"smallest {sizes.min():.2g}, bound {tolerance:g} ({where})"


@_judges("value")
def at_least(
    frame: pd.DataFrame,
    *,
    value: str,
    bound: float,
    by: Sequence[str] | None = None,
    spread: Mapping | None = None,
    significant: bool = False,
) -> tuple[bool, str]:
    """The smallest ``value`` of the selected rows, or mean of a group, is at least ``bound``."""
    if not by:
        smallest = float(frame[value].min())
        return smallest >= bound, f"smallest {smallest:.4g}, bound {bound:g}"
    groups = {
        names: _means(group, _along(spread), value) if spread else group[value]
        for names, group in _groups(frame, by)
    }
    where = min(groups, key=lambda names: groups[names].mean())
    text = f"smallest {_stated(groups[where], spread)}, bound {bound:g} ({where})"
    return _all_beyond(groups, bound, spread, significant), text


@_judges("value")
def at_most(frame: pd.DataFrame, *, value: str, bound: float) -> tuple[bool, str]:
    """The largest ``value`` of the selected rows is at most ``bound``."""
    largest = float(frame[value].max())
    return largest <= bound, f"largest {largest:.4g}, bound {bound:g}"


@_judges("value", finite=False)
def reaches(frame: pd.DataFrame, *, value: str, bound: float) -> tuple[bool, str]:
    """Some selected row has a finite ``value`` of at least ``bound``."""
    values, text = _finite(frame, value)
    largest = float(values.max())
    return largest >= bound, f"largest {largest:.4g}, bound {bound:g}{text}"


@_judges("value", finite=False)
def mostly_at_least(
    frame: pd.DataFrame, *, value: str, bound: float, share: float
) -> tuple[bool, str]:
    """At least the given share of the selected rows has a finite ``value`` of at least ``bound``.

    A row without a value does not have it.
    """
    values, text = _finite(frame, value)
    good = int((values >= bound).sum())
    return good >= share * len(frame), f"{good} of {len(frame)} rows{text}"


@_judges("value")
def gain(
    frame: pd.DataFrame,
    *,
    value: str,
    between: str,
    low: object,
    high: object,
    by: Sequence[str],
    bound: float,
    over: str | None = None,
    spread: Mapping | None = None,
    significant: bool = False,
    share: float = 1.0,
) -> tuple[bool, str]:
    """For each group that has both, ``value`` at ``high`` exceeds that at ``low`` by ``bound``.

    ``between`` is the column that holds ``low`` and ``high``. Differences are paired along
    ``spread`` and averaged; with ``over``, each side stands at the position along that column
    where its own mean is largest. ``share`` is the share of the groups of which it must be true.
    """
    differences = _differences(frame, value, between, low, high, by, over, spread)
    where = min(differences, key=lambda names: differences[names].mean())
    text = f"smallest gain {_stated(differences[where], spread, paired=True)} ({where})"
    if share < 1:
        good = sum(difference.mean() >= bound for difference in differences.values())
        return good >= share * len(differences), f"{good} of {len(differences)} groups; {text}"
    return _all_beyond(differences, bound, spread, significant), text


@_judges("value")
def close(
    frame: pd.DataFrame,
    *,
    value: str,
    between: str,
    low: object,
    high: object,
    by: Sequence[str],
    tolerance: float,
    spread: Mapping | None = None,
) -> tuple[bool, str]:
    """For each group that has both, ``value`` at ``high`` is close to that at ``low``.

    Means of what is paired along ``spread`` differ by no more than ``tolerance``.
    """
    differences = _differences(frame, value, between, low, high, by, None, spread)
    where = max(differences, key=lambda names: abs(differences[names].mean()))
    largest = differences[where]
    text = f"largest difference {_stated(largest, spread, paired=True)} ({where})"
    return abs(largest.mean()) <= tolerance, text


@_judges("value")
def leads(
    frame: pd.DataFrame,
    *,
    value: str,
    among: str,
    leader: object,
    by: Sequence[str],
    over: str | None = None,
    slack: float = 0.0,
    spread: Mapping | None = None,
    significant: bool = False,
) -> tuple[bool, str]:
    """In each group the mean of ``value`` is largest at ``among`` = ``leader``.

    Or within ``slack`` of the largest. It is compared with each other one where both were measured
    (along ``spread``), with ``over`` as in ``gain``.
    """
    leads_over = {}
    for names, group in _groups(frame, by):
        for other in group[among].unique():
            if other != leader:
                difference = _paired(group, value, among, other, leader, over, _along(spread))
                if difference is not None:
                    leads_over[f"{other}; {names}"] = difference
    if not leads_over:
        raise NotMeasured(f"there is no {leader} beside another")
    where = min(leads_over, key=lambda names: leads_over[names].mean())
    text = f"smallest lead {_stated(leads_over[where], spread, paired=True)} (over {where})"
    return _all_beyond(leads_over, -slack, spread, significant), text


@_judges("value")
def led(
    frame: pd.DataFrame,
    *,
    value: str,
    among: str,
    name: object,
    by: Sequence[str],
    slack: float = 0.0,
    spread: Mapping | None = None,
) -> tuple[bool, str]:
    """In each group another one has a larger mean of ``value`` than ``among`` = ``name``.

    Less ``slack``; compared as in ``leads``.
    """
    behind = {}
    for names, group in _groups(frame, by):
        others = {}
        for other in group[among].unique():
            if other != name:
                difference = _paired(group, value, among, name, other, None, _along(spread))
                if difference is not None:
                    others[other] = difference
        if others:
            best = max(others, key=lambda other: others[other].mean())
            behind[f"by {best}; {names}"] = others[best]
    if not behind:
        raise NotMeasured(f"there is no {name} beside another")
    where = min(behind, key=lambda names: behind[names].mean())
    text = f"smallest lead over it {_stated(behind[where], spread, paired=True)} ({where})"
    return all(difference.mean() > -slack for difference in behind.values()), text


@_judges("value")
def level(
    frame: pd.DataFrame,
    *,
    value: str,
    over: str,
    by: Sequence[str],
    bound: float,
    spread: Mapping | None = None,
) -> tuple[bool, str]:
    """In each group the means of ``value`` along ``over`` differ by no more than ``bound``."""
    ranges = {}
    for names, group in _groups(frame, by):
        table = _table(group, value, _along(spread), over).dropna(axis=1)
        if table.shape[1] < 2:
            raise NotMeasured(f"fewer than two values of {over} ({names})")
        means = table.mean()
        ranges[names] = (table[means.idxmax()] - table[means.idxmin()], means)
    where = max(ranges, key=lambda names: ranges[names][0].mean())
    difference, means = ranges[where]
    text = (
        f"largest difference {_stated(difference, spread, paired=True)}, between {over} "
        f"{means.idxmax()} and {means.idxmin()} ({where})"
    )
    return difference.mean() <= bound, text


@_judges("value")
def scales(
    frame: pd.DataFrame, *, value: str, over: str, by: Sequence[str], low: float, high: float
) -> tuple[bool, str]:
    """The exponent of ``value`` in ``over``, fitted to means, is from ``low`` to ``high``."""
    exponents = {
        names: exponent(curve.index, curve)
        for names, curve in _curves(frame, value, over, by)
        if len(curve) > 1
    }
    if not exponents:
        raise NotMeasured(f"fewer than two values of {over}")
    text = "; ".join(f"{number:.2f} ({names})" for names, number in exponents.items())
    return all(low <= number <= high for number in exponents.values()), f"exponent {text}"


@_judges("value", rows_read=_largest_rows)
def ratio(
    frame: pd.DataFrame,
    *,
    value: str,
    between: str,
    slow: object,
    fast: object,
    bound: float,
    by: Sequence[str] = (),
    at_largest: str | None = None,
) -> tuple[bool, str]:
    """``slow`` takes at least ``bound`` times as much of ``value`` as ``fast``, in each group.

    ``between`` is the column that holds ``slow`` and ``fast``; means over all other columns. With
    ``at_largest``, at the largest value of that column that both have. Where the smallest and
    largest repeats are kept, their quotients are the range that is printed.
    """
    found = {}
    for names, group in _groups(frame, by):
        a, b = (group[group[between] == side] for side in (slow, fast))
        mean_a, mean_b = a[value].mean(), b[value].mean()
        quotient = mean_a / mean_b if mean_a > 0 and mean_b > 0 else np.nan
        text = f"{mean_a:.3g} against {mean_b:.3g}"
        if at_largest:
            text += f" at {at_largest} {group[at_largest].iloc[0]:,.0f}"
        text += f": ratio {quotient:,.3g}{_repeats(a, b, value)}, bound {bound:g}"
        found[names] = quotient, text + (f" ({names})" if names else "")
    where = min(found, key=lambda names: np.nan_to_num(found[names][0], nan=-np.inf))
    return all(quotient >= bound for quotient, _ in found.values()), found[where][1]


def _repeats(a, b, value):
    columns = [f"{value}_low", f"{value}_high"]
    if any(name not in side or side[name].isna().any() for side in (a, b) for name in columns):
        return ""
    (a_low, a_high), (b_low, b_high) = (side[columns].mean() for side in (a, b))
    return f" (repeats {a_low / b_high:,.3g} to {a_high / b_low:,.3g})"


def _means(frame, keys, value):
    """Means by group, or the mean of all as a series of one."""
    if keys:
        return frame.groupby(keys, dropna=False)[value].mean()
    return pd.Series([frame[value].mean()])


def _groups(frame, by):
    """Yield (name, rows); a missing key is a group of its own, never dropped."""
    if not by:
        yield "", frame
        return
    for names, group in frame.groupby(list(by), dropna=False):
        yield _named(by, names), group


def _curves(frame, value, over, by):
    for names, group in _groups(frame, by):
        yield names, _means(group, [over], value)


def _differences(frame, value, between, low, high, by, over, spread):
    """The paired differences of every group that has both sides."""
    differences = {}
    for names, group in _groups(frame, by):
        difference = _paired(group, value, between, low, high, over, _along(spread))
        if difference is not None:
            differences[names] = difference
    if not differences:
        raise NotMeasured(f"no group has both {low} and {high}")
    return differences


def _paired(group, value, between, low, high, over, along):
    """Differences high - low, one for each test set that both have; None where none has."""
    sides = [group[group[between] == side] for side in (low, high)]
    if any(side.empty for side in sides):
        return None
    tables = [_table(side, value, along, over) for side in sides]
    common = tables[0].index.intersection(tables[1].index)
    tables = [table.loc[common].dropna(axis=1) for table in tables]
    if common.empty or any(table.empty for table in tables):
        return None
    columns = [table[table.mean().idxmax()] for table in tables]
    return columns[1] - columns[0]


def _table(rows, value, along, over=None):
    """Means with a row for each test set (one without ``along``) and a column for each ``over``.

    Positions that a test set did not reach are NaN.
    """
    rows = rows.assign(_set=0, _position=0)
    keys = along or ["_set"]
    position = over or "_position"
    return rows.groupby([*keys, position], dropna=False)[value].mean().unstack(position)


def _along(spread):
    return list(spread["over"]) if spread else []


def _half_width(values, spread):
    return half_width(values, spread.get("test_over_train", 0.0)) if spread else np.nan


def _stated(values, spread, paired=False):
    """A mean with its interval; comparisons say so when there is none."""
    mean, half = values.mean(), _half_width(values, spread)
    if np.isfinite(half):
        return (
            f"{mean:.4g} (95 % interval {mean - half:.4g} to {mean + half:.4g}, "
            f"{len(values)} test sets)"
        )
    return f"{mean:.4g}" + (" (one split: no spread)" if spread or paired else "")


def _all_beyond(groups, bound, spread, significant):
    if not significant:
        return all(values.mean() >= bound for values in groups.values())
    if spread is None or any(len(values) < 2 for values in groups.values()):
        raise NotMeasured("one split: no spread, so that chance cannot be told from an advantage")
    return all(values.mean() - _half_width(values, spread) >= bound for values in groups.values())


def _finite(frame, value):
    """The finite values of a column, and a remark on the others."""
    values = frame[value].astype(float)
    values = values[np.isfinite(values)]
    missing = len(frame) - len(values)
    return values, f"; {missing} rows without a number" if missing else ""


def _place(row):
    """Where a row stands: its names, without formulas, printed times and sources."""
    words = [
        word
        for key, word in row.items()
        if isinstance(word, str) and len(word) < 20 and key not in _NO_PLACE
    ]
    return ", ".join(words) or f"row {row.name}"


def _named(by, names):
    names = names if isinstance(names, tuple) else (names,)
    return ", ".join(f"{key} {name}" for key, name in zip(by, names, strict=True))
