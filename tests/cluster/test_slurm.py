"""The profile on a real SLURM: what reaches sbatch, what is tried again, equal results."""

import os
import shutil
import signal
import threading
import time
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import psutil
import pytest

from kronbench.bench.columns import columns_measured
from kronbench.bench.items import load_plan
from kronbench.runs.costs import ABOVE_MIB, cost, memory_mb, minutes
from tests import helpers
from tests.cluster.private_slurm import CPUS, jobs, private_slurm, why_not
from tests.helpers import merged

ROOT = Path(__file__).parents[2]
PROFILE = Path("workflow/profiles/slurm")
PLUGIN = "snakemake_executor_plugin_slurm"
REASON = why_not() or (
    None if find_spec(PLUGIN) else f"{PLUGIN} is missing: make cluster installs it"
)
pytestmark = [
    pytest.mark.workflow,
    pytest.mark.timeout(3300),
    pytest.mark.skipif(REASON is not None, reason=str(REASON)),
]

PLAN = load_plan(merged("smoke"))
PLAIN = [("airola", "table-2", "all"), ("stock", "figure-3", "nr")]
KILLED = ("airola", "figure-5", "GPCR")
TOO_LARGE = ("airola", "figure-3", "GPCR")
TIMED = ("airola", "table-3", "all")
MEASURED = [*PLAIN, KILLED, TOO_LARGE, TIMED]
DRAWN = Path("results/smoke/stock/figure-3.csv")
ITEMS = [PLAN.item(paper, item) for paper, item, _ in MEASURED]
TABLES = [item.table(job[-1]) for item, job in zip(ITEMS, MEASURED, strict=True)]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the checkout, compiled kernels included, that underrates the memory of a job."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copy(ROOT / "Snakefile", folder)
    for name in ("workflow", "config", "src"):
        shutil.copytree(ROOT / name, folder / name)  # with dates, which numba's cache looks at
    (folder / "profiles").symlink_to("workflow/profiles")
    assert (folder / PROFILE / "config.yaml").exists(), "Snakemake passes over a missing profile"
    costs = pd.read_csv(folder / "config" / "costs.csv")
    job = (costs[["scale", "paper", "item", "part"]] == ["smoke", *TOO_LARGE]).all(axis=1)
    assert job.sum() == 1
    # Nothing beside what the Snakemakes above it take: the first request is too small.
    costs.loc[job, "peak_mib"] = 0
    costs.to_csv(folder / "config" / "costs.csv", index=False)
    return folder


def snakemake(folder, *arguments):
    """The smoke tables, from surrogates: the network is not asked for."""
    smoke = ("--configfile", "config/smoke.yaml", "--config", "data=surrogate")
    sources = os.pathsep.join([str(folder / "src"), os.environ.get("PYTHONPATH", "")])
    run = helpers.snakemake(
        folder,
        *arguments,
        *smoke,
        "--",
        *map(str, [*TABLES, DRAWN]),
        sources=sources,
        timeout=1400,
    )
    assert run.returncode == 0, run.stdout
    return run


@pytest.fixture(scope="module")
def local(checkout):
    """Results without a cluster."""
    snakemake(checkout, "--cores", "2")
    return (checkout / "results").rename(checkout / "results-local")


@pytest.fixture(scope="module")
def submitted(checkout, local, tmp_path_factory):
    """What SLURM knows of each job of the same run on the cluster, by the wildcards of its rule.

    The process of one job is killed once, while it measures.
    """
    quick = ("--latency-wait", "5", "--slurm-init-seconds-before-status-checks", "2")
    with private_slurm(tmp_path_factory.mktemp("slurm")), _killer(checkout) as killed:
        snakemake(checkout, "--workflow-profile", str(PROFILE), *quick)
        found = {}
        for job in sorted(jobs(), key=lambda job: int(job["JobId"])):
            found.setdefault(job.get("Comment", ""), []).append(job)
    assert killed == [KILLED]
    return found


