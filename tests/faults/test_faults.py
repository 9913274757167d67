"""What breaks a run, and what the rerun makes of it; ``make faults`` kills many more."""

import contextlib
import os
import shutil
import subprocess
import time

import psutil
import pytest

from tests.faults import kills
from tests.faults.checkout import COMPILED, LOCKED, SCALE, Checkout
from tests.helpers import ROOT, WITHOUT_PACKAGE, copy_checkout

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(2700)]
in_full = pytest.mark.skipif(not os.environ.get("KRONBENCH_FAULTS"), reason="part of make faults")

ITEMS = {"stock": {"figure-1": {}, "figure-3": {}}}
OFFLINE = {"data": "surrogate"}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """The sources of all runs here, compiled code included."""
    root = tmp_path_factory.mktemp("root") / "kronbench"
    copy_checkout(root, WITHOUT_PACKAGE)
    shutil.copytree(ROOT / "src", root / "src")
    return root


@pytest.fixture(scope="module")
def calm(root, tmp_path_factory):
    """The results of a run that nothing disturbs."""
    checkout = Checkout(tmp_path_factory.mktemp("calm") / "checkout", ITEMS, OFFLINE, root=root)
    checkout.seconds = kills.run_calmly(checkout)
    return checkout


@pytest.fixture
def make(calm, root, tmp_path):
    """Makes a checkout without results, but that kernels are compiled."""

    def make(name="checkout", papers=ITEMS, settings=OFFLINE, environment=()):
        checkout = Checkout(tmp_path / str(name), papers, settings, environment, root)
        checkout.take(calm, *COMPILED)
        return checkout

    return make


def assert_as_undisturbed(checkout, calm):
    status, printed = checkout.resume()
    assert status == 0, printed
    assert list(checkout.unlike(calm, whole=True)) == []


def assert_said(checkout, sentence):
    """A run fails, and says why on one line."""
    status, printed = checkout.run()
    assert status
    assert [line for line in printed.splitlines() if sentence in line], printed
    assert "Traceback" not in printed, printed
    return printed


def test_killed_runs_are_made_whole_by_a_rerun(calm, make):
    killed = kills.Kills(calm, calm.seconds, seed=0)
    # A run whose jobs are killed may take all of the six.
    while killed.done.total() < 6 or len(killed.done) < len(kills.KINDS):
        most = max(1, 6 - killed.done.total())
        killed.one_more(make(f"killed-{killed.done.total()}"), most)
    assert killed.faults == []
    assert set(killed.done) == set(kills.KINDS)


# So that a test meets a job while Python starts, before it can know what becomes of its shell.
SLOW_START = """
import sys, time
if "kronbench" in sys.orig_argv:
    time.sleep(1.5 if "figure-3" in sys.orig_argv else 8)
"""


def test_a_job_whose_shell_dies_while_it_starts_writes_nothing(calm, make, root, tmp_path):
    """It wrote on after Snakemake had cleaned up, and then stood half for a whole item."""
    (tmp_path / "sitecustomize.py").write_text(SLOW_START)
    slow = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{root / 'src'}"}
    checkout = make(environment=slow)
    tables = "stock/tables/figure-3"
    checkout.take(calm, *(f"{SCALE}/{name}" for name in ("data", tables)))
    run = checkout.start()
    wait_for_job(run, "render stock figure-3")
    shell, job = sorted(
        (process for process in run.children(recursive=True) if "figure-3" in said_by(process)),
        key=psutil.Process.create_time,
    )[:2]
    shell.kill()
    job.wait(10)
    assert run.is_running(), "the job ended with its run, and not with its shell"
    run.kill()
    run.wait(10)
    assert not list((checkout.results / "stock").glob("*figure-3*"))


@contextlib.contextmanager
def mounted(folder, *options):
    """A file system of its own at ``folder``, while the block runs."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = subprocess.run(["mount", *options, folder], capture_output=True, text=True)
    if mount.returncode:
        pytest.skip(f"mounting is not allowed here: {mount.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@in_full
@pytest.mark.parametrize("room", [8 << 10, 100 << 10])
def test_a_full_disk_is_said_and_nothing_half_written_is_kept(calm, make, room):
    """Of the results: no log can be written, or the first tables can."""
    checkout = make()
    shutil.rmtree(checkout.results)  # the disk is an empty one
    with mounted(checkout.results, "-t", "tmpfs", "-o", f"size={room}", "tmpfs"):
        printed = assert_said(checkout, "is full: make room on it, then run the same command")
        assert "FAILED: " in printed
        assert list(checkout.unlike(calm, whole=False)) == []
        subprocess.run(
            ["mount", "-o", "remount,size=64m", checkout.results], check=True, capture_output=True
        )
        assert_as_undisturbed(checkout, calm)


@in_full
@pytest.mark.parametrize("room", [0, 2 << 20])
def test_a_full_disk_of_everything_is_said(calm, make, tmp_path, room):
    """Snakemake's own notes included: before a run begins, or while its first job is at work."""
    with mounted(tmp_path / "checkout", "-t", "tmpfs", "-o", "size=64m", "tmpfs"):
        checkout = make("checkout")
        ballast = checkout.folder / "ballast"
        ballast.write_bytes(bytes(shutil.disk_usage(checkout.folder).free - room))
        run = checkout.start()
        if room:
            wait_for_job(run)
            with ballast.open("ab") as stream, contextlib.suppress(OSError):
                stream.write(bytes(room))
        assert run.wait(1200)
        said = "make room on it, then run the same command again"
        assert said in checkout.printed, checkout.printed
        assert len(checkout.printed.splitlines()) < 20, checkout.printed
        ballast.unlink()
        assert_as_undisturbed(checkout, calm)


def wait_for_job(run, command="-m kronbench"):
    """Until a shell waits for the job with this command."""
    while sum(command in said_by(process) for process in run.children(recursive=True)) < 2:
        assert run.is_running()
        time.sleep(0.01)


def said_by(process):
    """The command of a process; nothing where it has ended."""
    with contextlib.suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""


@in_full
def test_results_that_cannot_be_written_are_said(calm, make):
    checkout = make()
    with mounted(checkout.results, "-t", "tmpfs", "-o", "ro", "tmpfs"):
        assert_said(checkout, f"{SCALE}/config.yaml: Read-only file system")
    assert_as_undisturbed(checkout, calm)


@in_full
def test_a_job_without_memory_is_named_with_what_to_do(make):
    checkout = make(papers={"airola": {"table-2": {"repetitions": 3, "n": 10**13}}})
    status, printed = checkout.run()
    assert status
    assert "FAILED: airola table-2: all" in printed
    assert "kronbench: error: 'run airola table-2 all" in printed
    assert "ran out of memory (Unable to allocate" in printed
    assert "(--cores 1), or make the item smaller" in printed


def test_the_second_run_in_a_folder_is_refused_and_the_first_one_is_right(calm, make):
    checkout = make()
    first = checkout.start()
    while not (checkout.results / "config.yaml").exists():
        assert first.is_running(), checkout.printed
        time.sleep(0.1)
    # Settings of the second run must not reach the jobs of the first.
    assert checkout.start("--config", "seed=1", printed="second.txt").wait(1200)
    assert LOCKED in checkout.printed_to("second.txt")
    assert first.wait(1200) == 0
    assert list(checkout.unlike(calm, whole=True)) == []
