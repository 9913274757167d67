"""From the rows of a table to an outcome: groups, paired repeats, slacks with their intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kronbench.intervals import half_width, repeats_needed
from kronbench_suite.report.verdicts import CONTRADICTED, HOLDS, UNDECIDED

# What a spread says of the width of an interval, as arguments of half_width.
_WIDTH = ("test_over_train", "level", "degrees")


class NotMeasured(Exception):
    """The rows hold too little for a check; the message says what is missing."""


def without(what: Sequence, name: str = "") -> NotMeasured:
    """The reason of a claim that names what the rows, or those of a group, do not have."""
    return NotMeasured(f"without {', '.join(map(str, what))}" + (f" ({name})" if name else ""))


@dataclass(frozen=True)
class Slack:
    """How far a mean lies on the claimed side, from ``low`` to ``high``; below zero on the other.

    ``needed`` repeats would bring the interval to one side at the same mean and scatter: infinite
    where no number would do, NaN where it is unknown. ``miss`` is the chance with which what is
    true, at the edge, is contradicted. A single repeat reaches from minus to plus infinity.
    """

    middle: float
    low: float
    high: float
    needed: float = np.nan
    miss: float = 0.0

    @property
    def verdict(self) -> str:
        """The side of the whole interval; a slack of exactly zero holds, NaN never does."""
        if np.isnan(self.middle):
            return CONTRADICTED
        if self.low >= 0:
            return HOLDS
        return UNDECIDED if self.high >= 0 else CONTRADICTED

    @classmethod
    def exact(cls, distance: float) -> Slack:
        """The slack of a number without chance."""
        return cls(distance, distance, distance)

    @classmethod
    def of(cls, values: pd.Series, distance: float, spread: Mapping | None) -> Slack:
        """The slack of a mean of ``values``, one for each repeat along ``spread``."""
        if spread is None:
            return cls.exact(distance)
        if len(values) < 2:
            return cls(distance, -np.inf, np.inf)
        width = {name: spread[name] for name in _WIDTH if name in spread}
        half = half_width(values, **width)
        needed = repeats_needed(float(values.std(ddof=1)), distance, **width)
        miss = (1 - spread.get("level", 0.95)) / 2
        return cls(distance, distance - half, distance + half, needed, miss)


@dataclass(frozen=True)
class Outcome:
    """What became of a check.

    ``chance`` is that with which it would be contradicted if it were true, but at the edge.
    ``deciding`` labels the rows that decide, where these are not all that were read.
    """

    verdict: str
    measured: str
    chance: float = 0.0
    deciding: pd.Index | None = None


def outcome(
    findings: Sequence[tuple[Slack, str, pd.Index | None]],
    share: float = 1.0,
    unit: str = "groups",
) -> Outcome:
    """The outcome over several groups, of which at least ``share`` must hold.

    A finding is the slack of a group, what is said of it, and its rows (None: all). It is
    contradicted as soon as so many cannot hold any more. The group with the smallest slack
    among those of the verdict is told, and how many repeats would decide all.
    """
    # scipy.stats.binom.sf is this function; see kronbench.intervals
    from scipy.special import bdtrc

    # So many groups hold, may hold, and cannot hold any more.
    slacks = [slack for slack, _, _ in findings]
    sides = Counter(slack.verdict for slack in slacks)
    wanted = share * len(findings)
    verdict = HOLDS if sides[HOLDS] >= wanted else UNDECIDED
    if sides[HOLDS] + sides[UNDECIDED] < wanted:
        verdict = CONTRADICTED
    # Told is the group that is nearest to another verdict, or furthest on the wrong side.
    candidates = [finding for finding in findings if finding[0].verdict == verdict] or findings
    _, text, rows = min(candidates, key=lambda one: np.nan_to_num(one[0].middle, nan=-np.inf))
    if share < 1:
        text = f"{sides[HOLDS]} of {len(findings)} {unit}" + (f"; {text}" if text else "")
    # The number of repeats that would decide the last of the undecided groups.
    if verdict == UNDECIDED:
        undecided = [slack for slack in slacks if slack.verdict == UNDECIDED]
        needed = np.max([slack.needed for slack in undecided])
        if any(np.isinf(slack.high) for slack in undecided):
            text += "; a second split would tell its chance"
        elif np.isinf(needed):
            text += "; no number of repeats of such splits would decide it"
            text += ": repetitions of the protocol would, for these data"
        elif not np.isnan(needed):
            text += f"; about {needed:,.0f} repeats would decide it"

    # All groups share one level; a claim on a share of them is contradicted where too many miss.
    misses = [slack.miss for slack in slacks if slack.miss]
    chance = max(misses, default=0.0)
    if share < 1 and misses:
        spare = len(findings) - math.ceil(share * len(findings))
        chance = float(bdtrc(spare, len(misses), chance)) if len(misses) > spare else 0.0
    return Outcome(verdict, text, chance, rows)


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
    # The repeats that both sides have, and of each side the positions that all of these reached.
    tables = [table(side, value, spread, over) for side in sides]
    common = tables[0].index.intersection(tables[1].index)
    tables = [side.loc[common].dropna(axis=1) for side in tables]
    if common.empty or any(side.empty for side in tables):
        return None
    # Each side at its own best position.
    columns = [side[side.mean().idxmax()] for side in tables]
    return columns[1] - columns[0]


def differences(
    frame, value, between, low, high, by, over, spread
) -> Iterator[tuple[str, pd.Series, pd.Index]]:
    """Yield (name, paired differences high - low, rows) of every group, which has both sides."""
    for name, group in groups(frame, by):
        gained = paired(group, value, between, low, high, over, spread)
        if gained is None:
            sides = group[between].unique()
            lacking = [side for side in (low, high) if side not in sides]
            raise without(lacking or [f"{low} and {high} on the same repeats"], name)
        yield name, gained, group.index[group[between].isin([low, high])]


def stated(values: pd.Series, spread: Mapping | None) -> str:
    """A mean with its interval; what should have one and has not says so."""
    mean = values.mean()
    if spread is None:
        return f"{mean:.4g}"
    level = spread.get("level", 0.95)
    half = half_width(values, **{name: spread[name] for name in _WIDTH if name in spread})
    if np.isnan(half):
        return f"{mean:.4g} (one split: no spread)"
    names = spread["over"]
    plain = len(names) == 1 and "_" not in names[0]
    counted = f"{names[0]}s" if plain else "repeats"
    interval = f"{mean - half:.4g} to {mean + half:.4g}"
    return f"{mean:.4g} ({100 * level:.4g} % interval {interval}, {len(values)} {counted})"
