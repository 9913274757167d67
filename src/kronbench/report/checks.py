"""Checks that a claim can name: functions of a result table that return what was measured.

Each takes the rows that the claim selects, and the arguments of its entry in
``config/claims.yaml``; it returns ``(holds, measured)``, a bool and a short text.
"""

from __future__ import annotations

import numpy as np


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
    place = ", ".join(str(worst[key]) for key in rows if rows[key].dtype.kind not in "fiub")
    return (
        bool((difference <= tolerance).all()),
        f"largest difference {difference.max():.4g} of {len(rows)} numbers ({place})",
    )


def at_least(frame, *, value, bound):
    """The smallest ``value`` of the selected rows is at least ``bound``."""
    smallest = float(frame[value].min())
    return smallest >= bound, f"smallest {smallest:.4g}, bound {bound:g}"


def at_most(frame, *, value, bound):
    """The largest ``value`` of the selected rows is at most ``bound``."""
    largest = float(frame[value].max())
    return largest <= bound, f"largest {largest:.4g}, bound {bound:g}"


def gain(frame, *, value, between, low, high, by, bound):
    """For each group, the best mean of ``value`` at ``high`` exceeds that at ``low`` by ``bound``.

    ``between`` is the column that holds ``low`` and ``high``.
    """
    means = frame.groupby([*by, between])[value].mean().unstack(between)
    differences = means[high] - means[low]
    return bool((differences >= bound).all()), f"smallest gain {differences.min():.3g}"


def _curves(frame, value, over, by):
    means = frame.groupby([*by, over])[value].mean()
    for names, curve in means.groupby(level=list(range(len(by)))):
        names = names if isinstance(names, tuple) else (names,)
        text = ", ".join(f"{key} {name}" for key, name in zip(by, names, strict=True))
        yield text, curve.droplevel(list(range(len(by))))
