"""The words of a verdict, the file that keeps the verdicts of a run, and which of them moved."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from kronbench.errors import InputError
from kronbench_suite.runner.accepted_tables import records_of, short_items
from kronbench_suite.runner.items import Plan

VERDICTS = ("holds", "undecided", "contradicted", "not tested")
HOLDS, UNDECIDED, CONTRADICTED, UNTESTED = VERDICTS

# A paper says it, or we do, or others of the field print it, whom no item of a paper shows.
PAPER, OURS, FIELD = ("paper", "ours", "field")

# What a claim speaks of: the data that were measured, which may be split or drawn again, or others
# of their kind, for which test sets stand.
THESE_DATA, NEW_DATA = ("these data", "new data")

# Why a claim is not tested whose items are not there.
NOT_RUN = "not run yet"

_COLUMNS = ["id", "paper", "item", "whose", "timing", "asks", "verdict", "cause", "measured"]


@dataclass(frozen=True)
class Move:
    """A claim whose verdict differs from the accepted run; empty texts where it had none.

    ``timed``: it rests on a clock, or on rows that one of the runs says it lacks, so that another
    machine or hour may judge otherwise.
    """

    id: str
    before: str
    now: str
    measured_before: str
    measured_now: str
    timed: bool

    def __str__(self) -> str:
        if not self.before:
            return f"{self.id}: new, {self.now} ({self.measured_now})"
        if not self.now:
            return f"{self.id}: gone, was {self.before}"
        measured = f"was: {self.measured_before}; now: {self.measured_now}"
        return f"{self.id}: {self.before} -> {self.now} ({measured})"


def read_verdicts(path: str | Path) -> pd.DataFrame:
    """Verdicts by claim id, from ``verdicts.csv`` or from the ``claims.csv`` of a run."""
    try:
        verdicts = pd.read_csv(path, keep_default_na=False)
    except ValueError as error:
        raise InputError(f"{path} is damaged: {' '.join(str(error).split())}") from None
    if lost := [column for column in _COLUMNS if column not in verdicts]:
        raise InputError(
            f"{path} lacks the column '{lost[0]}': it is from an earlier version; make its run "
            "again"
        )
    verdicts["timing"] = verdicts["timing"].astype(str) == "True"
    return verdicts[_COLUMNS].set_index("id")


def matrix(verdicts: pd.DataFrame) -> pd.DataFrame:
    """How many claims have which verdict, a row for each paper and what its claims ask of.

    Columns are the verdicts on what the papers say, or on its row what the field prints; then, as
    "12 of 13", how many claims of our own hold.
    """
    own = verdicts["whose"] == OURS
    row = [verdicts["paper"], verdicts["asks"]]
    counts = pd.crosstab([column[~own] for column in row], verdicts["verdict"][~own])
    rows = pd.MultiIndex.from_frame(verdicts[["paper", "asks"]].drop_duplicates())
    counts = counts.reindex(index=rows, columns=VERDICTS, fill_value=0).astype(object)
    held = (verdicts["verdict"] == HOLDS)[own].groupby([column[own] for column in row])
    held = held.agg(["sum", "size"]).reindex(rows, fill_value=0)
    counts["our own"] = [f"{held} of {of}" if of else "0" for held, of in held.to_numpy()]
    return counts


def moves(
    before: pd.DataFrame, now: pd.DataFrame, short_items: Collection[str] = ()
) -> list[Move]:
    """Claims that are new, gone, or have another verdict, in the order of the run.

    ``short_items`` are the items, ``<paper>/<item>``, that lack rows in either run.
    """
    differing = []
    gone = {"verdict": "", "measured": ""}
    for name in [*now.index, *before.index.difference(now.index, sort=False)]:
        old, new = (frame.loc[name] if name in frame.index else gone for frame in (before, now))
        words = old["verdict"], new["verdict"]
        if words[0] == words[1]:
            continue
        timed = False
        if all(words):  # a claim that is new or gone is a move in any case
            short = f"{new['paper']}/{new['item']}" in short_items
            timed = (old["timing"] and new["timing"]) or (short and UNTESTED in words)
        differing.append(Move(name, *words, old["measured"], new["measured"], bool(timed)))
    return differing


def moved_since_accepted(plan: Plan, verdicts: pd.DataFrame) -> list[Move] | None:
    """The moves of this run against the accepted one; None where none was ever accepted.

    Only claims on the papers of the plan are compared.
    """
    path = plan.accepted / "verdicts.csv"
    if not path.exists():
        return None
    accepted = read_verdicts(path)
    accepted = accepted[accepted["paper"].isin(list(plan.papers))]
    names = [f"{item.paper}/{item.name}" for item in plan.items]
    records = [records_of(folder, names) for folder in (plan.accepted, plan.results)]
    return moves(accepted, verdicts, short_items(*records))
