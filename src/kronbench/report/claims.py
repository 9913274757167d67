"""Verdicts: each claim of ``papers/<paper>/claims`` against the result tables of a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from kronbench.errors import InputError
from kronbench.reference.verdicts import CONTRADICTED, OURS, UNTESTED
from kronbench.report.checks import CHECKS
from kronbench.report.claim_files import compared_in, shown_by
from kronbench.report.estimates import disturbed, doubts
from kronbench.report.numbers import format_entry, format_number
from kronbench.report.outcomes import NotMeasured, Outcome
from kronbench.runner.columns import columns_shown
from kronbench.runner.items import Plan
from kronbench.runner.results import other_data_of, read_numbers, read_results

_SURROGATE = "surrogate data: "
_LISTED = 4  # values of a reason that are told one by one


@dataclass(frozen=True)
class Verdict:
    """A claim with what became of it.

    ``measured`` is a number or a reason. ``cause`` says why it is contradicted: "paper", "data",
    "age", "setting", or "unknown" where no row shows it; else "". ``intervals`` is the number of
    95 % intervals that the verdict rests on.
    """

    id: str
    paper: str
    place: str
    sentence: str
    item: str
    whose: str
    strictness: str
    timing: bool
    verdict: str
    cause: str
    measured: str
    intervals: int

    @classmethod
    def on(cls, claim: Mapping, found: Outcome, cause: str = "", reason: str = "") -> Verdict:
        """The verdict of an outcome; ``reason`` is said of a contradiction."""
        return cls(
            **{key: claim[key] for key in ("id", "paper", "place", "sentence", "item", "whose")},
            strictness=claim.get("strictness", ""),
            timing=claim.get("timing", False),
            verdict=found.verdict,
            cause=cause,
            measured=found.measured + reason,
            intervals=found.intervals,
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
        found = judge(claim, read[source][0], plan.scale, read[source][1])
        said = _reason(claim, plan) if found.verdict == CONTRADICTED else ("", "")
        verdicts.append(Verdict.on(claim, found, *said))
    return verdicts


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
        frames.append(read_results(item).frame if measured else read_numbers(item))
    if len(frames) == 1:
        return frames[0]
    frames = [frame.assign(item=n) for frame, n in zip(frames, _names(claim), strict=True)]
    return pd.concat(frames, ignore_index=True)


def judge(
    claim: Mapping, frame: pd.DataFrame, scale: str, other_data: Mapping[str, str] | None = None
) -> Outcome:
    """Verdict and what was measured, for one claim on the rows of its tables.

    - *holds*, *undecided*, *contradicted*: what its check finds.
    - *not tested*: there can be no check here, and the entry says why; surrogate data; other data
      than the paper's (``other_data`` says which, and how they differ); rows that were not
      measured (capped, skipped, left out at this scale), or only some of those that it names;
      sizes that the scale does not reach; or a claim on time and a row that was measured while
      the machine was busy.
    """
    try:
        return _checked(claim, frame, scale, other_data or {})
    except NotMeasured as reason:
        return Outcome(UNTESTED, str(reason))


# Arguments of a check that name one column.
_NAMES_A_COLUMN = ("interval", "repeats", "over", "between", "among", "at_largest")


def _checked(claim, frame, scale, other_data):
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
    if claim.get("timing") and disturbed(read):
        raise NotMeasured("the machine was busy")
    found = check(rows, **arguments)
    deciding = read if found.deciding is None else read.loc[found.deciding]
    return dataclasses.replace(found, measured=found.measured + _on_edge(deciding))


def _on_edge(rows):
    """A remark on selections that ended at the edge of their grid."""
    for column in ("on_edge", "on edge"):
        count = rows[column].sum() if column in rows else 0
        if count > 0:
            one = count == 1
            lie = "selection lies at an end of its" if one else "selections lie at an end of their"
            return f"; {count:.0f} {lie} grid"
    return ""


def headlines(entries: list[dict], plan: Plan) -> list[dict]:
    """What is shown without being judged: each entry with its ``rows``, as text.

    A row says what ran (``of``), ``theirs``, ``ours``, ``times``, and ``doubts``: what a reader
    must know before quoting it. Rows that are not there are left out.
    """
    known = {(item.paper, item.name) for item in plan.items}
    found = []
    for entry in entries:
        if (entry["paper"], entry["item"]) not in known:
            continue
        item = plan.item(entry["paper"], entry["item"])
        measured = entry["theirs"] in columns_shown(item).clock  # theirs, on this machine
        numbers = read_numbers(item)
        for column in (*entry["of"], entry["theirs"], entry["ours"], entry["times"]):
            if column not in numbers:
                raise InputError(
                    f"{entry['paper']}: headline '{entry['sentence']}' names the column "
                    f"'{column}', which {item.name} does not have"
                )
        rows = numbers.query(entry["where"]).dropna(subset=[entry["theirs"], entry["ours"]])
        if len(rows):
            rows = [_headline_row(entry, row, measured) for row in rows.to_dict("records")]
            found.append({**entry, "rows": rows})
    return found


def _headline_row(entry, row, measured):
    theirs = row[entry["theirs"]]
    if not isinstance(theirs, str):
        theirs = f"{format_number(theirs) if measured else format_entry(theirs)} s"
    times = format_number(row[entry["times"]])
    of = ", ".join(format_entry(row[column]) for column in entry["of"])
    return {
        "of": of.replace("\N{THIN SPACE}", "\N{NARROW NO-BREAK SPACE}"),
        "theirs": theirs,
        "ours": f"{format_number(row[entry['ours']])} s",
        # a printed time such as ">3d" is the least that it can have been
        "times": f"> {times}" if theirs.startswith(">") else times,
        "doubts": doubts(row),
    }
