"""Work in processes of its own ends with the job that asked for it."""

import os
import subprocess
import sys
import time

import psutil
import pytest

from kronbench_suite.runner.processes import fresh_process

VARIABLE = "KRONBENCH_TEST_OF_PROCESSES"
both_kinds = pytest.mark.parametrize("environment", [None, {VARIABLE: "1"}])


@both_kinds
def test_the_process_is_another_with_its_initializer(environment):
    with fresh_process(
        "math", environment=environment, initializer=os.nice, initargs=(1,)
    ) as pool:
        assert pool.apply(os.getpid) != os.getpid()
        assert pool.apply(os.nice, (0,)) == os.nice(0) + 1


def test_an_environment_is_that_of_the_process_alone(monkeypatch):
    monkeypatch.setenv(VARIABLE, "0")
    with fresh_process("math", environment={VARIABLE: "1", VARIABLE + "_NEW": "2"}) as pool:
        assert os.environ[VARIABLE] == "0"
        assert VARIABLE + "_NEW" not in os.environ
        assert pool.apply(os.getenv, (VARIABLE,)) == "1"
        assert pool.apply(os.getenv, (VARIABLE + "_NEW",)) == "2"


def test_nothing_is_left_of_the_threads_of_numba():
    program = (
        "import numba\n"
        "from kronbench_suite.runner.processes import fresh_process\n"
        "if __name__ == '__main__':\n"
        "    with fresh_process('numba') as pool:\n"
        "        pool.apply(numba.set_num_threads, (1,))\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")


@both_kinds
def test_processes_end_where_their_job_is_killed(environment):
    program = (
        "import time\n"
        "from kronbench_suite.runner.processes import fresh_process\n"
        "if __name__ == '__main__':\n"
        f"    with fresh_process('math', environment={environment}) as pool:\n"
        "        print('ready', pool.apply(int), flush=True)\n"  # it has begun
        "        pool.apply(time.sleep, (100,))\n"
    )
    job = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert job.stdout.readline() == "ready 0\n"
    started = psutil.Process(job.pid).children(recursive=True)
    assert started
    job.kill()
    job.wait()
    deadline = time.monotonic() + 30
    while any(process.is_running() for process in started) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not [process for process in started if process.is_running()]
