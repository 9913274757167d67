# The plan of this run, checked before any job is made.

import os
import re
import shutil
import sys
from pathlib import Path

from kronbench.datasets import describe
from kronbench.errors import InputError
from kronbench.files import os_error_advice
from kronbench_suite.runner.accepted_tables import cost, memory_mb, minutes
from kronbench_suite.runner.plans import check_scale, load_plan
from kronbench_suite.runner.end_with_workflow import mark_jobs
from kronbench_suite.runner.provenance import (
    data_digest,
    plot_digest,
    page_digest,
    table_digests,
)

# Snakemake itself says this in hundreds of lines.
if shutil.disk_usage(".").free < 1 << 20:
    raise WorkflowError(
        f"less than 1 MiB is free on the disk of {Path.cwd()}: make room on it, then run the "
        "same command again"
    )

where = ""
try:
    PLAN = load_plan(config)
    check_scale(PLAN)
    for item in PLAN.items:
        where = f"{item.paper} {item.name}: "
        for name in item.datasets:
            describe(name)
except InputError as error:
    raise WorkflowError(f"{where}{error}") from None


def check_claims():
    """Read the claims: one that cannot be judged ends the run here, not after its jobs."""
    from kronbench_suite.report.claim_files import load_statements

    try:
        load_statements(PLAN)
    except InputError as error:
        raise WorkflowError(str(error)) from None


def save_settings():
    """Write them for commands that are typed. No job of another run reads them."""
    if any(job.rule.name == "settings" for job in workflow.dag.needrun_jobs()):
        return  # Snakemake warns of an output that is there before its job
    try:
        PLAN.save()
    except OSError as error:
        raise WorkflowError(os_error_advice(error) or error) from None


mark_jobs()
# Jobs call the Python that runs Snakemake, in an active environment or not; one that Snakemake
# makes for them (workflow/envs) comes before it.
os.environ.update(
    PATH=os.pathsep.join(
        [os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)]
    )
)


# Of a timed job. A cluster may be told no cores (--jobs alone): there as in the accepted runs.
THREADS = workflow.resource_settings.cores or 2

# The priority of what experiments wait for; theirs are their seconds.
FIRST = 1_000_000


def any_of(names):
    return "(?:" + "|".join(map(re.escape, sorted(names))) + ")"


PAPERS = any_of(PLAN.papers)


wildcard_constraints:
    paper=PAPERS,
    item=any_of({item.name for item in PLAN.items}),
    part="[^/]+",
    name="[^/]+",


# What jobs are told of the configuration, and where results/<scale> lies: in this folder, or with a
# storage provider in a copy of the store. Snakemake does not remember of a job what it makes of
# `output`; what can change a number is in `made_from`.
def settings(wildcards, output):
    named = hasattr(wildcards, "item")
    return PLAN.settings_of(item_of(wildcards) if named else None)


def results(wildcards, output):
    place, folder, _ = str(output[0]).rpartition(f"{PLAN.results}/")
    return place + folder


def item_of(wildcards):
    return PLAN.item(wildcards.paper, wildcards.item)


def prepared(wildcards):
    """The data set of a job; none where the item needs none."""
    if not item_of(wildcards).datasets:
        return []
    folder = PLAN.data_folder(wildcards.part)
    return [folder / "data.npz", folder / "provenance.json"]


def rendered(items):
    return [item.output(suffix) for item in items for suffix in item.kinds]


def paper_of(wildcards):
    return PLAN.papers[wildcards.paper]["title"]


def labels_of(wildcards):
    item = item_of(wildcards)
    return {"item": item.name, "title": item.title}


def caption_of(wildcards, output):
    """The caption of an item, its signs of reStructuredText taken as they stand.

    What depends on ``output`` is not among the settings that Snakemake remembers: other words make
    no figure and no table stale.
    """
    return re.sub(r"([\\*`|_])", r"\\\1", item_of(wildcards).caption)
