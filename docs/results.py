"""What ``results.md`` includes: verdicts of the accepted paper scale, made with the pages."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from kronbench.bench.items import measurements
from kronbench.report.claim_files import load_statements
from kronbench.runs.accepted import files_of
from kronbench.runs.figures import plan_of_scale
from kronbench.runs.verdicts import (
    CONTRADICTED,
    EVIDENCE,
    HOLDS,
    OURS,
    UNDECIDED,
    UNTESTED,
    VERDICTS,
    read_verdicts,
)
from kronbench.settings import read_yaml

PAGE = Path(__file__).parent / "reference" / "generated" / "results.md"

_HEAD = """\
{accepted} of the {parts} measurements are accepted; claims on the others are not tested yet.
"""


def page() -> str:
    """Counts for each paper; what is contradicted or undecided; why the rest is not tested."""
    plan = plan_of_scale("paper")
    jobs = measurements(plan)
    accepted = sum(all(file.exists() for file in files_of(plan, *job)) for job in jobs)
    verdicts = read_verdicts(plan.accepted / "verdicts.csv")
    claims = {claim["id"]: claim for claim in load_statements(plan).claims}
    verdicts = verdicts[verdicts["kind"] == EVIDENCE].loc[lambda rows: rows.index.isin(claims)]
    parts = [_HEAD.format(accepted=accepted, parts=len(jobs))]
    for paper in plan.papers:
        parts += _of_paper(paper, verdicts[verdicts["paper"] == paper], claims)
    return "\n".join(parts) + "\n"


def _of_paper(paper: str, verdicts: pd.DataFrame, claims: dict) -> Iterator[str]:
    title = read_yaml(Path(__file__).parents[1] / "config" / "papers" / f"{paper}.yaml")["title"]
    yield f"## `{paper}`: {title}\n"
    theirs = verdicts[verdicts["whose"] != OURS]
    own = verdicts[verdicts["whose"] == OURS]
    counts = [f"{verdict} {(theirs['verdict'] == verdict).sum()}" for verdict in VERDICTS]
    if len(theirs):
        yield f"Claims: {', '.join(counts)}.\n"
    if len(own):
        yield f"Of our own claims {(own['verdict'] == HOLDS).sum()} of {len(own)} hold.\n"
    for verdict in (CONTRADICTED, UNDECIDED):
        for rows, whose in ((theirs, ""), (own, ", our own")):
            found = rows[rows["verdict"] == verdict]
            if len(found):
                yield f"### {verdict.capitalize()}{whose}\n"
                yield from (_line(claims[name], row) for name, row in found.iterrows())
                yield ""
    untested = verdicts.loc[verdicts["verdict"] == UNTESTED, "measured"].str.partition(":")[0]
    if len(untested):
        reasons = untested.value_counts()
        said = (f"{_plain(reason)} ({count})" for reason, count in reasons.items())
        yield f"### Not tested\n\n{'; '.join(said)}.\n"


def _line(claim, row):
    place = f"{claim['place']}, `{row['paper']} {row['item']}`"
    return f"- *{_plain(claim['sentence'])}* ({place}). Measured: {_plain(row['measured'])}."


def _plain(text):
    """One line of text in which Markdown finds no marks."""
    for mark in "\\*_`<[$|":
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())
