"""Claims and reasons name rows that an accepted run has."""

import pandas as pd
import pytest

from kronbench_suite.report import judge
from kronbench_suite.report.checks import PRINTED, wrong_numbers
from kronbench_suite.report.claim_files import load_statements, shown_by
from kronbench_suite.report.verdicts import HOLDS, UNTESTED
from kronbench_suite.runner.accepted_tables import numbers_in
from kronbench_suite.runner.plans import load_plan
from tests.helpers import ROOT, merged


def read(entry, paper, known):
    """The kept numbers that a claim or a reason reads; None where a table is not kept."""
    names = [entry["item"], *entry.get("also", ())]
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


def test_every_claim_and_every_reason_reads_numbers_of_an_accepted_run():
    plans = [load_plan(merged(scale)) for scale in (None, "smoke", "paper")]
    if not all((ROOT / plan.accepted / "verdicts.csv").exists() for plan in plans):
        pytest.skip("no run of all scales was accepted since the verdicts changed")
    runs = [(plan.scale, numbers_in(ROOT / plan.accepted)) for plan in plans]
    lost = []
    for claim in load_statements(plans[0]).claims:
        asked = [claim | claim["check"]] if "check" in claim else []
        asked += [shown_by(claim)] if "because" in claim else []
        for entry in asked:
            where, value = entry.get("where"), entry.get("value", "ours")
            at = [known for scale, known in runs if scale not in claim.get("not_at", ())]
            frames = [read(entry, claim["paper"], known) for known in at]
            kept = [frame for frame in frames if frame is not None]
            if kept and not any(has_numbers(frame, where, value) for frame in kept):
                lost.append(f"{claim['id']}: no {value} where {where}")
    assert not lost, "\n".join(lost)


@pytest.mark.parametrize("scale", [None, "paper"])
def test_printed_numbers_are_told_from_those_of_other_methods(scale, monkeypatch):
    """No tolerance reaches half way to a wrong number, and of the wrong ones few hold."""
    plan = load_plan(merged(scale))
    known = numbers_in(ROOT / plan.accepted)
    monkeypatch.setattr(judge, "read_numbers", lambda item: known[f"{item.paper}/{item.name}"])
    claims = load_statements(plan).claims
    claims = [claim for claim in claims if claim.get("check", {}).get("kind") in PRINTED]
    for claim in claims:
        check, frame = claim["check"], judge.rows_of(claim, plan)
        if judge.judge(claim, frame, plan.scale).verdict == UNTESTED:
            continue
        assert "among" in check, claim["id"]
        value = check.get("value")
        printed = f"printed {value}" if value else "paper"
        rows = frame.query(check["where"]) if "where" in check else frame
        for _, row in rows.dropna(subset=[printed]).iterrows():
            names = ("among", "by", "value", "digits")
            wrong = wrong_numbers(row, frame, **{key: check[key] for key in names if key in check})
            nearest = min((abs(number - row[printed]) for number in wrong), default=float("inf"))
            assert 2 * check.get("tolerance", 0) <= nearest * (1 + 1e-9), claim["id"]
    for kind, counts in judge.control(claims, plan).items():
        right, wrong = counts["right"], counts["wrong"]
        assert 20 * wrong[HOLDS] <= wrong.total() > 10, kind
        assert right[HOLDS] / right.total() > {"matches_printed": 0.8}.get(kind, 0.15), kind
