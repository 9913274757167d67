"""Verdicts: each claim of ``papers/<paper>/claims`` against the result tables of a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pandas as pd

from kronbench.reference.verdicts import CONTRADICTED, OURS, UNTESTED
from kronbench.report.claim_files import find_check
from kronbench.report.estimates import disturbed, doubts
from kronbench.report.numbers import format_entry, format_number
from kronbench.report.outcomes import NotMeasured, Outcome
from kronbench.report.queries import columns_compared
from kronbench.runner.columns import columns_shown
from kronbench.runner.items import Plan
from kronbench.runner.results import other_data_of, read_numbers, read_results

_SURROGATE = "surrogate data: "
_BUSY = "the machine was busy"  # why a claim on time is not tested
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
    kind: str
    whose: str
    strictness: str
    timing: bool
    verdict: str
    cause: str
    measured: str
    intervals: int

    @property
    def surrogate(self) -> bool:
        """Whether it is untested because of surrogate data."""
        return self.verdict == UNTESTED and self.measured.startswith(_SURROGATE)


@dataclass(frozen=True)
class HeadlineRow:
    """One row of a headline, as text: what ran, their time, ours, and the ratio.

    ``doubts`` says what a reader must know before quoting it: surrogate data, a busy machine.
    """

    of: str
    theirs: str
    ours: str
    times: str
    doubts: str


@dataclass(frozen=True)
class Headline:
    """Seconds of a table beside the printed ones, which are shown and never judged."""

    paper: str
    item: str
    sentence: str
    rows: list[HeadlineRow]


def evaluate(claims: list[dict], plan: Plan) -> list[Verdict]:
    """A verdict for each claim; see ``judge``."""
    verdicts, read = [], {}
    for claim in claims:
        # many claims stand on one table
        source = repr([claim.get(key) for key in ("paper", "item", "also", "reads", "whose")])
        if source not in read:
            read[source] = rows_of(claim, plan), _other_data(claim, plan)
        rows, other_data = read[source]
        found = judge(claim, rows, plan.scale, other_data)
        cause, reason = "", ""
        if found.verdict == CONTRADICTED:
            cause, reason = _reason(claim, plan)
        labels = ("id", "paper", "place", "sentence", "item", "kind", "whose")
        verdicts.append(
            Verdict(
                **{key: claim[key] for key in labels},
                strictness=claim.get("strictness", ""),
                timing=claim.get("timing", False),
                verdict=found.verdict,
                cause=cause,
                measured=found.measured + reason,
                intervals=found.intervals,
            )
        )
    return verdicts


def expected_by_chance(verdicts: Iterable[Verdict]) -> float:
    """How many of these would be contradicted by chance alone at 95 %, were they all true.

    At the edge of being true: half of the misses of each interval are to the side that
    contradicts.
    """
    return sum(1 - 0.975**verdict.intervals for verdict in verdicts)


def _other_data(claim, plan):
    names = (claim["item"], *claim.get("also", ())) if claim["whose"] != OURS else ()
    return {
        dataset: text
        for name in names
        for dataset, text in other_data_of(plan.item(claim["paper"], name)).items()
    }


def _reason(claim, plan):
    """The cause of a contradiction, and what is said of it with the numbers that show it."""
    because = claim.get("because")
    if because is None:
        return "unknown", "; cause unknown"
    shown_by = {"item": claim["item"], **because["shown_by"], "paper": claim["paper"]}
    rows = rows_of(shown_by, plan)
    if shown_by["value"] in rows:
        try:
            rows = rows.query(shown_by["where"]).dropna(subset=[shown_by["value"]])
            rows = rows[rows["source"] != "surrogate"]  # which show nothing of the real data
        except pd.errors.UndefinedVariableError:
            rows = rows[:0]
    else:
        rows = rows[:0]
    if rows.empty:
        return "unknown", f"; cause unknown: no row of {shown_by['item']} shows it at this scale"
    numbers = _values(rows[shown_by["value"]])
    return because["cause"], (
        f"; {because['text']} ({shown_by['item']}, {shown_by['value']} where {shown_by['where']}: "
        f"{numbers})"
    )


def _values(column):
    known = list(dict.fromkeys(column))
    if len(known) <= _LISTED or not pd.api.types.is_numeric_dtype(column):
        return ", ".join(format_entry(value) for value in known[:_LISTED])
    return f"{format_number(column.min())} to {format_number(column.max())}, {len(column)} rows"


def rows_of(claim: Mapping, plan: Plan) -> pd.DataFrame:
    """The rows that a claim selects from: the numbers shown, or the measurements behind them."""
    names = (claim["item"], *claim.get("also", ()))
    frames = []
    for name in names:
        item = plan.item(claim["paper"], name)
        measured = claim.get("reads", "numbers") == "measurements"
        frames.append(read_results(item).frame if measured else read_numbers(item))
    if len(frames) == 1:
        return frames[0]
    frames = [frame.assign(item=name) for frame, name in zip(frames, names, strict=True)]
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


def _checked(claim, frame, scale, other_data):
    if "untestable" in claim:
        raise NotMeasured(claim["untestable"])
    if scale in claim.get("not_at", ()):
        raise NotMeasured(f"the sizes of scale '{scale}' are too small for it")
    arguments = dict(claim["check"])
    check, where = find_check(arguments.pop("kind")), arguments.pop("where", None)
    try:
        rows = frame.query(where) if where else frame
    except pd.errors.UndefinedVariableError as error:  # known, but not at this scale
        raise NotMeasured(f"the table has no such column here: {error}") from None
    if claim["whose"] != OURS:  # it does not speak of the user's own data
        rows = rows[rows["source"] != "own"]
    value = arguments.get("value", arguments.get("ours", "ours"))
    if rows.empty:
        raise NotMeasured(f"no such rows at this scale: {where or 'the table is empty'}")
    if value not in rows:
        raise NotMeasured(f"the table has no column '{value}'")
    surrogates = sorted(rows.loc[rows["source"] == "surrogate", "dataset"].unique())
    if surrogates:
        raise NotMeasured(_SURROGATE + ", ".join(surrogates))
    differing = [name for name in rows["dataset"].unique() if name in other_data]
    if differing:
        raise NotMeasured(f"other data: {differing[0]}: {other_data[differing[0]]}")
    for compared in columns_compared(where) if where else ():
        known = set(rows[compared.column])
        lacking = [value for value in compared.values if value not in known]
        if compared.asked and lacking:
            raise NotMeasured(f"without {', '.join(map(str, lacking))}")
    read = check.rows_read(rows, **arguments)
    if claim.get("timing") and disturbed(read):
        raise NotMeasured(_BUSY)
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


def headlines(entries: list[dict], plan: Plan) -> list[Headline]:
    """What is shown without being judged; rows that are not there are left out."""
    known = {(item.paper, item.name) for item in plan.items}
    found = []
    for entry in entries:
        paper = entry["paper"]
        if (paper, entry["item"]) not in known:
            continue
        item = plan.item(paper, entry["item"])
        table = read_numbers(item)
        measured = entry["theirs"] in columns_shown(item).clock  # theirs, on this machine
        selected = table.query(entry["where"]).dropna(subset=[entry["theirs"], entry["ours"]])
        if len(selected):
            rows = [_headline_row(entry, row, measured) for row in selected.to_dict("records")]
            found.append(Headline(paper, entry["item"], entry["sentence"], rows))
    return found


def _headline_row(entry, row, measured):
    theirs = row[entry["theirs"]]
    if not isinstance(theirs, str):
        theirs = f"{format_number(theirs) if measured else format_entry(theirs)} s"
    times = format_number(row[entry["times"]])
    of = ", ".join(format_entry(row[column]) for column in entry["of"])
    return HeadlineRow(
        of=of.replace("\N{THIN SPACE}", "\N{NARROW NO-BREAK SPACE}"),
        theirs=theirs,
        ours=f"{format_number(row[entry['ours']])} s",
        # a printed time such as ">3d" is the least that it can have been
        times=f"> {times}" if theirs.startswith(">") else times,
        doubts=doubts(row),
    )
