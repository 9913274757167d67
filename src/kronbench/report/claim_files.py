"""The files of claims: what they say of the papers of a run, checked before it is judged."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass

from kronbench.bench.items import Plan
from kronbench.bench.results import TIMED
from kronbench.errors import InputError
from kronbench.report import checks
from kronbench.resources import config_path
from kronbench.settings import read_yaml, validate

# Of the columns that depend on a clock, those that are no ratios.
_ABSOLUTE = re.compile(r"((our|cpu|predict|paper|test|update|wall)[ _])?seconds(, .*)?")
_RELATIVE_CHECKS = {"ratio", "scales"}


@dataclass(frozen=True)
class Statements:
    """What ``config/claims/<paper>.yaml`` says of the papers of a plan, each with its ``paper``.

    Attributes
    ----------
    claims : list of dict
        What is judged, and what could not be, in the order of the text.
    headlines : list of dict
        Numbers that are shown.
    inconsistencies : list of dict
        Where the papers contradict themselves or their data: ``place`` and ``what``.
    """

    claims: list[dict]
    headlines: list[dict]
    inconsistencies: list[dict]


def load_statements(plan: Plan) -> Statements:
    """Read the files of claims on the papers of a plan; of a paper without one nothing is said.

    Raises
    ------
    InputError
        A file breaks the schema; a claim reads no known item, has neither check nor reason, names
        no known check, reads a column of the clock without ``timing: true``, or judges absolute
        seconds.
    """
    parts = [field.name for field in dataclasses.fields(Statements)]
    statements = Statements(**{part: [] for part in parts})
    for paper in plan.papers:
        path = config_path("claims", f"{paper}.yaml")
        if not path.exists():
            continue
        content = read_yaml(path)
        validate(content, "claims", f"config/claims/{paper}.yaml")
        for part in parts:
            entries = content.get(part, [])
            getattr(statements, part).extend({"paper": paper, **entry} for entry in entries)
    seen = set()
    for claim in statements.claims:
        place = f"config/claims/{claim['paper']}.yaml: claim '{claim['id']}'"
        if claim["id"] in seen:
            raise InputError(f"{place} stands there twice; give one of them another id")
        seen.add(claim["id"])
        _check_items(place, claim, plan)
        if ("check" in claim) == ("untestable" in claim):
            raise InputError(
                f"{place} needs either a check or, under 'untestable', why there can be none here"
            )
        for judged in (claim, claim.get("differs", {})):
            if "check" in judged:
                _check_check(place, judged["check"], claim.get("timing", False))
    return statements


def _check_items(place, entry, plan):
    known = {(item.paper, item.name) for item in plan.items}
    for name in (entry["item"], *entry.get("also", ())):
        if (entry["paper"], name) not in known:
            raise InputError(f"{place} reads {entry['paper']} {name}, which is not an item")


def _check_check(place, check, timing):
    kind, value = check["kind"], check.get("value", "ours")
    if not callable(getattr(checks, kind, None)) or kind.startswith("_"):
        raise InputError(
            f"{place} names the check '{kind}', which kronbench.report.checks does not have"
        )
    if TIMED.search(value) and not timing:
        raise InputError(f"{place} reads the timed column '{value}': add 'timing: true'")
    if _ABSOLUTE.fullmatch(value) and kind not in _RELATIVE_CHECKS:
        raise InputError(
            f"{place} judges absolute seconds, which say as much of the machine as of the method: "
            f"give a ratio of one run, or move it to 'headlines'"
        )
