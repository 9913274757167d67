"""Checks that a claim can name: numbers against bounds and printed ones, and against each other.

A check takes the rows that the claim selects and the arguments of its entry in ``claims/``. It
yields a finding for each group (its slack, what is said of it, its rows), and ``register_check``
makes one ``Outcome`` of them; docs/verdicts.md says how groups decide. All have in common:

- ``value``, ``over``, ``between`` and ``among`` name columns, ``by`` lists those of the groups;
  ``low``, ``high``, ``slow``, ``fast``, ``leader`` and ``name`` are entries of such a column.
- No rows, or rows without a part of what the claim names: ``NotMeasured``, "not tested".
- Only ``mostly_at_least`` accepts a missing value: its row misses the bound.
- ``spread: {over: [split], test_over_train: 0.5}`` names the columns that tell test sets apart,
  ``spread: {over: [repetition]}`` those of independent repeats. Differences are paired along them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pandas as pd

from kronbench.intervals import interval_factor, repeats_needed
from kronbench_suite.report.estimates import exponent
from kronbench_suite.report.outcomes import (
    NotMeasured,
    Outcome,
    Slack,
    by_repeat,
    differences,
    groups,
    outcome,
    paired,
    stated,
    table,
    without,
)
from kronbench_suite.report.verdicts import CONTRADICTED, HOLDS, UNDECIDED

CHECKS: dict[str, Callable[..., Outcome]] = {}

# The checks of printed numbers, which are also swapped for a control.
PRINTED = ("matches_printed", "one_more_repetition")

# The column that a check reads if its entry in ``claims/`` names none, beside printed numbers.
DEFAULT_VALUE = "ours"


def judged_column(arguments: Mapping) -> str:
    """The column whose numbers a check judges, by the arguments of the check."""
    return arguments.get("value", DEFAULT_VALUE)


def register_check(
    rows_read: Callable[..., pd.DataFrame] = lambda frame, **arguments: frame,
    finite: bool = True,
) -> Callable:
    """Make a check of a function that yields findings, and list it in ``CHECKS`` by its name.

    With ``finite`` it contradicts what is not finite. ``rows_read`` narrows the selected rows to
    those that the verdict rests on.
    """

    def decorate(find: Callable[..., Iterator[tuple]]) -> Callable[..., Outcome]:
        @functools.wraps(find)
        def check(frame: pd.DataFrame, **arguments: object) -> Outcome:
            frame = rows_read(frame, **arguments)
            values = frame[judged_column(arguments)].astype(float)
            bad = ~np.isfinite(values)
            if finite and bad.any():
                where = place(frame[bad].iloc[0])
                text = f"{bad.sum()} of {len(values)} numbers not finite ({where})"
                return Outcome(CONTRADICTED, text)
            unit = "groups" if finite else "rows"
            return _with_shared_level(functools.partial(find, frame), arguments, unit)

        check.rows_read = rows_read
        CHECKS[find.__name__] = check
        return check

    return decorate


def _with_shared_level(find, arguments, unit):
    """The outcome of a check, whose intervals share a chance of 5 % to contradict what is true.

    One of k intervals misses up to k times as often as one alone. If the k intervals of a claim
    contradict it, they are made anew at the level 1 - 0.05 / k each (Bonferroni). If these do not
    contradict it, the claim is undecided.
    """
    findings, share = list(find(**arguments)), arguments.get("share", 1.0)
    alone = outcome(findings, share, unit)
    # Findings without chance share nothing, and a share of groups has a chance of its own.
    n_sharing = sum(slack.miss > 0 for slack, _, _ in findings)
    if alone.verdict != CONTRADICTED or share < 1 or n_sharing < 2:
        return alone
    level = {"level": 1 - 0.05 / n_sharing}
    if "spread" in arguments:
        level = {"spread": arguments["spread"] | level}
    wide = outcome(list(find(**arguments | level)), share, unit)
    text = f"{wide.measured}; {n_sharing} intervals share the 5 %"
    verdict = CONTRADICTED if wide.verdict == CONTRADICTED else UNDECIDED
    return Outcome(verdict, text, alone.chance, wide.deciding)


def place(row: pd.Series) -> str:
    """Where a row stands: its names, without formulas, printed times and sources."""
    row = row.drop(["source", "paper took", "beyond", "chosen", "O()", "L"], errors="ignore")
    words = [word for word in row if isinstance(word, str) and len(word) < 20]
    return ", ".join(words) or f"row {row.name}"


@register_check()
def within(frame, *, value, target, tolerance, spread=None):
    """The mean of ``value`` over the selected rows is ``target`` up to ``tolerance``."""
    values = by_repeat(frame, value, spread)
    slack = Slack.of(values, tolerance - abs(values.mean() - target), spread)
    yield slack, f"{stated(values, spread)} against {target:g} \u00b1 {tolerance:g}", None


def _printed_of(value):
    """The column of printed numbers beside a column of ours."""
    return "paper" if value == DEFAULT_VALUE else f"printed {value}"


def _printed_rows(frame, *, value=DEFAULT_VALUE, **arguments):
    rows = frame.dropna(subset=[_printed_of(value)])
    if rows.empty:
        raise NotMeasured("nothing is printed for these rows")
    return rows


@register_check(rows_read=_printed_rows)
def matches_printed(
    frame,
    *,
    tolerance,
    value=DEFAULT_VALUE,
    interval=None,
    repeats=None,
    test_over_train=0.0,
    level=0.95,
    among=None,
    by=(),
    digits=None,
):
    """Every printed number is met up to ``tolerance``; rows without one do not count.

    The tolerance is at most half of the distance to a wrong number, which is one that the same
    group of ``by`` prints for another one of ``among`` (differing in so many ``digits``).

    The printed numbers are in the column ``paper`` where ``value`` is ``ours``, else in the column
    ``printed <value>``. ``interval`` names the column, such as ``±``, with half the width of the
    95 % interval of ours, ``repeats`` that with the number of repeats behind it, and
    ``test_over_train`` is that of the interval.
    """
    for label, row in frame.iterrows():
        difference = abs(row[value] - row[_printed_of(value)])
        distance, half = tolerance - difference, row[interval] if interval else 0.0
        spread = f" \u00b1 {half:.2g}" if interval else ""
        if np.isnan(half):
            slack, spread = Slack(distance, -np.inf, np.inf), " (one split: no spread)"
        elif half == 0:
            slack = Slack.exact(distance)
        else:
            needed = np.nan
            if repeats and row[repeats] >= 2:
                count = int(row[repeats])
                deviation = half / interval_factor(count, test_over_train)
                half = deviation * interval_factor(count, test_over_train, level)
                needed = repeats_needed(deviation, distance, test_over_train, level)
            ends = (distance - half, distance + half)
            slack = Slack(distance, *ends, needed, (1 - level) / 2)
        text = (
            f"largest difference {difference:.4g}{spread} of {len(frame)} numbers ({place(row)})"
        )
        yield slack, text, pd.Index([label])


@register_check(rows_read=_printed_rows)
def one_more_repetition(
    frame, *, names, among, interval, repeats, by, value=DEFAULT_VALUE, rounding=None, level=0.95
):
    """The printed numbers of ``among`` in ``names`` are such as one more repetition gives.

    Each lies within m +- t s sqrt(1/k + 1) of ours, and half a unit of its last digit, or what the
    column ``rounding`` says; and no other number does that is printed in the same group for
    another one of ``among``. docs/verdicts.md says what is undecided. ``interval`` and ``repeats``
    are columns as in ``matches_printed``, such as ``±`` and ``repetitions``, and so are printed
    numbers.
    """
    cases = _repetitions(frame, names, among, interval, repeats, by, value, rounding, level)
    for name, label, row, all_printed, reach, alike in cases:
        ours, printed = row[value], row[_printed_of(value)]
        others = all_printed - {printed}
        slack = _slack_of_a_repetition(ours, printed, others, reach, alike, level)
        text = f"{row[among]} {ours:.4g}, "
        text += (
            f"as in all {alike} repetitions"
            if alike
            else f"one more repetition \u00b1 {reach:.4g}"
        )
        text += f", printed {printed:g}"
        reached = sorted(other for other in others if abs(ours - other) <= reach)
        if slack.verdict == UNDECIDED and reached:
            text += f", which reaches {', '.join(map('{:g}'.format, reached))} of others too"
            text += ": only the paper's own splits would decide it"
        yield slack, f"{text} ({name})", pd.Index([label])


def _repetitions(frame, names, among, interval, repeats, by, value, rounding=None, level=0.95):
    """Group, label and row of each of ``names``, and all numbers that its group prints.

    Then half the prediction interval of one more repetition with what the printed number is
    rounded by, and how many repetitions there are if all are alike, else 0.
    """
    for name, group in groups(frame, by):
        rows = _printed_rows(group[group[among].isin(names)], value=value)
        printed = group[_printed_of(value)].dropna()
        digits = max(len(str(number).partition(".")[2]) for number in printed)
        for label, row in rows.iterrows():
            # the interval of the mean gives the deviation, and this the interval of one more value
            count = int(row[repeats])
            deviation = row[interval] / interval_factor(count)
            reach = deviation * interval_factor(count, 1.0, level)
            reach += row[rounding] if rounding else 0.5 * 10.0**-digits
            yield name, label, row, set(printed), reach, 0 if deviation else count


def _slack_of_a_repetition(ours, printed, others, reach, alike, level=0.95):
    """The slack of a printed number that lies up to ``reach`` from ours, and no other one does."""
    distance = reach - abs(ours - printed)
    nearest = min((abs(ours - other) - reach for other in others), default=np.inf)
    if np.isnan(reach):  # one repetition has no interval
        return Slack(distance, -np.inf, np.inf)
    # A number that differs from k repetitions that are alike has a chance of up to 1 / (k + 1).
    if alike and distance < 0 and 1 / (alike + 1) > 1 - level:
        return Slack(distance, distance, 0.0, needed=round(1 / (1 - level)) - 1)
    return Slack(distance, min(distance, nearest), distance, miss=1 - level)


def wrong_numbers(row, frame, *, among, by, value=DEFAULT_VALUE, digits=None, **arguments):
    """The numbers printed in the group of a row for others of ``among``, and not for it.

    Numbers that are alike to ``digits`` decimals are printed alike.
    """
    others = _in_group(row, frame, by)[_printed_of(value)].dropna().unique()
    printed = row[_printed_of(value)]
    if digits is None:
        return [other for other in others if other != printed]
    return [other for other in others if round(other, digits) != round(printed, digits)]


def _in_group(row, frame, by):
    return frame[np.logical_and.reduce([frame[name] == row[name] for name in by])]


def swapped(rows, frame, kind, arguments):
    """The control of a check of printed numbers: yield "right" or "wrong", and the verdict on it.

    ``rows`` are those of the check, ``frame`` has all rows of their table. Each printed number is
    judged alone: first the right one, then each wrong one, with which it changes places.
    """
    column, names = _printed_of(judged_column(arguments)), arguments.get("names")
    for label, row in _printed_rows(rows, **arguments).iterrows():
        name, right = row[arguments["among"]], row[column]
        if names and name not in names:
            continue
        group = _in_group(row, rows, arguments["by"])
        for printed in (right, *wrong_numbers(row, frame, **arguments)):
            pairing = group.assign(
                **{column: group[column].where(group[column] != printed, right)}
            )
            pairing.loc[label, column] = printed
            if names:  # one more repetition is judged beside the numbers of the others
                outcome_of_one = CHECKS[kind](pairing, **arguments | {"names": [name]})
            else:
                outcome_of_one = CHECKS[kind](pairing.loc[[label]], **arguments)
            yield "right" if printed == right else "wrong", outcome_of_one.verdict


@register_check()
def at_least(frame, *, value, bound, by=None, spread=None):
    """The smallest ``value`` of the selected rows, or mean of a group, is at least ``bound``.

    If the rows have ``<value>_low`` and ``<value>_high``, their interval decides.
    """
    return _bounded(frame, value, bound, by, spread, 1, "smallest")


@register_check()
def at_most(frame, *, value, bound, by=None, spread=None):
    """The largest ``value`` of the selected rows, or mean of a group, is at most ``bound``.

    If the rows have ``<value>_low`` and ``<value>_high``, their interval decides.
    """
    return _bounded(frame, value, bound, by, spread, -1, "largest")


def _bounded(frame, value, bound, by, spread, sign, extreme):
    """Yield the findings of ``at_least`` (``sign`` 1) or ``at_most`` (-1)."""
    if by is None and spread is None:
        # A number that is known up to an interval brings its ends in columns of their own.
        names = [name for name in (value, f"{value}_low", f"{value}_high") if name in frame]
        ends = sign * (sign * frame[names].apply(lambda end: end.fillna(frame[value]))).min()
        low, middle, high = ends.min(), ends[value], ends.max()
        ends_text = f" (known to lie in {low:.4g} to {high:.4g})" if low < high else ""
        distances = sorted(sign * (end - bound) for end in (low, high))
        slack = Slack(sign * (middle - bound), *distances)
        text = f"{extreme} {middle:.4g}{ends_text}, bound {bound:g}"
        text += "; only a narrower interval would decide it" if slack.verdict == UNDECIDED else ""
        yield slack, text, None
        return
    for name, group in groups(frame, by or ()):
        values = by_repeat(group, value, spread)
        slack = Slack.of(values, sign * (values.mean() - bound), spread)
        text = f"{extreme} {stated(values, spread)}, bound {bound:g}"
        yield slack, text + (f" ({name})" if name else ""), group.index


@register_check(finite=False)
def mostly_at_least(frame, *, value, bound, share):
    """At least this share of the selected rows has a finite ``value`` of at least ``bound``."""
    values = frame[value].astype(float).replace([np.inf, -np.inf], np.nan)
    missing = values.isna().sum()
    text = f"{missing} rows without a number" if missing else ""
    for number in values:
        yield Slack.exact(number - bound), text, None


@register_check()
def scales(frame, *, value, over, by, low, high):
    """The exponent of ``value`` in ``over``, fitted to means, is from ``low`` to ``high``.

    Where there are three sizes or more, the exponents between neighbours are told beside it.
    """
    slacks, texts = [], []
    for name, group in groups(frame, by):
        curve = group.groupby(over)[value].mean()
        if len(curve) < 2:
            raise NotMeasured(f"fewer than two values of {over}" + (f" ({name})" if name else ""))
        power = exponent(curve.index, curve)
        slacks.append(np.minimum(power - low, high - power))
        text = f"{power:.2f}"
        if len(curve) > 2:
            steps = [
                exponent(curve.index[i : i + 2], curve[i : i + 2]) for i in range(len(curve) - 1)
            ]
            text += f", between neighbours {min(steps):.2f} to {max(steps):.2f}"
        texts.append(f"{text} ({name})" if name else text)
    yield Slack.exact(np.min(slacks)), "exponent " + "; ".join(texts), None


def _largest_rows(frame, *, between, slow, fast, by=(), at_largest=None, **arguments):
    """The rows of both sides in each group; at the largest common ``at_largest``."""
    rows_of_groups = []
    for name, group in groups(frame, by):
        sides = {side: group[group[between] == side] for side in (slow, fast)}
        if at_largest:
            common = set.intersection(*(set(rows[at_largest]) for rows in sides.values()))
            if not common:
                raise NotMeasured(f"no {at_largest} has both {slow} and {fast}")
            sides = {side: rows[rows[at_largest] == max(common)] for side, rows in sides.items()}
        if lacking := [side for side, rows in sides.items() if rows.empty]:
            raise without(lacking, name)
        rows_of_groups += sides.values()
    return pd.concat(rows_of_groups)


@register_check(rows_read=_largest_rows)
def ratio(frame, *, value, between, slow, fast, bound, by=(), at_largest=None):
    """``slow`` takes at least ``bound`` times as much of ``value`` as ``fast``, in each group.

    ``between`` is the column that holds ``slow`` and ``fast``; means over all other columns. With
    ``at_largest``, at the largest value of that column that both have. Where the smallest and
    largest repeats are kept, their quotients are the range that decides.
    """
    for name, group in groups(frame, by):
        a, b = (group[group[between] == side] for side in (slow, fast))
        mean_a, mean_b = a[value].mean(), b[value].mean()
        quotient = mean_a / mean_b if mean_a > 0 and mean_b > 0 else np.nan
        quotients, ends = [quotient], [f"{value}_low", f"{value}_high"]
        # The ends of the range: the shortest repeat over the longest, and the other way round.
        if all(end in side and side[end].notna().all() for side in (a, b) for end in ends):
            (a_low, a_high), (b_low, b_high) = (side[ends].mean() for side in (a, b))
            if min(a_low, b_low) > 0:
                quotients += [a_low / b_high, a_high / b_low]
        low, high = min(quotients), max(quotients)
        text = f"{slow} {mean_a:.3g}, {fast} {mean_b:.3g}"
        if at_largest:
            text += f" at {at_largest} {group[at_largest].iloc[0]:,.0f}"
        text += f": ratio {quotient:,.3g}"
        if low != high:
            text += f" (repeats {low:,.3g} to {high:,.3g})"
            text += ", only steadier times would decide it" if low < bound <= high else ""
        text += f", bound {bound:g}" + (f" ({name})" if name else "")
        yield Slack(quotient - bound, low - bound, high - bound), text, group.index


@register_check()
def gain(frame, *, value, between, low, high, by, bound, over=None, spread=None, share=1.0):
    """In each group ``value`` at ``high`` exceeds that at ``low`` by ``bound``.

    ``between`` is the column that holds ``low`` and ``high``. Differences are paired along
    ``spread`` and averaged; with ``over``, each side stands at the position along that column
    where its own mean is largest. ``share`` is the share of the groups of which it must be true.
    """
    for name, gained, rows in differences(frame, value, between, low, high, by, over, spread):
        slack = Slack.of(gained, gained.mean() - bound, spread)
        yield slack, f"smallest gain {stated(gained, spread)} ({name})", rows


@register_check()
def close(frame, *, value, between, low, high, by, tolerance, spread=None):
    """In each group the paired ``value`` at ``high`` and at ``low`` differ by ``tolerance``."""
    for name, apart, rows in differences(frame, value, between, low, high, by, None, spread):
        slack = Slack.of(apart, tolerance - abs(apart.mean()), spread)
        yield slack, f"largest difference {stated(apart, spread)} ({name})", rows


@register_check()
def leads(frame, *, value, among, leader, by, over=None, tolerance=0.0, spread=None, share=1.0):
    """In each group the mean of ``value`` is largest at ``among`` = ``leader``.

    Or within ``tolerance`` of the largest. It is compared with each other one that the rows have,
    in every group (along ``spread``), with ``over`` as in ``gain``. With a ``share`` of the groups
    each is judged by the other one that is furthest ahead.
    """
    found = {}
    for other in _others(frame, among, leader):
        compared = differences(frame, value, among, other, leader, by, over, spread)
        for name, lead, rows in compared:
            text = f"smallest lead {stated(lead, spread)} (over {other}; {name})"
            finding = Slack.of(lead, lead.mean() + tolerance, spread), text, rows
            found.setdefault(name, []).append(finding)
    for findings in found.values():
        smallest = min(findings, key=lambda finding: finding[0].middle)
        yield from [smallest] if share < 1 else findings


@register_check()
def beaten(frame, *, value, among, name, by, spread=None):
    """In each group another one has a larger mean of ``value`` than ``among`` = ``name``.

    The one with the largest mean lead is compared, paired as in ``leads``. Where none is ahead, a
    group may not lack one that other groups have.
    """
    others = _others(frame, among, name)
    for where, group in groups(frame, by):
        of_others = {
            other: paired(group, value, among, name, other, None, spread) for other in others
        }
        leads = {other: lead for other, lead in of_others.items() if lead is not None}
        if not leads:
            raise without([name] if name not in set(group[among]) else others, where)
        best = max(leads, key=lambda other: leads[other].mean())
        slack = Slack.of(leads[best], leads[best].mean(), spread)
        # Another one that was not measured here might be ahead.
        if slack.verdict != HOLDS and len(leads) < len(others):
            raise without([other for other in others if other not in leads], where)
        text = f"smallest lead over it {stated(leads[best], spread)} (by {best}; {where})"
        yield slack, text, group.index[group[among].isin([name, best])]


def _others(frame, among, name):
    others = [other for other in frame[among].unique() if other != name]
    if not others:
        raise NotMeasured(f"there is no other beside {name}")
    return others


@register_check()
def flat_along(frame, *, value, over, by, bound, spread=None):
    """In each group the means of ``value`` along ``over`` differ by no more than ``bound``."""
    for name, group in groups(frame, by):
        curve = table(group, value, spread, over).dropna(axis=1)  # what all repeats reached
        if curve.shape[1] < 2:
            raise NotMeasured(f"fewer than two values of {over} ({name})")
        means = curve.mean()
        apart = curve[means.idxmax()] - curve[means.idxmin()]
        text = f"largest difference {stated(apart, spread)}, between {over} "
        text += f"{means.idxmax()} and {means.idxmin()} ({name})"
        yield Slack.of(apart, bound - apart.mean(), spread), text, None


@register_check()
def peaks_within(frame, *, value, over, by, limit, tolerance=0.0, spread=None):
    """After ``over`` = ``limit`` the mean of ``value`` rises by no more than ``tolerance``.

    The best mean after ``limit`` is compared with the best up to it, paired along ``spread``.
    """
    for name, group in groups(frame, by):
        curve = table(group, value, spread, over).dropna(axis=1)
        means = curve.mean()
        early, late = means[means.index <= limit], means[means.index > limit]
        if early.empty:
            raise NotMeasured(f"nothing was measured up to {over} {limit:g} ({name})")
        if late.empty:
            raise NotMeasured(f"the curve ends at {over} {means.index.max():g} ({name})")
        gained = curve[late.idxmax()] - curve[early.idxmax()]
        text = f"best at {over} {means.idxmax():g}; after {limit:g} better than up to it by "
        text += f"{stated(gained, spread)} ({name})"
        yield Slack.of(gained, tolerance - gained.mean(), spread), text, None
