"""Parts of an accepted run in a fresh checkout: which count as made, by dry runs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kronbench.reference.accepted import files_of, packed
from kronbench.runner.items import load_plan, measurements
from kronbench.runner.provenance import data_digest, table_digests
from tests import helpers
from tests.helpers import merged

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.workflow
PLAN = load_plan(merged("smoke"))
# The second experiment imports the first, which is edited.
EDITED = (("airola", "scaling"),)
ALL = {(item.paper, item.name, part) for item, part in measurements(PLAN)}


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A checkout without results and data, in which each part is accepted."""
    folder = tmp_path_factory.mktemp("checkout")
    helpers.copy_checkout(folder)
    for item, part in measurements(PLAN):
        table, record = (folder / file for file in files_of(PLAN, item, part))
        table.parent.mkdir(parents=True, exist_ok=True)
        table.write_bytes(packed("dataset,n\nKi,1\n"))
        made = table_digests(item) | {"data": data_digest(part) if item.datasets else ""}
        data = {"source": "mirror"} if item.datasets else None
        record.write_text(json.dumps({"made_from": made, "data": data}))
    return folder


def due(folder):
    """What a run would measure, and what it would take from the accepted one."""
    jobs = helpers.due(folder, "--config", "parts=accepted")
    taken = named(*ALL)
    return jobs & taken, {
        job.removeprefix("accepted ") for job in jobs - taken if "accepted " in job
    }


def named(*jobs):
    return {f"{paper} {item}: {part}" for paper, item, part in jobs}


def test_all_parts_count_in_a_fresh_checkout_and_need_no_data(fresh):
    assert due(fresh) == (set(), named(*ALL))


def test_a_deleted_table_and_an_edited_source_make_exactly_their_parts_due(fresh):
    gone = PLAN.item("airola", "figure-3")
    table = fresh / files_of(PLAN, gone, gone.parts[0])[0]
    source = fresh / "src/kronbench/papers/airola/measure/scaling.py"
    content, text = table.read_bytes(), source.read_text()
    table.unlink()
    source.write_text(text + "\nassert True  # what every import runs\n")
    try:
        lost = {("airola", "figure-3", gone.parts[0])} | {
            (item.paper, item.name, part)
            for item, part in measurements(PLAN)
            if (item.paper, item.experiment) in EDITED
        }
        assert due(fresh) == (named(*lost), named(*ALL - lost))
    finally:
        table.write_bytes(content)
        source.write_text(text)


def test_the_accepted_smoke_run_is_drawn_without_data(tmp_path):
    """By the program of today; two papers, since the smoke run draws every item."""
    if not any((ROOT / PLAN.accepted).glob("*/tables")):
        pytest.skip("no smoke run was accepted with its tables")
    papers = ("bach", "stock")
    folder = tmp_path / PLAN.accepted
    folder.mkdir(parents=True)
    for name in (*papers, "items.json", "machine.json", "verdicts.csv"):
        (folder / name).symlink_to(ROOT / PLAN.accepted / name)
    run = subprocess.run(
        [sys.executable, "-m", "kronbench", "page", "--scale", "smoke"],
        cwd=tmp_path,
        env={**os.environ, "KRONBENCH_MIRROR": "", "KRONBENCH_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr
    drawn = [item for item in PLAN.items if item.paper in papers]
    assert f"{len(drawn)} items rendered at scale 'smoke'" in run.stdout
    assert "nothing was measured here" in run.stdout
    assert (tmp_path / "results/accepted-smoke/report/index.html").exists()
    assert not (tmp_path / "cache").exists()
