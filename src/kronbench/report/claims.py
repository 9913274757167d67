"""Verdicts: each claim of ``config/claims`` against the result tables of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from kronbench.bench.items import Plan
from kronbench.bench.results import read_numbers, read_results
from kronbench.report import checks
from kronbench.report.estimates import disturbed, doubts
from kronbench.report.numbers import format_entry, format_number
from kronbench.runs.verdicts import BUSY, DIFFERS, FAILS, HOLDS, UNTESTED

_SURROGATE = "surrogate data: "


@dataclass(frozen=True)
class Verdict:
    """A claim with what became of it; ``measured`` is a number or a reason."""

    id: str
    paper: str
    place: str
    sentence: str
    item: str
    strictness: str
    timing: bool
    verdict: str
    measured: str

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
    verdicts = []
    for claim in claims:
        verdict, measured = judge(claim, rows_of(claim, plan), plan.scale)
        labels = ("id", "paper", "place", "sentence", "item")
        verdicts.append(
            Verdict(
                **{key: claim[key] for key in labels},
                strictness=claim.get("strictness", ""),
                timing=claim.get("timing", False),
                verdict=verdict,
                measured=measured,
            )
        )
    return verdicts


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


def judge(claim: Mapping, frame: pd.DataFrame, scale: str) -> tuple[str, str]:
    """Verdict and what was measured, for one claim on the rows of its tables.

    - *holds*: its check holds.
    - *differs*: its check fails, and the check of its entry ``differs`` holds, which bounds the
      known deviation.
    - *fails*: its check fails, and no reason is known, or the deviation exceeds its bound.
    - *not tested here*: there can be no check here, and the entry says why; surrogate data; rows
      that were not measured (capped, skipped, left out at this scale); sizes that the scale does
      not reach; or a claim on time and a row that was measured while the machine was busy.
    """
    if "untestable" in claim:
        return UNTESTED, claim["untestable"]
    if scale in claim.get("not_at", ()):
        return UNTESTED, f"the sizes of scale '{scale}' are too small for it"
    try:
        holds, measured = _checked(claim["check"], claim, frame)
    except checks.NotMeasured as reason:
        return UNTESTED, str(reason)
    if holds:
        return HOLDS, measured
    if "differs" not in claim:
        return FAILS, measured
    differs = claim["differs"]
    try:
        bounded, second = _checked(differs["check"], claim, frame)
    except checks.NotMeasured as reason:
        bounded, second = False, str(reason)
    second = "" if second == measured else f" ({second})"
    if bounded:
        return DIFFERS, f"{measured}; {differs['because']}{second}"
    return FAILS, f"{measured}; the known reason does not explain this{second}"


def _checked(entry, claim, frame):
    arguments = dict(entry)
    check, where = getattr(checks, arguments.pop("kind")), arguments.pop("where", None)
    try:
        rows = frame.query(where) if where else frame
    except pd.errors.UndefinedVariableError as error:  # known, but not at this scale
        raise checks.NotMeasured(f"the table has no such column here: {error}") from None
    value = arguments.get("value", arguments.get("ours", "ours"))
    if rows.empty:
        raise checks.NotMeasured(f"no such rows at this scale: {where or 'the table is empty'}")
    if value not in rows:
        raise checks.NotMeasured(f"the table has no column '{value}'")
    surrogates = sorted(rows.loc[rows["source"] == "surrogate", "dataset"].unique())
    if surrogates:
        raise checks.NotMeasured(_SURROGATE + ", ".join(surrogates))
    if claim.get("timing") and disturbed(check.rows_read(rows, **arguments)):
        raise checks.NotMeasured(BUSY)
    return check(rows, **arguments)


def headlines(entries: list[dict], plan: Plan) -> list[Headline]:
    """What is shown without being judged; rows that are not there are left out."""
    known = {(item.paper, item.name) for item in plan.items}
    found = []
    for entry in entries:
        paper = entry["paper"]
        if (paper, entry["item"]) not in known:
            continue
        table = read_numbers(plan.item(paper, entry["item"]))
        selected = table.query(entry["where"]).dropna(subset=[entry["theirs"], entry["ours"]])
        if len(selected):
            rows = [_headline_row(entry, row) for row in selected.to_dict("records")]
            found.append(Headline(paper, entry["item"], entry["sentence"], rows))
    return found


def _headline_row(entry, row):
    theirs = row[entry["theirs"]]
    if not isinstance(theirs, str):
        theirs = f"{format_entry(theirs)} s"
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
