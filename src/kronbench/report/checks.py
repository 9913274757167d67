"""Checks that a claim can name: numbers of a result table against bounds and printed ones.

Those that compare rows with each other are in ``comparisons``.

A check takes the rows that the claim selects, and the arguments of its entry in
``claims/``; it returns an ``Outcome``, or raises ``NotMeasured``. What all have in common:

- No rows, or rows without a part of what the claim names: ``NotMeasured``, "not tested".
- A number that is not finite never holds: a check that reads one is contradicted and says where
  it stands. Only ``reaches`` and ``mostly_at_least`` accept a missing value: its row misses the
  bound.
- ``spread: {over: [fold], test_over_train: 0.25}`` names the columns that tell test sets apart,
  ``spread: {over: [draw]}`` those of independent repeats. Differences are paired along them, and
  the whole 95 % interval of ``intervals.half_width`` decides: wholly on the claimed side the
  claim holds, wholly on the other it is contradicted, else it is undecided, as with a single
  split. Without ``spread`` there is no chance in the numbers, and they decide by themselves.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from kronbench.intervals import interval_factor, repeats_needed
from kronbench.report.estimates import exponent
from kronbench.report.groups import by_repeat, groups, stated, without
from kronbench.report.outcomes import Margin, NotMeasured, Outcome, judges, number, outcome, place


def _printed_rows(frame, *, paper="paper", **arguments):
    rows = frame.dropna(subset=[paper])
    if rows.empty:
        raise NotMeasured("nothing is printed for these rows")
    return rows


def _largest_rows(frame, *, between, slow, fast, by=(), at_largest=None, **arguments):
    """The rows of both sides in each group; at the largest common ``at_largest``."""
    found = []
    for name, group in groups(frame, by):
        sides = {side: group[group[between] == side] for side in (slow, fast)}
        if at_largest:
            common = set.intersection(*(set(rows[at_largest]) for rows in sides.values()))
            if not common:
                raise NotMeasured(f"no {at_largest} has both {slow} and {fast}")
            sides = {side: rows[rows[at_largest] == max(common)] for side, rows in sides.items()}
        if lacking := [side for side, rows in sides.items() if rows.empty]:
            raise without(lacking, name)
        found += sides.values()
    return pd.concat(found)


@judges("value")
def within(
    frame: pd.DataFrame,
    *,
    value: str,
    target: float,
    tolerance: float,
    spread: Mapping | None = None,
) -> Outcome:
    """The mean of ``value`` over the selected rows is ``target`` up to ``tolerance``."""
    values = by_repeat(frame, value, spread)
    margin = Margin.of(values, tolerance - abs(values.mean() - target), spread)
    return outcome(
        {"": margin}, {"": f"{stated(values, spread)} against {target:g} \u00b1 {tolerance:g}"}
    )


@judges("ours", rows_read=_printed_rows)
def agrees(
    frame: pd.DataFrame,
    *,
    tolerance: float,
    ours: str = "ours",
    paper: str = "paper",
    interval: str | None = None,
    repeats: str | None = None,
    test_over_train: float = 0.0,
    printed_repeats: int | None = None,
) -> Outcome:
    """Every printed number is met up to ``tolerance``; rows without one do not count.

    ``interval`` names the column with half the width of the 95 % interval of ours, ``repeats``
    that with the number of repeats behind it, ``test_over_train`` is that of the interval.
    ``printed_repeats`` says of how many such repeats the printed numbers are means: one is
    contradicted only where it lies beyond the tolerance of what so many more repeats may give,
    the prediction interval t s sqrt(1/k + 1/``printed_repeats``).
    """
    margins, texts, rows = {}, {}, {}
    for label, row in frame.iterrows():
        rows[label] = pd.Index([label])
        difference = abs(row[ours] - row[paper])
        half = row[interval] if interval else 0.0
        margin = _margin_of_row(
            tolerance - difference,
            half,
            row[repeats] if repeats else np.nan,
            test_over_train,
            1 / printed_repeats if printed_repeats else 0.0,
        )
        margins[label] = margin
        known = f" \u00b1 {half:.2g}" if np.isfinite(half) else " (one split: no spread)"
        if printed_repeats and np.isfinite(half):
            known += f", or {margin.high - margin.middle:.2g} with the chance of the printed ones,"
        texts[label] = (
            f"largest difference {difference:.4g}{known if interval else ''} of {len(frame)} "
            f"numbers ({place(row)})"
        )
    return outcome(margins, texts, rows=rows)


def _margin_of_row(distance, half, count, test_over_train, of_printed):
    if half == 0:
        return Margin(distance, distance, distance)
    if np.isnan(half):
        return Margin(distance, -np.inf, np.inf)
    if not count >= 2:
        return Margin(distance, distance - half, distance + half)
    deviation = half / interval_factor(int(count), test_over_train)
    predicted = deviation * interval_factor(int(count), test_over_train + of_printed)
    correction = test_over_train + (of_printed if distance < 0 else 0)
    needed = repeats_needed(deviation, distance, correction)
    return Margin(distance, distance - half, distance + predicted, needed)


@judges("value")
def vanishes(frame: pd.DataFrame, *, value: str, tolerance: float) -> Outcome:
    """No selected row has a ``value`` of a size above ``tolerance``."""
    sizes = frame[value].abs()
    where = place(frame.loc[sizes.idxmax()])
    text = f"largest {sizes.max():.2g}, bound {tolerance:g} ({where})"
    return number(sizes.max() <= tolerance, text)


@judges("value")
def nowhere_vanishes(frame: pd.DataFrame, *, value: str, tolerance: float) -> Outcome:
    """Every selected row has a ``value`` of a size of at least ``tolerance``."""
    sizes = frame[value].abs()
    where = place(frame.loc[sizes.idxmin()])
    text = f"smallest {sizes.min():.2g}, bound {tolerance:g} ({where})"
    return number(sizes.min() >= tolerance, text)


@judges("value")
def at_least(
    frame: pd.DataFrame,
    *,
    value: str,
    bound: float,
    by: Sequence[str] | None = None,
    spread: Mapping | None = None,
) -> Outcome:
    """The smallest ``value`` of the selected rows, or mean of a group, is at least ``bound``."""
    return _bounded(frame, value, bound, by, spread, 1, "smallest")


@judges("value")
def at_most(
    frame: pd.DataFrame,
    *,
    value: str,
    bound: float,
    by: Sequence[str] | None = None,
    spread: Mapping | None = None,
) -> Outcome:
    """The largest ``value`` of the selected rows, or mean of a group, is at most ``bound``."""
    return _bounded(frame, value, bound, by, spread, -1, "largest")


def _bounded(frame, value, bound, by, spread, sign, extreme):
    if by is None and spread is None:
        most = float((sign * frame[value]).min()) * sign
        return number(sign * (most - bound) >= 0, f"{extreme} {most:.4g}, bound {bound:g}")
    margins, texts, rows = {}, {}, {}
    for name, group in groups(frame, by or ()):
        rows[name] = group.index
        values = by_repeat(group, value, spread)
        margins[name] = Margin.of(values, sign * (values.mean() - bound), spread)
        texts[name] = f"{extreme} {stated(values, spread)}, bound {bound:g}" + (
            f" ({name})" if name else ""
        )
    return outcome(margins, texts, rows=rows)


@judges("value", finite=False)
def reaches(frame: pd.DataFrame, *, value: str, bound: float) -> Outcome:
    """Some selected row has a finite ``value`` of at least ``bound``."""
    values, text = _finite(frame, value)
    largest = float(values.max())
    return number(largest >= bound, f"largest {largest:.4g}, bound {bound:g}{text}")


@judges("value", finite=False)
def mostly_at_least(frame: pd.DataFrame, *, value: str, bound: float, share: float) -> Outcome:
    """At least the given share of the selected rows has a finite ``value`` of at least ``bound``.

    A row without a value does not have it.
    """
    values, text = _finite(frame, value)
    good = int((values >= bound).sum())
    return number(good >= share * len(frame), f"{good} of {len(frame)} rows{text}")


def _finite(frame, value):
    """The finite values of a column, and a remark on the others."""
    values = frame[value].astype(float)
    values = values[np.isfinite(values)]
    missing = len(frame) - len(values)
    return values, f"; {missing} rows without a number" if missing else ""


@judges("value")
def scales(
    frame: pd.DataFrame, *, value: str, over: str, by: Sequence[str], low: float, high: float
) -> Outcome:
    """The exponent of ``value`` in ``over``, fitted to means, is from ``low`` to ``high``.

    Where there are three sizes or more, the exponents between neighbours are told beside it.
    """
    exponents, texts = {}, []
    for name, group in groups(frame, by):
        curve = group.groupby(over)[value].mean()
        if len(curve) < 2:
            raise NotMeasured(f"fewer than two values of {over}" + (f" ({name})" if name else ""))
        exponents[name] = exponent(curve.index, curve)
        text = f"{exponents[name]:.2f}"
        if len(curve) > 2:
            steps = [
                exponent(curve.index[i : i + 2], curve[i : i + 2]) for i in range(len(curve) - 1)
            ]
            text += f", between neighbours {min(steps):.2f} to {max(steps):.2f}"
        texts.append(f"{text} ({name})" if name else text)
    holds = all(low <= found <= high for found in exponents.values())
    return number(holds, "exponent " + "; ".join(texts))


@judges("value", rows_read=_largest_rows)
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
) -> Outcome:
    """``slow`` takes at least ``bound`` times as much of ``value`` as ``fast``, in each group.

    ``between`` is the column that holds ``slow`` and ``fast``; means over all other columns. With
    ``at_largest``, at the largest value of that column that both have. Where the smallest and
    largest repeats are kept, their quotients are the range that decides.
    """
    margins, texts, rows = {}, {}, {}
    for name, group in groups(frame, by):
        rows[name] = group.index
        a, b = (group[group[between] == side] for side in (slow, fast))
        mean_a, mean_b = a[value].mean(), b[value].mean()
        quotient = mean_a / mean_b if mean_a > 0 and mean_b > 0 else np.nan
        known = (quotient, *(_quotients(a, b, value) or ()))
        low, high = min(known), max(known)
        margins[name] = Margin(quotient - bound, low - bound, high - bound)
        text = f"{slow} {mean_a:.3g}, {fast} {mean_b:.3g}"
        if at_largest:
            text += f" at {at_largest} {group[at_largest].iloc[0]:,.0f}"
        text += f": ratio {quotient:,.3g}"
        if low != high:
            text += f" (repeats {low:,.3g} to {high:,.3g})"
        texts[name] = f"{text}, bound {bound:g}" + (f" ({name})" if name else "")
    # a range of repeats is no interval that chance misses at a known rate
    return dataclasses.replace(outcome(margins, texts, rows=rows), intervals=0)


def _quotients(a, b, value):
    """The smallest and largest quotient of repeats; None where they were not kept."""
    columns = [f"{value}_low", f"{value}_high"]
    if any(name not in side or side[name].isna().any() for side in (a, b) for name in columns):
        return None
    (a_low, a_high), (b_low, b_high) = (side[columns].mean() for side in (a, b))
    return (a_low / b_high, a_high / b_low) if min(a_low, b_low) > 0 else None
