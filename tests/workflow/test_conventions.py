"""What Snakemake expects of a workflow: its report, use as a module."""

import functools
import re
import zipfile

import pytest
import yaml

from kronbench_suite.runner.plans import load_plan
from tests import helpers
from tests.helpers import ROOT, merged

pytestmark = pytest.mark.workflow


snakemake = functools.partial(helpers.snakemake, timeout=500)


SETTINGS = {
    **merged(),
    "scale": "small",
    "papers": {"airola": {"table-2": {"repetitions": 3, "n": 40}}},
}
OTHER_WORKFLOW = f"""
configfile: "config.yaml"


module kronbench:
    snakefile:
        "{ROOT}/Snakefile"
    config:
        config["kronbench"]


use rule * from kronbench as kronbench_*


rule ours:
    default_target: True
    input:
        "results/small/airola/table-2.csv",
    output:
        "copied.csv",
    shell:
        "cp {{input}} {{output}}"
"""


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """The folder of another workflow, which takes its settings from its own configuration."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "Snakefile").write_text(OTHER_WORKFLOW)
    (folder / "config.yaml").write_text(yaml.safe_dump({"theirs": 1, "kronbench": SETTINGS}))
    return folder


def test_another_workflow_uses_it_as_a_module_and_reports_it(elsewhere):
    run = snakemake(elsewhere, "--cores", "2")
    assert run.returncode == 0, run.stdout
    table = elsewhere / "results/small/airola/table-2.csv"
    assert (elsewhere / "copied.csv").read_bytes() == table.read_bytes()
    again = snakemake(elsewhere, "--dry-run", "--cores", "2", "ours", "kronbench_all")
    assert again.returncode == 0, again.stdout
    plan = load_plan(SETTINGS)
    for item in plan.items:
        is_due = f"draw {item.paper} {item.name}\n" in again.stdout
        assert is_due == (item.name != "table-2"), item
    assert "copied.csv" not in again.stdout

    reported = snakemake(elsewhere, "--report", "report.zip")
    assert reported.returncode == 0, reported.stdout
    assert "WARNING" not in reported.stdout, reported.stdout
    with zipfile.ZipFile(elsewhere / "report.zip") as packed:
        (page,) = [name for name in packed.namelist() if name.endswith("report.html")]
        html = packed.read(page).decode()
        (shown,) = [name for name in packed.namelist() if name.endswith("table-2.html")]
        kept = packed.read(shown)
    item = plan.item("airola", "table-2")
    assert kept == table.with_suffix(".html").read_bytes()
    for text in (item.title, item.caption.split(";")[0], plan.papers["airola"]["title"]):
        assert text in html


DEPLOYED = f"""
configfile: "config.yaml"


module kronbench:
    snakefile:
        "{ROOT}/workflow/Snakefile"
    config:
        config


use rule * from kronbench
"""


def test_the_entry_of_the_catalog_plans_the_jobs_of_the_root(tmp_path):
    """Called by name, and as the module of a deployed folder."""
    (tmp_path / "Snakefile").write_text(DEPLOYED)
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(SETTINGS))
    settings = (
        "--dry-run",
        "--cores",
        "2",
        "--configfile",
        "config.yaml",
        "--logger",
        "kronbench",
    )
    planned = []
    for entry in (ROOT / "Snakefile", ROOT / "workflow/Snakefile", "Snakefile"):
        run = snakemake(tmp_path, "--snakefile", entry, *settings)
        assert run.returncode == 0, run.stdout
        jobs = set(re.findall(r"^due: (.*?)  \(", run.stdout, re.MULTILINE))
        planned.append(jobs - {"all", "catalog"})
    assert planned[0] == planned[1] == planned[2]
    assert len(planned[0]) > len(load_plan(SETTINGS).items)
