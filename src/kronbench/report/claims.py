"""Verdicts: each claim of ``papers/<paper>/claims`` against the result tables of a run."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kronbench.reference.verdicts import CONTRADICTED, NEW_DATA, OURS, THESE_DATA, UNTESTED
from kronbench.report.checks import CHECKS, swapped
from kronbench.report.claim_files import compared_in, shown_by
from kronbench.report.estimates import disturbed, worst_load
from kronbench.report.numbers import format_entry, format_number
from kronbench.report.outcomes import NotMeasured, Outcome
from kronbench.runner.items import Plan
from kronbench.runner.read_results import other_data_of, read_numbers, read_results

_SURROGATE = "surrogate data: "
_LISTED = 4  # values of a reason that are told one by one


@dataclass(frozen=True)
class Verdict:
    """A claim with what became of it.

    ``measured`` is a number or a reason. ``cause`` says why it is contradicted: "paper", "data",
    "age", "setting", or "unknown" where no row shows it; else "". ``asks`` is THESE_DATA or
    NEW_DATA, of which it speaks. ``chance`` is that with which a true claim is contradicted.
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
    def on(cls, claim: Mapping, found: Outcome, cause: str = "", reason: str = "") -> Verdict:
        """The verdict of an outcome; ``reason`` is said of a contradiction."""
        return cls(
            **{key: claim[key] for key in ("id", "paper", "place", "sentence", "item", "whose")},
            strictness=claim.get("strictness", ""),
            timing=claim.get("timing", False),
            asks=asks(claim),
            verdict=found.verdict,
            cause=cause,
            measured=found.measured + reason,
            chance=found.chance,
        )

    @property
    def surrogate(self) -> bool:
        """Whether it is untested because of surrogate data."""
        return self.verdict == UNTESTED and self.measured.startswith(_SURROGATE)


def evaluate(claims: list[dict], plan: Plan) -> list[Verdict]:
    """A verdict for each claim; see ``judge``."""
    verdicts, read = [], {}
    for claim in claims:
        # many claims stand on one table
        source = repr([claim.get(key) for key in ("paper", "item", "also", "reads")])
        if source not in read:
            read[source] = rows_of(claim, plan), _other_data(claim, plan)
        frame, other_data = read[source]
        waiting = np.nan
        if claim.get("timing") and disturbed(frame):
            waiting = rows_of({**claim, "reads": "measurements"}, plan).get("waiting", waiting)
        found = judge(claim, frame, plan.scale, other_data, np.max(waiting))
        said = _reason(claim, plan) if found.verdict == CONTRADICTED else ("", "")
        verdicts.append(Verdict.on(claim, found, *said))
    return verdicts


def asks(claim: Mapping) -> str:
    """Whether test sets are its repeats, so that it speaks of new data, or draws on these data."""
    check = claim.get("check", {})
    ratios = (check.get("test_over_train", 0), check.get("spread", {}).get("test_over_train", 0))
    return NEW_DATA if max(ratios) > 0 else THESE_DATA


def _names(claim):
    return (claim["item"], *claim.get("also", ()))


def _other_data(claim, plan):
    known = (other_data_of(plan.item(claim["paper"], name)) for name in _names(claim))
    return {dataset: text for item in known for dataset, text in item.items()}


def _reason(claim, plan):
    """The cause of a contradiction, and what is said of it with the numbers that show it."""
    if "because" not in claim:
        return "unknown", "; cause unknown"
    entry = shown_by(claim)
    value, where, by = entry["value"], entry["where"], entry.get("by")
    needed = [value, by] if by else [value]
    rows = rows_of(entry, plan)
    try:
        rows = rows[rows["source"] != "surrogate"].query(where).dropna(subset=needed)
    except (KeyError, pd.errors.UndefinedVariableError):  # a column that this scale lacks
        rows = rows[:0]
    if rows.empty:
        return "unknown", f"; cause unknown: no row of {entry['item']} shows it at this scale"
    if by:
        shown = f"{entry['item']}, mean {value} by {by} where {where}: {_means(rows, value, by)}"
    else:
        shown = f"{entry['item']}, {value} where {where}: {_values(rows[value])}"
    return claim["because"]["cause"], f"; {claim['because']['text']} ({shown})"


def _means(rows, value, by):
    means = rows.groupby(by, sort=False)[value].mean()
    return ", ".join(f"{name} {format_number(mean)}" for name, mean in means.items())


def _values(column):
    known = list(dict.fromkeys(column))
    if len(known) <= _LISTED or not pd.api.types.is_numeric_dtype(column):
        return ", ".join(format_entry(value) for value in known[:_LISTED])
    return f"{format_number(column.min())} to {format_number(column.max())}, {len(column)} rows"


def rows_of(claim: Mapping, plan: Plan) -> pd.DataFrame:
    """The rows that a claim selects from: the numbers shown, or the measurements behind them."""
    frames = []
    for name in _names(claim):
        item = plan.item(claim["paper"], name)
        measured = claim.get("reads") == "measurements"
        frames.append(read_results(item) if measured else read_numbers(item))
    if len(frames) == 1:
        return frames[0]
    frames = [frame.assign(item=n) for frame, n in zip(frames, _names(claim), strict=True)]
    return pd.concat(frames, ignore_index=True)


