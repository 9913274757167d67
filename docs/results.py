"""Verdicts of the accepted paper scale: what ``results.md`` includes, made with the pages.

``python docs/results.py`` writes their table into the README.
"""

import textwrap
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from kronbench.files import read_json
from kronbench_suite.commands.figures import plan_of_scale
from kronbench_suite.report.claim_files import load_statements
from kronbench_suite.report.page import CAUSES, where_skipped
from kronbench_suite.report.verdicts import (
    CONTRADICTED,
    OURS,
    PAPER,
    UNDECIDED,
    UNTESTED,
    matrix,
    read_verdicts,
)
from kronbench_suite.runner.accepted_tables import accepted_jobs, files_of
from kronbench_suite.runner.items import measurements

PAGE = Path(__file__).parent / "reference" / "generated" / "results.md"
README = Path(__file__).parents[1] / "README.md"
# In the README the table stands between these two lines.
BEGIN, END = "<!-- verdicts: written by docs/results.py -->", "<!-- end of the verdicts -->"


def page() -> str:
    """The matrix; what the run left out; for each paper the verdicts that do not hold, and why."""
    plan = plan_of_scale("paper")
    accepted, count = len(accepted_jobs(plan)), len(measurements(plan))
    others = "" if accepted == count else " Claims on the others are not tested yet."
    parts = [
        f"{accepted} of the {count} measurements are accepted.{others}\n",
        f"{verdict_matrix(plan.accepted)}\n",
        *_left_out(plan),
    ]
    verdicts = read_verdicts(plan.accepted / "verdicts.csv")
    claims = {claim["id"]: claim for claim in load_statements(plan).claims}
    verdicts = verdicts[verdicts.index.isin(claims)]
    for paper, content in plan.papers.items():
        parts.append(f"## `{paper}`: {content['title']}\n")
        parts += _of_paper(verdicts[verdicts["paper"] == paper], claims)
    return "\n".join(parts) + "\n"


def verdict_matrix(target: Path) -> str:
    """The accepted verdicts by paper as a Markdown table, with machine and date."""
    counts = matrix(read_verdicts(target / "verdicts.csv"))
    machine = read_json(target / "machine.json")
    cpu, cores = (_spelt(machine[key]) for key in ("cpu", "cores"))
    return "\n".join(
        [
            f"| paper | applies to | {' | '.join(counts.columns)} |",
            "|---|---|" + "---|" * len(counts.columns),
            *(
                f"| `{paper}` | {asks} | {' | '.join(map(str, row))} |"
                for (paper, asks), row in counts.iterrows()
            ),
            "",
            f"Scale `{target.name}`, {machine['last'][:10]}, {cpu}, {cores} cores.",
        ]
    )


def fallen(target: Path) -> str:
    """How many claims of the papers are contradicted, and how many of them for each cause."""
    verdicts = read_verdicts(target / "verdicts.csv")
    found = verdicts[(verdicts["verdict"] == CONTRADICTED) & (verdicts["whose"] == PAPER)]
    counts = found["cause"].value_counts()
    causes = "; ".join(f"{CAUSES[cause]}, {count}" for cause, count in counts.items())
    said = f"{len(found)} claims of the papers are contradicted. The causes: {causes}."
    return textwrap.fill(said, 119)


def _spelt(value):
    return " and ".join(map(str, sorted(value))) if isinstance(value, list) else value


def with_matrix(readme: str, target: Path) -> str:
    """A README with the matrix and the causes between its two lines."""
    before, rest = readme.split(BEGIN)
    written = f"{verdict_matrix(target)}\n\n{fallen(target)}"
    return f"{before}{BEGIN}\n{written}\n{END}{rest.split(END)[1]}"


def _left_out(plan) -> Iterator[str]:
    """What jobs say that they did not run, such as a training beyond its cap."""
    said = where_skipped(
        (f"`{sidecar['paper']} {sidecar['item']}`", sidecar["skipped"])
        for sidecar in (read_json(files_of(plan, *job)[1]) for job in accepted_jobs(plan))
    )
    if said:
        yield "## What was left out\n"
        for sentence, items in said.items():
            yield f"- {_plain(sentence)} ({', '.join(items)})."
        yield ""


def _of_paper(verdicts: pd.DataFrame, claims: dict) -> Iterator[str]:
    own = verdicts["whose"] == OURS
    for verdict in (CONTRADICTED, UNDECIDED):
        for whose, chosen in (("", ~own), (", our own", own)):
            found = verdicts[chosen & (verdicts["verdict"] == verdict)]
            if len(found):
                yield f"### {verdict.capitalize()}{whose}\n"
                yield from (_line(claims[name], row) for name, row in found.iterrows())
                yield ""
    untested = verdicts.loc[verdicts["verdict"] == UNTESTED, "measured"].str.split(":").str[0]
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


if __name__ == "__main__":
    text = with_matrix(README.read_text(encoding="utf-8"), plan_of_scale("paper").accepted)
    README.write_text(text, encoding="utf-8")
