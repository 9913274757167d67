"""Checks that compare rows with each other: curves, two methods, one among many.

Differences are paired along the repeats of ``spread``; what all checks have in common is said in
``checks``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from kronbench.reference.verdicts import HOLDS
from kronbench.report.groups import differences, groups, paired, stated, table, without
from kronbench.report.outcomes import Margin, NotMeasured, Outcome, judges, outcome


@judges("value")
def decreases(
    frame: pd.DataFrame,
    *,
    value: str,
    over: str,
    by: Sequence[str],
    tolerance: float = 0.0,
    spread: Mapping | None = None,
) -> Outcome:
    """``value``, a mean over all columns but ``by`` and ``over``, never rises along ``over``.

    ``tolerance`` is the largest relative rise from one step to the next that counts as level.
    """
    margins, texts = {}, {}
    for name, curve in _curves(frame, value, over, by, spread):
        for before, after in zip(curve.columns, curve.columns[1:], strict=False):
            rise, size = curve[after] - curve[before], abs(curve[before].mean())
            step = f"{name}; {over} {before} to {after}"
            # A rise from zero has no relative size: it counts as the worst.
            relative = rise / size if size else rise.where(rise == 0, rise * np.inf)
            margins[step] = Margin.of(relative, tolerance - relative.mean(), spread)
            texts[step] = f"largest relative rise {stated(relative, spread)} ({name})"
    return outcome(margins, texts)


@judges("value")
def peaks_within(
    frame: pd.DataFrame,
    *,
    value: str,
    over: str,
    by: Sequence[str],
    limit: float,
    slack: float = 0.0,
    spread: Mapping | None = None,
) -> Outcome:
    """After ``over`` = ``limit`` the mean of ``value`` rises by no more than ``slack``.

    The best mean after ``limit`` is compared with the best up to it, paired along ``spread``.
    """
    margins, texts = {}, {}
    for name, group in groups(frame, by):
        curve = table(group, value, spread, over).dropna(axis=1)
        means = curve.mean()
        early, late = means[means.index <= limit], means[means.index > limit]
        if early.empty:
            raise NotMeasured(f"nothing was measured up to {over} {limit:g} ({name})")
        if late.empty:
            raise NotMeasured(f"the curve ends at {over} {means.index.max():g} ({name})")
        gained = curve[late.idxmax()] - curve[early.idxmax()]
        margins[name] = Margin.of(gained, slack - gained.mean(), spread)
        texts[name] = (
            f"best at {over} {means.idxmax():g}; after {limit:g} better than up to it by "
            f"{stated(gained, spread)} ({name})"
        )
    return outcome(margins, texts)


@judges("value")
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
    share: float = 1.0,
) -> Outcome:
    """In each group ``value`` at ``high`` exceeds that at ``low`` by ``bound``.

    ``between`` is the column that holds ``low`` and ``high``. Differences are paired along
    ``spread`` and averaged; with ``over``, each side stands at the position along that column
    where its own mean is largest. ``share`` is the share of the groups of which it must be true.
    """
    margins, texts = {}, {}
    found = differences(frame, value, between, low, high, by, over, spread)
    for name, gained in found.items():
        margins[name] = Margin.of(gained, gained.mean() - bound, spread)
        texts[name] = f"smallest gain {stated(gained, spread)} ({name})"
    return outcome(margins, texts, share, _rows_of(frame, between, (low, high), by))


@judges("value")
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
) -> Outcome:
    """In each group ``value`` at ``high`` is close to that at ``low``.

    Means of what is paired along ``spread`` differ by no more than ``tolerance``.
    """
    margins, texts = {}, {}
    found = differences(frame, value, between, low, high, by, None, spread)
    for name, apart in found.items():
        margins[name] = Margin.of(apart, tolerance - abs(apart.mean()), spread)
        texts[name] = f"largest difference {stated(apart, spread)} ({name})"
    return outcome(margins, texts, rows=_rows_of(frame, between, (low, high), by))


@judges("value")
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
) -> Outcome:
    """In each group the mean of ``value`` is largest at ``among`` = ``leader``.

    Or within ``slack`` of the largest. It is compared with each other one that the rows have, in
    every group (along ``spread``), with ``over`` as in ``gain``.
    """
    margins, texts, rows = {}, {}, {}
    others = [other for other in frame[among].unique() if other != leader]
    if not others:
        raise NotMeasured(f"there is no other beside {leader}")
    for name, group in groups(frame, by):
        for other in others:
            lead = paired(group, value, among, other, leader, over, spread)
            if lead is None:
                raise without([leader if leader not in set(group[among]) else other], name)
            margins[other, name] = Margin.of(lead, lead.mean() + slack, spread)
            texts[other, name] = f"smallest lead {stated(lead, spread)} (over {other}; {name})"
            rows[other, name] = group.index[group[among].isin([leader, other])]
    return outcome(margins, texts, rows=rows)


@judges("value")
def led(
    frame: pd.DataFrame,
    *,
    value: str,
    among: str,
    name: object,
    by: Sequence[str],
    slack: float = 0.0,
    spread: Mapping | None = None,
) -> Outcome:
    """In each group another one has a larger mean of ``value`` than ``among`` = ``name``.

    Less ``slack``. The one with the largest mean lead is compared, paired as in ``leads``; where
    none of those that a group has is ahead, it may not lack one that other groups have.
    """
    margins, texts, lacking, rows = {}, {}, {}, {}
    others = [other for other in frame[among].unique() if other != name]
    if not others:
        raise NotMeasured(f"there is no other beside {name}")
    for where, group in groups(frame, by):
        if name not in set(group[among]):
            raise without([name], where)
        leads_over = {
            other: paired(group, value, among, name, other, None, spread) for other in others
        }
        lacking[where] = [other for other, lead in leads_over.items() if lead is None]
        known = {other: lead for other, lead in leads_over.items() if lead is not None}
        if not known:
            raise without(others, where)
        best = max(known, key=lambda other: known[other].mean())
        margins[where] = Margin.of(known[best], known[best].mean() + slack, spread)
        texts[where] = f"smallest lead over it {stated(known[best], spread)} (by {best}; {where})"
        rows[where] = group.index[group[among].isin([name, best])]
    for where, margin in margins.items():
        if margin.verdict != HOLDS and lacking[where]:
            raise without(lacking[where], where)
    return outcome(margins, texts, rows=rows)


@judges("value")
def level(
    frame: pd.DataFrame,
    *,
    value: str,
    over: str,
    by: Sequence[str],
    bound: float,
    spread: Mapping | None = None,
) -> Outcome:
    """In each group the means of ``value`` along ``over`` differ by no more than ``bound``."""
    margins, texts = {}, {}
    for name, curve in _curves(frame, value, over, by, spread):
        means = curve.mean()
        apart = curve[means.idxmax()] - curve[means.idxmin()]
        margins[name] = Margin.of(apart, bound - apart.mean(), spread)
        texts[name] = (
            f"largest difference {stated(apart, spread)}, between {over} "
            f"{means.idxmax()} and {means.idxmin()} ({name})"
        )
    return outcome(margins, texts)


def _rows_of(frame, between, sides, by):
    """Of each group the labels of the rows of two sides."""
    return {name: group.index[group[between].isin(sides)] for name, group in groups(frame, by)}


def _curves(frame, value, over, by, spread):
    """Yield (name, table of the positions that all repeats have), of at least two positions."""
    for name, group in groups(frame, by):
        curve = table(group, value, spread, over).dropna(axis=1)
        if curve.shape[1] < 2:
            raise NotMeasured(f"fewer than two values of {over} ({name})")
        yield name, curve
