"""Whether a claim holds, is undecided or contradicted: margins with their intervals.

A margin is how far a measured mean lies on the claimed side; below zero it lies on the other.
Where folds, splits or repeats vary, the whole interval decides; without chance the number does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kronbench.intervals import half_width, repeats_needed
from kronbench.reference.verdicts import CONTRADICTED, HOLDS, UNDECIDED


class NotMeasured(Exception):
    """The rows hold too little for a check; the message says what is missing."""


@dataclass(frozen=True)
class Margin:
    """How far a mean lies on the claimed side, from ``low`` to ``high``.

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
        """The side of the whole interval; a margin of exactly zero holds, NaN never does."""
        if np.isnan(self.middle):
            return CONTRADICTED
        if self.low >= 0:
            return HOLDS
        return UNDECIDED if self.high >= 0 else CONTRADICTED

    @classmethod
    def exact(cls, distance: float) -> Margin:
        """The margin of a number without chance."""
        return cls(distance, distance, distance)

    @classmethod
    def of(cls, values: pd.Series, distance: float, spread: Mapping | None) -> Margin:
        """The margin of a mean of ``values``, one for each repeat along ``spread``."""
        if spread is None:
            return cls.exact(distance)
        if len(values) < 2:
            return cls(distance, -np.inf, np.inf)
        width = {name: spread[name] for name in ("test_over_train", "level") if name in spread}
        half = half_width(values, **width)
        needed = repeats_needed(float(values.std(ddof=1)), distance, **width)
        miss = (1 - spread.get("level", 0.95)) / 2
        return cls(distance, distance - half, distance + half, needed, miss)


@dataclass(frozen=True)
class Finding:
    """What a check finds in one group: a margin, what is said of it, and its rows (None: all)."""

    margin: Margin
    text: str
    rows: pd.Index | None = None


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


def outcome(findings: Sequence[Finding], share: float = 1.0, unit: str = "groups") -> Outcome:
    """The outcome over several groups, of which at least ``share`` must hold.

    It is contradicted as soon as so many cannot hold any more. The group with the smallest margin
    among those of the verdict is told.
    """
    sides = Counter(finding.margin.verdict for finding in findings)
    wanted = share * len(findings)
    if sides[HOLDS] >= wanted:
        verdict = HOLDS
    elif sides[HOLDS] + sides[UNDECIDED] < wanted:
        verdict = CONTRADICTED
    else:
        verdict = UNDECIDED
    among = [finding for finding in findings if finding.margin.verdict == verdict] or findings
    told = min(among, key=lambda finding: np.nan_to_num(finding.margin.middle, nan=-np.inf))
    text = told.text
    if share < 1:
        text = f"{sides[HOLDS]} of {len(findings)} {unit}" + (f"; {text}" if text else "")
    if verdict == UNDECIDED:
        undecided = [one.margin for one in findings if one.margin.verdict == UNDECIDED]
        text += _needed(undecided)
    return Outcome(verdict, text, _chance(findings, share), told.rows)


def _chance(findings, share):
    """How often chance contradicts: all share one level, or too many for a share must miss."""
    # scipy.stats.binom.sf is this function; see kronbench.intervals
    from scipy.special import bdtrc

    misses = [finding.margin.miss for finding in findings if finding.margin.miss]
    if share == 1 or not misses:
        return max(misses, default=0.0)
    spare = len(findings) - math.ceil(share * len(findings))
    return float(bdtrc(spare, len(misses), max(misses))) if len(misses) > spare else 0.0


def _needed(undecided):
    """How many repeats would decide them all."""
    if any(np.isinf(margin.high) for margin in undecided):
        return "; a second split would tell its chance"
    if any(np.isnan(margin.needed) for margin in undecided):
        return ""
    needed = max(margin.needed for margin in undecided)
    if np.isinf(needed):
        return "; no number of repeats of such splits would decide it"
    return f"; about {needed:,.0f} repeats would decide it"