class _killer:
    """Kills the process of ``KILLED`` once; says so in the list that it gives."""

    def __init__(self, folder):
        self._folder, self._done, self.killed = folder, threading.Event(), []
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self.killed

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()

    def _watch(self):
        while not self._done.is_set():
            for process in psutil.process_iter(["cmdline", "cwd"]):
                words = process.info["cmdline"] or []
                if (
                    words[1:4] == ["-m", "kronbench", "run"]
                    and tuple(words[4:7]) == KILLED
                    and process.info["cwd"] == str(self._folder)
                ):
                    process.send_signal(signal.SIGKILL)
                    self.killed.append(KILLED)
                    return
            time.sleep(0.05)


def of(submitted, paper, item, part):
    """The jobs of one measurement, its attempts in order."""
    (name,) = [name for name in submitted if name.endswith(f"_{paper}_{item}_{part}")]
    return submitted[name]


def megabytes(text):
    return round(float(text[:-1]) * {"M": 1, "G": 1024}[text[-1]])


def limit(job):
    """Minutes from ``[days-]hours:minutes:seconds``."""
    days, _, clock = job["TimeLimit"].rpartition("-")
    hours, mins, _ = map(int, clock.split(":"))
    return (24 * int(days or 0) + hours) * 60 + mins


@pytest.mark.parametrize("job", MEASURED, ids=" ".join)
def test_jobs_reach_sbatch_with_their_resources(submitted, job):
    paper, name, part = job
    item = PLAN.item(paper, name)
    assert cost(item, part).basis == "measured"
    for attempt, seen in enumerate(of(submitted, *job), start=1):
        assert seen["CPUs/Task"] == ("2" if item.timed else "1")
        assert limit(seen) == minutes(item, part, attempt)
        if job == TOO_LARGE:
            assert megabytes(seen["MinMemoryNode"]) == ABOVE_MIB * 2 ** (attempt - 1)
        else:
            assert megabytes(seen["MinMemoryNode"]) == memory_mb(item, part, attempt)


def test_a_timed_job_has_its_node_for_itself(submitted):
    (timed,) = of(submitted, *TIMED)
    assert timed["OverSubscribe"] == "NO"
    assert int(timed["NumCPUs"]) == CPUS
    for other in PLAIN:
        (seen,) = of(submitted, *other)
        assert seen["OverSubscribe"] == "OK"
        assert int(seen["NumCPUs"]) == 1


def test_what_takes_seconds_or_the_network_stays_beside_snakemake(submitted, checkout):
    assert (checkout / DRAWN).exists()
    assert (checkout / "results/smoke/data/gpcr/data.npz").exists()
    assert len(submitted) == len(MEASURED) + 1  # and the kernels
    assert not [name for name in submitted if "dataset" in name or "render" in name]


def test_a_killed_job_is_tried_again(submitted):
    first, second = of(submitted, *KILLED)
    assert first["JobState"] == "FAILED"
    assert second["JobState"] == "COMPLETED"


def test_a_job_over_its_memory_is_tried_again_with_more(submitted):
    *over, last = of(submitted, *TOO_LARGE)
    assert over
    assert {job["JobState"] for job in over} <= {"FAILED", "OUT_OF_MEMORY", "CANCELLED"}
    assert last["JobState"] == "COMPLETED"
    assert megabytes(last["MinMemoryNode"]) > megabytes(over[0]["MinMemoryNode"])


@pytest.mark.parametrize(("item", "table"), zip(ITEMS, TABLES, strict=True))
def test_results_equal_those_without_a_cluster(checkout, local, submitted, item, table):
    here, there = (
        pd.read_csv(folder / table.relative_to("results"))
        for folder in (local, checkout / "results")
    )
    assert list(here) == list(there)
    columns = columns_measured(item)
    machine = {*columns.timed, *columns.conditions} - {"source"}
    untimed = [column for column in here if column not in machine]
    assert untimed
    pd.testing.assert_frame_equal(here[untimed], there[untimed], check_exact=True)
