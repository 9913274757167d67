"""Checks that a claim can name: functions of a result table that return what was measured.

Each takes the rows that the claim selects, and the arguments of its entry in
``config/claims.yaml``; it returns ``(holds, measured)``, a bool and a short text, or raises
``NotMeasured``.
"""

from __future__ import annotations

import numpy as np

from kronbench.report.fits import exponent


class NotMeasured(Exception):
    """The rows hold too little for a check; the message says what is missing."""


def decreases(frame, *, value, over, by, tolerance=0.0):
    """``value``, a mean over all columns but ``by`` and ``over``, never rises along ``over``.

    ``tolerance`` is the largest relative rise from one step to the next that counts as level.
    """
    rises = {}
    for names, curve in _curves(frame, value, over, by):
        values = curve.to_numpy()
        rises[names] = np.max(np.diff(values) / np.abs(values[:-1]), initial=-1.0)
    # A mean that is not a number counts as the worst, never as a fall.
    where = max(rises, key=lambda names: np.nan_to_num(rises[names], nan=np.inf))
    return bool(rises[where] <= tolerance), f"largest relative rise {rises[where]:.2g} ({where})"


def peaks_within(frame, *, value, over, by, limit, slack=0.0):
    """The mean of ``value`` comes within ``slack`` of its maximum by ``over`` = ``limit``."""
    positions = {
        names: curve.index[np.argmax(curve.to_numpy() >= curve.max() - slack)]
        for names, curve in _curves(frame, value, over, by)
    }
    where = max(positions, key=positions.get)
    return bool(positions[where] <= limit), f"latest at {over} {positions[where]:g} ({where})"


def within(frame, *, value, target, tolerance):
    """The mean of ``value`` over the selected rows is ``target`` up to ``tolerance``."""
    mean = float(frame[value].mean())
    return abs(mean - target) <= tolerance, f"{mean:.4g} against {target:g} \u00b1 {tolerance:g}"


def agrees(frame, *, tolerance, ours="ours", paper="paper"):
    """Every printed number is met up to ``tolerance``; rows without one do not count."""
    rows = frame.dropna(subset=[paper])
    difference = (rows[ours] - rows[paper]).abs()
    worst = rows.loc[difference.idxmax()]
    words = (worst[key] for key in rows if rows[key].dtype.kind not in "fiub")
    place = ", ".join(word for word in words if isinstance(word, str))
    return (
        bool((difference <= tolerance).all()),
        f"largest difference {difference.max():.4g} of {len(rows)} numbers ({place})",
    )


def at_least(frame, *, value, bound, by=None):
    """The smallest ``value`` of the selected rows, or mean of a group, is at least ``bound``."""
    values = frame.groupby(by)[value].mean() if by else frame[value]
    smallest = float(values.min())
    where = f" ({_named(by, values.idxmin())})" if by else ""
    return smallest >= bound, f"smallest {smallest:.4g}, bound {bound:g}{where}"


def at_most(frame, *, value, bound):
    """The largest ``value`` of the selected rows is at most ``bound``."""
    largest = float(frame[value].max())
    return largest <= bound, f"largest {largest:.4g}, bound {bound:g}"


def reaches(frame, *, value, bound):
    """The largest ``value`` of the selected rows is at least ``bound``."""
    largest = float(frame[value].max())
    return largest >= bound, f"largest {largest:.4g}, bound {bound:g}"


def mostly_at_least(frame, *, value, bound, share):
    """At least the given share of the selected rows has ``value`` of at least ``bound``.

    A row without a value does not have it.
    """
    good = int((frame[value] >= bound).sum())
    return good >= share * len(frame), f"{good} of {len(frame)} rows"


def gain(frame, *, value, between, low, high, by, bound, over=None):
    """For each group that has both, ``value`` at ``high`` exceeds that at ``low`` by ``bound``.

    ``between`` is the column that holds ``low`` and ``high``. Means over all other columns are
    compared; with ``over``, the largest along that column.
    """
    means = frame.groupby([*by, between, *([over] if over else [])])[value].mean()
    if over:
        means = means.groupby([*by, between]).max()
    means = means.unstack(between).reindex(columns=[low, high]).dropna()
    if means.empty:
        raise NotMeasured(f"no group has both {low} and {high}")
    differences = means[high] - means[low]
    where = differences.idxmin()
    return (
        bool((differences >= bound).all()),
        f"smallest gain {differences.min():.3g} ({_named(by, where)})",
    )


def leads(frame, *, value, among, leader, by, slack=0.0):
    """In each group the mean of ``value`` at ``among`` = ``leader`` is the largest, or within
    ``slack`` of it."""
    means = frame.groupby([*by, among])[value].mean().unstack(among)
    if leader not in means:
        raise NotMeasured(f"there is no {leader}")
    lead = means[leader] - means.drop(columns=leader).max(axis=1)
    where = lead.idxmin()
    return (
        bool((lead >= -slack).all()),
        f"smallest lead over the next {lead.min():.3g} ({_named(by, where)})",
    )


def scales(frame, *, value, over, by, low, high):
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


def ratio_at_largest(frame, *, value, over, between, slow, fast, bound):
    """At the largest ``over`` that both have, ``slow`` takes ``bound`` times as much as ``fast``.

    ``between`` is the column that holds ``slow`` and ``fast``; means over all other columns.
    """
    means = frame.groupby([over, between])[value].mean().unstack(between)
    means = means.reindex(columns=[slow, fast]).dropna()
    if means.empty:
        raise NotMeasured(f"no {over} has both {slow} and {fast}")
    largest = means.index.max()
    a, b = means.loc[largest]
    return (
        bool(a >= bound * b),
        f"{a:.3g} against {b:.3g} at {over} {largest:,.0f}: ratio {a / b:,.0f}, bound {bound:g}",
    )


def _curves(frame, value, over, by):
    means = frame.groupby([*by, over])[value].mean()
    for names, curve in means.groupby(level=list(range(len(by)))):
        yield _named(by, names), curve.droplevel(list(range(len(by))))


def _named(by, names):
    names = names if isinstance(names, tuple) else (names,)
    return ", ".join(f"{key} {name}" for key, name in zip(by, names, strict=True))
