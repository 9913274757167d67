"""Verdicts: each claim of ``papers/<paper>/claims`` against the result tables of a run."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kronbench_suite.report.checks import CHECKS, PRINTED, judged_column, swapped
from kronbench_suite.report.claim_files import compared_in, shown_by
from kronbench_suite.report.estimates import disturbed
from kronbench_suite.report.numbers import format_entry, format_number
from kronbench_suite.report.outcomes import NotMeasured, Outcome, without
from kronbench_suite.report.verdicts import (
    CONTRADICTED,
    NEW_DATA,
    OURS,
    THESE_DATA,
    UNDECIDED,
    UNTESTED,
)
from kronbench_suite.runner.columns import REVERSED, differs
from kronbench_suite.runner.items import Plan
from kronbench_suite.runner.read_results import other_data_of, read_numbers, read_results

_SURROGATE = "surrogate data: "
_LISTED_VALUES = 4  # of a reason, told one by one
# Arguments of a check that name one column.
_NAMES_A_COLUMN = ("interval", "repeats", "over", "between", "among", "at_largest")


@dataclass(frozen=True)
class Verdict:
    """A claim with what became of it.

    ``measured`` is a number or a reason. ``cause`` says why it is contradicted: "paper", "data",
    "age", "setting", "ours", or "unknown" where no row shows it; else "". ``asks`` is THESE_DATA
    or NEW_DATA, of which it speaks. ``chance`` is that with which a true claim is contradicted.
    """

    id: str
    paper: str
    place: str
    sentence: str
    item: str
    whose: str
    strictness: str
    timing: bool
    asks: str
    verdict: str
    cause: str
    measured: str
    chance: float

    @classmethod
    def on(cls, claim: Mapping, result: Outcome, cause: str = "", reason: str = "") -> Verdict:
        """The verdict of an outcome; ``reason`` is said of a contradiction."""
        said = {key: claim[key] for key in ("id", "paper", "place", "sentence", "item", "whose")}
        said |= {"strictness": claim.get("strictness", ""), "timing": claim.get("timing", False)}
        said |= {"asks": asks(claim), "cause": cause, "measured": result.measured + reason}
        return cls(**said, verdict=result.verdict, chance=result.chance)

    @property
    def surrogate(self) -> bool:
        """Whether it is untested because of surrogate data."""
        return self.verdict == UNTESTED and self.measured.startswith(_SURROGATE)


def judge_all(claims: list[dict], plan: Plan, each: Callable = map) -> list[Verdict]:
    """A verdict for each claim; see ``judge``. ``each`` maps as ``map`` does, or in parallel."""
    # Many claims stand on one table, which is read once.
    places: dict[str, list[int]] = {}
    for place, claim in enumerate(claims):
        source = repr([claim.get(key) for key in ("paper", "item", "also", "reads")])
        places.setdefault(source, []).append(place)
    groups = [[claims[place] for place in of_table] for of_table in places.values()]
    judged = itertools.chain(*each(functools.partial(_judge_group, plan), groups))
    by_place = dict(zip(itertools.chain(*places.values()), judged, strict=True))
    return [by_place[place] for place in range(len(claims))]


def _judge_group(plan, claims):
    """Verdicts on claims that read the same tables."""
    frame, verdicts = rows_of(claims[0], plan), []
    items = (other_data_of(plan.item(claims[0]["paper"], name)) for name in _names(claims[0]))
    other_data = {dataset: text for item in items for dataset, text in item.items()}
    for claim in claims:
        # How long the work waited for a processor stands in the measurements alone.
        waiting = np.nan
        if claim.get("timing") and disturbed(frame):
            waiting = rows_of({**claim, "reads": "measurements"}, plan).get("waiting", waiting)
        result = judge(claim, frame, plan.scale, other_data, np.max(waiting))
        reason = _reason(claim, plan) if result.verdict == CONTRADICTED else ("", "")
        verdicts.append(Verdict.on(claim, result, *reason))
    return verdicts


def asks(claim: Mapping) -> str:
    """NEW_DATA where its repeats are test sets, THESE_DATA where they are repetitions or none."""
    check = claim.get("check", {})
    ratios = (check.get("test_over_train", 0), check.get("spread", {}).get("test_over_train", 0))
    return NEW_DATA if max(ratios) > 0 else THESE_DATA


def _names(claim):
    return (claim["item"], *claim.get("also", ()))


def _reason(claim, plan):
    """The cause of a contradiction, and what is said of it with the numbers that show it."""
    if "because" not in claim:
        return "unknown", "; cause unknown"
    entry = shown_by(claim)
    value, where, by = entry["value"], entry["where"], entry.get("by")
    needed = [value, by] if by else [value]
    # The rows that show the cause: measured on real data, with a number in each column.
    rows = rows_of(entry, plan)
    try:
        rows = rows[rows["source"] != "surrogate"].query(where).dropna(subset=needed)
    except (KeyError, pd.errors.UndefinedVariableError):  # a column that this scale lacks
        rows = rows[:0]
    if rows.empty:
        return "unknown", f"; cause unknown: no row of {entry['item']} shows it at this scale"
    if by:
        means = rows.groupby(by, sort=False)[value].mean()
        shown = ", ".join(f"{name} {format_number(mean)}" for name, mean in means.items())
        value = f"mean {value} by {by}"
    else:
        # A few values are told one by one, more numbers by their ends.
        column = rows[value]
        distinct = list(dict.fromkeys(column))
        if len(distinct) <= _LISTED_VALUES or not pd.api.types.is_numeric_dtype(column):
            shown = ", ".join(format_entry(number) for number in distinct[:_LISTED_VALUES])
        else:
            ends = f"{format_number(column.min())} to {format_number(column.max())}"
            shown = f"{ends}, {len(column)} rows"
    text = f"; {claim['because']['text']} ({entry['item']}, {value}: {shown})"
    return claim["because"]["cause"], text


def rows_of(claim: Mapping, plan: Plan) -> pd.DataFrame:
    """The rows that a claim selects from: the numbers shown, or the measurements behind them."""
    items = [plan.item(claim["paper"], name) for name in _names(claim)]
    measured = claim.get("reads") == "measurements"
    frames = [read_results(item) if measured else read_numbers(item) for item in items]
    if len(frames) == 1:
        return frames[0]
    named = zip(items, frames, strict=True)
    return pd.concat([frame.assign(item=item.name) for item, frame in named], ignore_index=True)


def judge(
    claim: Mapping,
    frame: pd.DataFrame,
    scale: str,
    other_data: Mapping[str, str] | None = None,
    waiting: float = np.nan,
) -> Outcome:
    """Verdict and what was measured, for one claim on the rows of its tables (docs/verdicts.md).

    ``other_data`` says which data are not the paper's, and how they differ; ``waiting`` is the
    largest share of waiting for a processor behind the rows, where known.
    """
    try:
        return _judged(claim, _rows_selected(claim, frame, scale, other_data or {}), waiting)
    except NotMeasured as reason:
        return Outcome(UNTESTED, str(reason))


def _rows_selected(claim, frame, scale, other_data):
    """The rows of which a claim speaks; ``NotMeasured`` where they cannot test it."""
    if "untestable" in claim:
        raise NotMeasured(claim["untestable"])
    if scale in claim.get("not_at", ()):
        raise NotMeasured(f"the sizes of scale '{scale}' are too small for it")
    # What the query selects, without the user's own data, of which no publication speaks.
    where = claim["check"].get("where")
    try:
        rows = frame.query(where) if where else frame
    except pd.errors.UndefinedVariableError as error:  # known, but not at this scale
        raise NotMeasured(f"the table has no such column here: {error}") from None
    if claim["whose"] != OURS:
        rows = rows[rows["source"] != "own"]
    if rows.empty:
        raise NotMeasured("no such rows at this scale")
    # The columns that the check names.
    named = [claim["check"][key] for key in _NAMES_A_COLUMN if key in claim["check"]]
    for column in (judged_column(claim["check"]), *named, *claim["check"].get("by", ())):
        if column not in rows:
            raise NotMeasured(f"the table has no column '{column}'")
    # Surrogates say nothing, and other data nothing of what a paper says of its own.
    surrogates = sorted(rows.loc[rows["source"] == "surrogate", "dataset"].unique())
    if surrogates:
        raise NotMeasured(_SURROGATE + ", ".join(surrogates))
    differing = [name for name in rows["dataset"].unique() if name in other_data]
    if differing and claim["whose"] != OURS:
        raise NotMeasured(f"other data: {differing[0]}: {other_data[differing[0]]}")
    for column, values in compared_in(where or "True"):
        if lacking := [value for value in values if value not in set(rows[column])]:
            raise without(lacking)
    return rows


def _judged(claim, rows, waiting):
    """The outcome of a check on the selected rows, with remarks on what else could decide it."""
    arguments = {key: value for key, value in claim["check"].items() if key != "where"}
    kind, value = arguments.pop("kind"), judged_column(arguments)
    check = CHECKS[kind]
    read = check.rows_read(rows, **arguments)
    result = check(rows, **arguments)
    # A parameter at the end of its grid might be better beyond.
    deciding = read if result.deciding is None else read.loc[result.deciding]
    remarks, edges = "", [name for name in ("on_edge", "on edge") if name in deciding]
    if edges and (count := deciding[edges[0]].sum()) > 0:
        lie = "selection lies" if count == 1 else "selections lie"
        remarks = f"; {count:.0f} {lie} at an end of {'its' if count == 1 else 'their'} grid"
    # Other programs may have made a time longer.
    if claim.get("timing") and disturbed(read):
        remarks += _whatever_the_load(kind, rows, arguments, result, waiting)
    # Rounding decides where the same numbers with sums in another order have another verdict. What
    # is not finite is so in its own right.
    again = rows.get(value + REVERSED) if np.isfinite(read[value]).all() else None
    if again is not None and (moved := differs(read[value], again[read.index]).sum()):
        reordered = rows.assign(**{value: again.fillna(rows[value])})
        other = check(reordered, **arguments)
        if other.verdict != result.verdict:
            text = f"{result.measured}, but with sums in another order {other.measured}"
            return Outcome(UNDECIDED, f"{text}: rounding decides")
        remarks += f"; the same with sums in another order, which moves {moved} of the rows"
    # Repetitions of one test set each also tell of new data, by the wider interval.
    spread = arguments.get("spread", {})
    if "new_data" in spread:
        beyond = {"over": spread["over"], "test_over_train": spread["new_data"]}
        new = check(rows, **arguments | {"spread": beyond})
        remarks += f"; for new data {new.verdict}: {new.measured}"
    return dataclasses.replace(result, measured=result.measured + remarks)


def _whatever_the_load(kind, rows, arguments, result, waiting):
    """Refuse a verdict on times that other programs may have made; else what is said of it.

    A busy row may have taken up to ``load`` times less on a calm machine; a quotient of two times
    may have been as many times more, too.
    """
    # A thread that waited for a share of the time ran for the rest of it. On a core, a cache or a
    # memory that it shared with another program it ran at half its speed, which no clock counts.
    load, value = float(np.divide(2.0, 1.0 - waiting)), judged_column(arguments)
    # Longer or shorter times act on these checks in one direction.
    if kind not in ("ratio", "at_least", "at_most") or np.isnan(load):
        raise NotMeasured("the machine was busy")
    busy = rows["busy"].isin([True, "True"])
    # The check again with the times of busy rows at both ends of what they can have been.
    if kind == "ratio":
        low, high = (
            rows.get(f"{value}_{end}", rows[value]).fillna(rows[value]) for end in ("low", "high")
        )
        ends = {f"{value}_low": low.where(~busy, low / load), f"{value}_high": high}
        changed = [rows.assign(**ends)]
    else:
        changed = [
            rows.assign(**{value: rows[value].where(~busy, rows[value] * factor)})
            for factor in (load, 1 / load)
        ]
    if {CHECKS[kind](frame, **arguments).verdict for frame in changed} != {result.verdict}:
        raise NotMeasured("the machine was busy")
    return f"; the same whatever a busy machine does to a time, at most {load:.2g} times"


def control(claims: list[dict], plan: Plan, each: Callable = map) -> dict[str, dict[str, Counter]]:
    """Verdicts on printed numbers that are right, and on those that are swapped with others.

    By the kind of check, then "right" and "wrong"; only what was judged counts.
    """
    counts: dict[str, dict[str, Counter]] = {}
    compared = [
        claim
        for claim in claims
        if "among" in claim.get("check", {}) and claim["check"]["kind"] in PRINTED
    ]
    judged = each(functools.partial(_swapped, plan), compared)
    for claim, found in zip(compared, judged, strict=True):
        kind = claim["check"]["kind"]
        for pairing, verdict in found:
            of_kind = counts.setdefault(kind, {"right": Counter(), "wrong": Counter()})
            of_kind[pairing][verdict] += 1
    return counts


def _swapped(plan, claim):
    """The verdicts with the right printed number and with wrong ones, if the claim is judged."""
    arguments = dict(claim["check"])
    kind, where = arguments.pop("kind"), arguments.pop("where", None)
    # Rows may be missing at this scale, or be surrogates.
    frame = rows_of(claim, plan)
    if judge(claim, frame, plan.scale).verdict == UNTESTED:
        return []
    return list(swapped(frame.query(where) if where else frame, frame, kind, arguments))
