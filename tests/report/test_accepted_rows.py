"""Claims and reasons name rows that an accepted run has."""

import pandas as pd
import pytest

from kronbench_suite.report.claim_files import load_statements, shown_by
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
