"""Verdicts: each claim of ``config/claims.yaml`` against the result tables of a run."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from kronbench.bench.items import Plan
from kronbench.errors import InputError
from kronbench.report import checks
from kronbench.report.render import read_numbers
from kronbench.resources import config_path
from kronbench.settings import read_yaml, validate

HOLDS, FAILS, DIFFERS, UNTESTED = "holds", "fails", "differs", "not tested here"


@dataclass(frozen=True)
class Verdict:
    """A claim with what became of it; ``measured`` is a number or a reason."""

    id: str
    paper: str
    place: str
    sentence: str
    item: str
    strictness: str
    verdict: str
    measured: str


def load_claims(plan: Plan) -> list[dict]:
    """The claims on the papers of a plan, checked against schema, items and known checks."""
    claims = read_yaml(config_path("claims.yaml"))
    validate(claims, "claims", "config/claims.yaml")
    items = {(item.paper, item.name) for item in plan.items}
    claims = [claim for claim in claims if claim["paper"] in plan.papers]
    for claim in claims:
        for name in (claim["item"], *claim.get("also", ())):
            if (claim["paper"], name) not in items:
                raise InputError(
                    f"config/claims.yaml: claim '{claim['id']}' reads {claim['paper']} {name}, "
                    "which is not an item"
                )
        if not hasattr(checks, claim["check"]["kind"]):
            raise InputError(
                f"config/claims.yaml: claim '{claim['id']}' names the check "
                f"'{claim['check']['kind']}', which kronbench.report.checks does not have"
            )
    return claims


def evaluate(plan: Plan) -> list[Verdict]:
    """A verdict for each claim.

    Claims on rows that were not measured (capped, skipped, left out at this scale), on sizes that
    this scale does not reach, or on surrogate data are "not tested here".
    """
    return [_evaluate(claim, _numbers(claim, plan), plan.scale) for claim in load_claims(plan)]


def _numbers(claim, plan):
    frame = read_numbers(plan.item(claim["paper"], claim["item"]))
    if "also" not in claim:
        return frame
    frames = [frame.assign(item=claim["item"])]
    for name in claim["also"]:
        frames.append(read_numbers(plan.item(claim["paper"], name)).assign(item=name))
    return pd.concat(frames, ignore_index=True)


def _evaluate(claim, frame, scale):
    check = dict(claim["check"])
    kind, where = check.pop("kind"), check.pop("where", None)
    if where:
        frame = frame.query(where)
    surrogates = sorted(frame.loc[frame["source"] == "surrogate", "dataset"].unique())
    if scale in claim.get("not_at", ()):
        verdict, measured = UNTESTED, f"the sizes of scale '{scale}' are too small for it"
    elif frame.empty:
        verdict, measured = UNTESTED, f"no such rows at this scale: {where}"
    elif surrogates:
        verdict, measured = UNTESTED, f"surrogate data: {', '.join(surrogates)}"
    else:
        verdict, measured = _judge(claim, getattr(checks, kind), frame, check)
    return Verdict(
        **{key: claim[key] for key in ("id", "paper", "place", "sentence", "item", "strictness")},
        verdict=verdict,
        measured=measured,
    )


def _judge(claim, check, frame, arguments):
    try:
        holds, measured = check(frame, **arguments)
    except checks.NotMeasured as reason:
        return UNTESTED, str(reason)
    if holds:
        return HOLDS, measured
    if "differs_because" in claim:
        return DIFFERS, f"{measured}; {claim['differs_because']}"
    return FAILS, measured
