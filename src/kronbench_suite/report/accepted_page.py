"""Pictures, tables and pages of an accepted run, without data and without measuring."""

from __future__ import annotations

import shutil
from concurrent.futures import ProcessPoolExecutor

from kronbench.errors import InputError
from kronbench_suite.report.page import write_report
from kronbench_suite.report.render import render
from kronbench_suite.runner.accepted_tables import accepted_jobs, accepted_text, files_of
from kronbench_suite.runner.items import Item, Plan


def draw_accepted(plan: Plan) -> str:
    """Draw what was accepted of a scale into ``results/accepted-<scale>``; returns the summary.

    Items of which a table is not accepted are named as missing.
    """
    plan = plan.of_accepted()
    # The tables and sidecars are put where a run would have them.
    jobs = accepted_jobs(plan)
    if not jobs:
        raise InputError(f"{plan.accepted} has no result tables: no such run was accepted yet")
    shutil.rmtree(plan.results, ignore_errors=True)
    for item, part in jobs:
        table, record = files_of(plan, item, part)
        made = item.table(part)
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(accepted_text(table), encoding="utf-8", newline="")
        shutil.copy(record, made.with_suffix(".json"))
    # Items of measurements first, since the others take the numbers that these show.
    measured = [item for item in plan.items if not item.numbers_of]
    gathered = [item for item in plan.items if item.numbers_of]
    failures = []
    with ProcessPoolExecutor() as pool:
        for items in (measured, gathered):
            ready = [item for item in items if all(file.exists() for file in item.drawn_from)]
            failures += filter(None, pool.map(_drawn, ready))
        return "\n".join([write_report(plan, pool.map), *failures])


def _drawn(item: Item) -> str:
    """Draw an item; why it cannot be drawn, else an empty text."""
    try:
        render(item)
    except Exception as error:  # tables of an earlier version: the others are drawn all the same
        return f"{item.paper} {item.name} cannot be drawn: {type(error).__name__}: {error}"
    return ""
