"""Claims and reasons name rows that an accepted run has."""

import functools

import pandas as pd
import pytest

from kronbench.reference.accepted import numbers_in
from kronbench.report.claim_files import load_statements, shown_by
from kronbench.runner.items import load_plan
from tests.helpers import ROOT, merged


def accepted(scale):
    """The plan of a scale and the folder of its accepted run, if there is one."""
    plan = load_plan(merged(scale))
    return plan, ROOT / plan.accepted


@functools.cache
def _numbers_in(folder):
    return numbers_in(folder)


def read(entry, paper, folder):
    """The kept numbers that a claim or a reason reads; None where a table is not kept."""
    names = [entry["item"], *entry.get("also", ())]
    known = _numbers_in(folder)
    if entry.get("reads") == "measurements" or not known.keys() >= {f"{paper}/{n}" for n in names}:
        return None
    frames = [known[f"{paper}/{name}"].assign(item=name) for name in names]
    return pd.concat(frames, ignore_index=True)


def has_numbers(frame, where, value):
    """Whether the rows of a query have a number in a column."""
    try:
        rows = frame.query(where) if where else frame
    except pd.errors.UndefinedVariableError:
        return False
    return value in rows and bool(rows[value].notna().any())


def asked(claim):
    """What is read: the claim's check, and the rows of its reason."""
    if "check" in claim:
        check = claim["check"]
        yield "check", claim, check.get("where"), check.get("value", "ours")
    if "because" in claim:
        entry = shown_by(claim)
        yield "reason", entry, entry["where"], entry["value"]


def without_rows(claims, runs):
    """Checks and reasons whose tables are kept at some scale, and have their rows at none.

    ``runs`` are plans with the folders of their accepted tables.
    """
    for claim in claims:
        for what, entry, where, value in asked(claim):
            frames = [
                read(entry, claim["paper"], folder)
                for plan, folder in runs
                if plan.scale not in claim.get("not_at", ())
            ]
            kept = [frame for frame in frames if frame is not None]
            if kept and not any(has_numbers(frame, where, value) for frame in kept):
                yield f"{claim['id']}, its {what}: no {value} where {where}"


def test_every_claim_and_every_reason_reads_numbers_of_an_accepted_run():
    runs = [accepted(scale) for scale in (None, "smoke", "paper")]
    if not all((folder / "verdicts.csv").exists() for _, folder in runs):
        pytest.skip("no run of all scales was accepted since the verdicts changed")
    lost = list(without_rows(load_statements(runs[0][0]).claims, runs))
    assert not lost, "\n".join(lost)
