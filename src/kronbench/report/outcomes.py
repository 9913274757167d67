"""Whether a claim holds, is undecided or contradicted: margins with their intervals.

A margin is how far a measured mean lies on the side that the claim says: below zero it is on the
other. Where folds, splits or repeats vary it has an interval, and the whole interval decides;
without chance the number decides.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from kronbench.intervals import half_width, repeats_needed
from kronbench.reference.verdicts import CONTRADICTED, HOLDS, UNDECIDED


class NotMeasured(Exception):
    """The rows hold too little for a check; the message says what is missing."""


@dataclass(frozen=True)
class Outcome:
    """What a check found.

    Attributes
    ----------
    verdict : {"holds", "undecided", "contradicted"}
    measured : str
    intervals : int
        The intervals that it rests on, of which each may miss the truth by chance; 0 where there
        is no chance in the numbers.
    deciding : Index or None
        The labels of the rows that decide, where they are not all that were read.
    """

    verdict: str
    measured: str
    intervals: int = 0
    deciding: pd.Index | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Margin:
    """How far a mean lies on the claimed side, from ``low`` to ``high``.

    ``needed`` is the number of repeats of which the interval would be on one side, at the same
    mean and scatter: infinite where no number would do, NaN where it cannot be told. A margin
    without interval has ``low`` = ``middle`` = ``high``; one of a single repeat reaches from
    minus to plus infinity.
    """

    middle: float
    low: float
    high: float
    needed: float = np.nan

    @property
    def verdict(self) -> str:
        """The side on which the whole interval is; a margin of zero is on the claimed one."""
        if np.isnan(self.middle):  # a number that is none is on no side, and never holds
            return CONTRADICTED
        if self.low >= 0:
            return HOLDS
        return UNDECIDED if self.high >= 0 else CONTRADICTED

    @property
    def has_interval(self) -> bool:
        """Whether there is chance in it."""
        return self.low != self.high

    @classmethod
    def of(cls, values: pd.Series, distance: float, spread: Mapping | None) -> Margin:
        """The margin ``distance`` of a mean, with the interval of the ``values`` averaged.

        Parameters
        ----------
        values : Series
            What was averaged: one number for each repeat.
        distance : float
            How far the mean lies on the claimed side.
        spread : mapping or None
            With ``test_over_train``, as for ``half_width``; None: there is no chance in it.
        """
        if spread is None:
            return cls(distance, distance, distance)
        if len(values) < 2:
            return cls(distance, -np.inf, np.inf)
        correction = spread.get("test_over_train", 0.0)
        half = half_width(values, correction)
        needed = repeats_needed(float(values.std(ddof=1)), distance, correction)
        return cls(distance, distance - half, distance + half, needed)


def decided(margins: Mapping[str, Margin], share: float = 1.0) -> tuple[str, str]:
    """Verdict of a claim on several groups, and the group that decides it.

    It holds where at least ``share`` of the groups hold, and is contradicted where so many cannot
    any more; the group is that with the smallest margin among those of the verdict.
    """
    sides = {name: margin.verdict for name, margin in margins.items()}
    holding = sum(side == HOLDS for side in sides.values())
    open_ones = sum(side == UNDECIDED for side in sides.values())
    if holding >= share * len(margins):
        verdict = HOLDS
    elif holding + open_ones < share * len(margins):
        verdict = CONTRADICTED
    else:
        verdict = UNDECIDED
    among = [name for name, side in sides.items() if side == verdict] or list(margins)
    return verdict, min(among, key=lambda name: np.nan_to_num(margins[name].middle, nan=-np.inf))


def outcome(
    margins: Mapping[str, Margin],
    texts: Mapping[str, str],
    share: float = 1.0,
    rows: Mapping[str, pd.Index] | None = None,
) -> Outcome:
    """The outcome of a claim on several groups, with text and rows of the one that decides it."""
    verdict, where = decided(margins, share)
    text = texts[where]
    if share < 1:
        good = sum(margin.verdict == HOLDS for margin in margins.values())
        text = f"{good} of {len(margins)} groups; {text}"
    if verdict == UNDECIDED:
        undecided = [margin for margin in margins.values() if margin.verdict == UNDECIDED]
        text += f"; {_needed(undecided)}"
    n_intervals = sum(margin.has_interval for margin in margins.values())
    return Outcome(verdict, text, n_intervals, None if rows is None else rows[where])


def number(holds: bool, measured: str) -> Outcome:
    """The outcome of a check on a number without chance."""
    return Outcome(HOLDS if holds else CONTRADICTED, measured)


def _needed(undecided):
    """How many repeats would decide them all."""
    if any(np.isinf(margin.high) for margin in undecided):
        return "a second split would tell its chance"
    if any(np.isnan(margin.needed) for margin in undecided):
        return "its repeats reach to both sides"
    needed = max(margin.needed for margin in undecided)
    if np.isinf(needed):
        return "no number of repeats of such splits would decide it"
    return f"about {needed:,.0f} repeats would decide it"


def judges(
    column: str,
    rows_read: Callable[..., pd.DataFrame] = lambda frame, **arguments: frame,
    finite: bool = True,
) -> Callable:
    """Make a check refuse empty selections and, with ``finite``, numbers that are not finite.

    ``column`` is the argument that names the column of numbers; ``rows_read`` narrows the selected
    rows to those that the verdict rests on.
    """

    def decorate(check: Callable[..., Outcome]) -> Callable[..., Outcome]:
        @functools.wraps(check)
        def judged(frame: pd.DataFrame, **arguments: object) -> Outcome:
            if frame.empty:
                raise NotMeasured("no such rows")
            frame = rows_read(frame, **arguments)
            values = frame[arguments.get(column, column)].astype(float)
            bad = ~np.isfinite(values)
            if finite and bad.any():
                where = place(frame[bad].iloc[0])
                return number(False, f"{bad.sum()} of {len(values)} numbers not finite ({where})")
            return check(frame, **arguments)

        judged.rows_read = rows_read
        return judged

    return decorate


_NO_PLACE = {"source", "paper took", "beyond", "chosen", "O()", "L"}


def place(row: pd.Series) -> str:
    """Where a row stands: its names, without formulas, printed times and sources."""
    words = [
        word
        for key, word in row.items()
        if isinstance(word, str) and len(word) < 20 and key not in _NO_PLACE
    ]
    return ", ".join(words) or f"row {row.name}"