def judge(
    claim: Mapping,
    frame: pd.DataFrame,
    scale: str,
    other_data: Mapping[str, str] | None = None,
    waiting: float = np.nan,
) -> Outcome:
    """Verdict and what was measured, for one claim on the rows of its tables.

    - *holds*, *undecided*, *contradicted*: what its check finds.
    - *not tested*: there can be no check here, and the entry says why; surrogate data; other data
      than the paper's (``other_data`` says which, and how they differ); rows that were not
      measured (capped, skipped, left out at this scale), or only some of those that it names;
      sizes that the scale does not reach; or a claim on time, where a row was measured while the
      machine was busy and what that can do to it decides (see ``_whatever_the_load``).

    ``waiting`` is the largest share of waiting for a processor behind the rows, where known.
    """
    try:
        return _checked(claim, frame, scale, other_data or {}, waiting)
    except NotMeasured as reason:
        return Outcome(UNTESTED, str(reason))


# Arguments of a check that name one column.
_NAMES_A_COLUMN = ("interval", "repeats", "over", "between", "among", "at_largest")


def _checked(claim, frame, scale, other_data, waiting):
    if "untestable" in claim:
        raise NotMeasured(claim["untestable"])
    if scale in claim.get("not_at", ()):
        raise NotMeasured(f"the sizes of scale '{scale}' are too small for it")
    arguments = dict(claim["check"])
    check, where = CHECKS[arguments.pop("kind")], arguments.pop("where", None)
    value = arguments.get("value", "ours")
    try:
        rows = frame.query(where) if where else frame
    except pd.errors.UndefinedVariableError as error:  # known, but not at this scale
        raise NotMeasured(f"the table has no such column here: {error}") from None
    if claim["whose"] != OURS:  # it does not speak of the user's own data
        rows = rows[rows["source"] != "own"]
    if rows.empty:
        raise NotMeasured(f"no such rows at this scale: {where or 'the table is empty'}")
    named = [arguments[key] for key in _NAMES_A_COLUMN if key in arguments]
    for column in (value, *named, *arguments.get("by", ())):
        if column not in rows:
            raise NotMeasured(f"the table has no column '{column}'")
    surrogates = sorted(rows.loc[rows["source"] == "surrogate", "dataset"].unique())
    if surrogates:
        raise NotMeasured(_SURROGATE + ", ".join(surrogates))
    differing = [name for name in rows["dataset"].unique() if name in other_data]
    if differing and claim["whose"] != OURS:
        raise NotMeasured(f"other data: {differing[0]}: {other_data[differing[0]]}")
    for column, values in compared_in(where or "True"):
        lacking = [value for value in values if value not in set(rows[column])]
        if lacking:
            raise NotMeasured(f"without {', '.join(map(str, lacking))}")
    read = check.rows_read(rows, **arguments)
    found = check(rows, **arguments)
    deciding = read if found.deciding is None else read.loc[found.deciding]
    remarks = _on_edge(deciding)
    if claim.get("timing") and disturbed(read):
        remarks += _whatever_the_load(claim["check"]["kind"], rows, arguments, found, waiting)
    spread = arguments.get("spread", {})
    if "new_data" in spread:
        beyond = {"over": spread["over"], "test_over_train": spread["new_data"]}
        new = check(rows, **arguments | {"spread": beyond})
        remarks += f"; for new data {new.verdict}: {new.measured}"
    return dataclasses.replace(found, measured=found.measured + remarks)


# Checks on which longer or shorter times act in one direction.
_JUDGED_UNDER_LOAD = ("ratio", "at_least", "at_most")


def _whatever_the_load(kind, rows, arguments, found, waiting):
    """Refuse a verdict on times that other programs may have made; else what is said of it.

    A busy row may have taken up to ``load`` times less on a calm machine; a quotient of two times
    may have been as many times more, too.
    """
    load, value = worst_load(waiting), arguments.get("value", "ours")
    if kind not in _JUDGED_UNDER_LOAD or np.isnan(load):
        raise NotMeasured("the machine was busy")
    busy = rows["busy"].isin([True, "True"])
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
    if {CHECKS[kind](frame, **arguments).verdict for frame in changed} != {found.verdict}:
        raise NotMeasured("the machine was busy")
    return f"; the same whatever a busy machine does to a time, at most {load:.2g} times"


def control(claims: list[dict], plan: Plan) -> Counter:
    """Verdicts of ``one_more_draw`` on printed numbers that are swapped among the methods."""
    found = Counter()
    for claim in claims:
        arguments = dict(claim.get("check", {}))
        if arguments.pop("kind", None) == "one_more_draw":
            rows = rows_of(claim, plan).query(arguments.pop("where"))
            if (rows["source"] != "surrogate").all() and plan.scale not in claim.get("not_at", ()):
                found.update(swapped(rows, **arguments))
    return found


def _on_edge(rows):
    """A remark on selections that ended at the edge of their grid."""
    for column in ("on_edge", "on edge"):
        count = rows[column].sum() if column in rows else 0
        if count > 0:
            one = count == 1
            lie = "selection lies at an end of its" if one else "selections lie at an end of their"
            return f"; {count:.0f} {lie} grid"
    return ""
