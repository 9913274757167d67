"""The workflow without a shared disk: files in a store, each job in a folder of its own."""

import os
import shutil

import pytest
import yaml

from kronbench_suite.accepted.compare import compare, markdown, moved, read_run
from tests.helpers import ROOT, WITHOUT_PACKAGE, copy_checkout, merged, snakemake

PAPER = ROOT / "tests" / "paper_folder" / "aeberhard"
pytestmark = pytest.mark.workflow

# A cluster of which each node is an empty folder, and knows no mirror. As with Kubernetes a job
# gets Snakefile and configuration from the store. It is named by the folder of its node.
SUBMIT = """#!/bin/sh
node=$(mktemp -d "{nodes}/XXXXXX") && cp "$1" "$node/job.sh" && cd "$node" || exit
(KRONBENCH_MIRROR= sh ./job.sh > printed 2>&1; echo $? > status) > /dev/null 2>&1 &
echo "$node"
"""
STATUS = """#!/bin/sh
case $(cat "$1/status" 2> /dev/null) in "") echo running;; 0) echo success;; *) echo failed;; esac
"""


def test_a_paper_is_drawn_without_a_shared_disk_and_its_numbers_are_the_same(tmp_path):
    for plugin in ("snakemake_storage_plugin_fs", "snakemake_executor_plugin_cluster_generic"):
        pytest.importorskip(plugin)
    if not shutil.which("rsync"):
        pytest.skip("rsync, with which the storage provider copies, is not installed")
    here, away, nodes = (tmp_path / name for name in ("here", "away", "nodes"))
    nodes.mkdir()
    assert "page: results/small/report/index.html" in run(checkout(here), "--cores", "2")
    scripts = {"submit": SUBMIT, "status": STATUS}
    for name, text in scripts.items():
        script = tmp_path / name
        script.write_text(text.replace("{nodes}", str(nodes)))
        script.chmod(0o755)
    store = tmp_path / "store"
    printed = run(
        checkout(away),
        *("--workflow-profile", "workflow/profiles/cloud", "--executor", "cluster-generic"),
        *("--default-storage-provider", "fs", "--default-storage-prefix", str(store)),
        *(f"--cluster-generic-{name}-cmd={tmp_path / name}" for name in scripts),
    )
    assert f"results are under {store}/results/small" in printed
    assert len(list(nodes.glob("*/status"))) == 3, "compile and two measurements"
    assert list(away.glob("results/*/*")) == []
    made = {path.relative_to(here) for path in here.glob("results/**/*.*")}
    assert {path.relative_to(store) for path in store.glob("results/**/*.*")} == made
    before, now = (read_run(folder / "results" / "small") for folder in (here, store))
    found = compare(before, now)
    assert not moved(found), markdown(before, now, found)
    assert "away" not in (store / "results/small/report/summary.txt").read_text()


def checkout(folder):
    """A folder with the workflow, whose default scale is one small paper."""
    copy_checkout(folder, WITHOUT_PACKAGE)
    overrides = yaml.safe_load((PAPER / "paper.yaml").read_text())["scales"]["smoke"]
    change = {"scale": "small", "papers": {PAPER.name: overrides}}
    config = merged() | change | {"user": {"papers": [str(PAPER)]}}
    (folder / "config" / "config.yaml").write_text(yaml.safe_dump(config))
    return folder


def run(folder, *arguments):
    mirror = os.environ.get("KRONBENCH_MIRROR", "")
    done = snakemake(folder, *arguments, timeout=500, KRONBENCH_MIRROR=mirror)
    assert done.returncode == 0, done.stdout
    return done.stdout
