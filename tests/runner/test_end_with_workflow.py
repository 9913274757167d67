import signal
import subprocess
import sys

import psutil
import pytest

# A workflow with a shell that waits for a job, as Snakemake has them.
JOB = (
    "import time; from kronbench_suite.runner.end_with_workflow import exit_with_parent; "
    "exit_with_parent(); "
)
WORKFLOW = """
import subprocess, sys, time
from kronbench_suite.runner.end_with_workflow import mark_jobs
if sys.argv[2] == "leads":
    mark_jobs()
subprocess.run(["bash", "-c", '"$0" -c "$1"; true', sys.executable, sys.argv[1]])
time.sleep(60)  # a workflow goes on when one of its jobs has failed
"""


@pytest.fixture
def family():
    """Starts a workflow; gives it, its shell and its job."""
    started = []

    def start(leads="leads", job=JOB):
        job += "print('ready', flush=True); time.sleep(60)"
        run = psutil.Popen(
            [sys.executable, "-c", WORKFLOW, job, leads], stdout=subprocess.PIPE, text=True
        )
        assert run.stdout.readline() == "ready\n"
        started.extend([run, *run.children(recursive=True)])
        return started

    yield start
    for process in reversed(started):
        if process.is_running():
            process.kill()
    started[0].wait(10)


@pytest.mark.parametrize("killed", [0, 1], ids=["workflow", "shell"])
def test_a_job_ends_with_its_workflow_and_with_its_shell(family, killed):
    processes = family()
    job = processes[2]
    processes[killed].send_signal(signal.SIGKILL)  # not waited for: it is a zombie
    job.wait(5)


@pytest.mark.skipif(sys.platform != "linux", reason="a signal of Linux")
def test_a_job_does_not_look_for_its_shell_to_end_with_it(family):
    seldom = "from kronbench_suite.runner import end_with_workflow as e; e._PERIOD = 100; "
    _, shell, job = family(job=seldom + JOB)
    shell.kill()
    job.wait(5)


def test_a_workflow_that_is_gone_is_named():
    """As the variable of a terminal that a workflow had opened."""
    job = "import os; from kronbench_suite.runner import end_with_workflow as e; "
    job += f"os.environ[e._VARIABLE] = '{2**22 + 1}'; e.exit_with_parent()"
    done = subprocess.run([sys.executable, "-c", job], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        f"kronbench: error: the workflow that began this command (process {2**22 + 1}) has ended; "
        "outside a workflow, unset KRONBENCH_WORKFLOW\n"
    )


def test_a_job_that_no_workflow_started_and_one_whose_workflow_runs_live_on(family):
    _, shell, alone = family(leads="")
    *_, led = family()
    shell.kill()
    for job in alone, led:
        with pytest.raises(psutil.TimeoutExpired):
            job.wait(1.5)
