"""``docs/register.md``: from every sentence of the papers to its check and accepted verdict."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from kronbench.bench.items import Plan, load_plan
from kronbench.report.claim_files import load_statements
from kronbench.resources import checkout_path, config_path
from kronbench.runs.reference import README_SCALE
from kronbench.runs.verdicts import read_verdicts

_HEAD = """\
# From sentence to check

Written by `kronbench manual` from `config/claims/` and the accepted run of the default scale:
every testable sentence and printed number of the papers, in the order of the text. The checks are
functions of `kronbench.report.checks`. A claim that *differs* has a second check, which bounds
what was found; the page of a run gives the reason and what was measured.
"""


def accepted_register() -> str:
    """The register of this checkout, with the verdicts of its accepted run."""
    plan = load_plan(config_path("config.yaml"))
    verdicts = checkout_path("results", "reference", README_SCALE, "verdicts.csv")
    return register(load_statements(plan).claims, plan, read_verdicts(verdicts))


def register(claims: list[dict], plan: Plan, verdicts: pd.DataFrame) -> str:
    """A table for each paper, as Markdown; ``verdicts`` by id, as ``read_verdicts`` gives them."""
    parts = [_HEAD]
    for key, paper in plan.papers.items():
        entries = [claim for claim in claims if claim["paper"] == key]
        tested = sum("check" in claim for claim in entries)
        parts.append(
            f"\n## {key}: {paper['title']}\n\n"
            f"{len(entries)} sentences, {tested} of them with a check.\n\n"
            "| place | sentence | check | verdict |\n|---|---|---|---|\n"
        )
        for claim in entries:
            accepted = verdicts["verdict"].get(claim["id"], "new")
            cells = (claim["place"], claim["sentence"], _check(claim), accepted)
            parts.append(f"| {' | '.join(_cell(text) for text in cells)} |\n")
    return "".join(parts)


def _check(claim: Mapping) -> str:
    if "untestable" in claim:
        return f"none: {claim['untestable']}"
    check = claim["check"]
    arguments = ", ".join(f"{key}={value}" for key, value in check.items() if key != "kind")
    items = ", ".join((claim["item"], *claim.get("also", ())))
    return f"{items}: `{check['kind']}({arguments})`"


def _cell(text):
    return " ".join(str(text).split()).replace("|", "\\|")
