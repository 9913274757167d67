"""Work in processes of its own ends with the job that asked for it."""

import os
import subprocess
import sys
import time

import psutil
import pytest

from kronbench.runner.processes import busy_programs, fresh_process

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
        "from kronbench.runner.processes import fresh_process\n"
        "if __name__ == '__main__':\n"
        "    with fresh_process('numba') as pool:\n"
        "        pool.apply(numba.set_num_threads, (1,))\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")


def test_programs_are_busy_until_the_block_ends():
    before = _children()
    with busy_programs(2):
        programs = _children() - before
        assert len(programs) == 2
        while min(sum(program.cpu_times()[:2]) for program in programs) < 0.2:
            time.sleep(0.05)  # each has a processor, however many others want it
    assert not [program for program in programs if program.is_running()]


def test_programs_end_with_the_block_also_where_it_fails():
    before = _children()
    with pytest.raises(InterruptedError), busy_programs(1):
        (program,) = _children() - before
        raise InterruptedError
    assert not program.is_running()


BLOCKS = {
    **{
        f"fresh_process, {environment}": (
            f"fresh_process('math', environment={environment}) as pool",
            "pool.apply(int)",  # it has begun
            "pool.apply(time.sleep, (100,))",
        )
        for environment in (None, {VARIABLE: "1"})
    },
    "busy_programs": ("busy_programs(2)", "0", "time.sleep(100)"),
}


@pytest.mark.parametrize("kind", BLOCKS)
def test_processes_end_where_their_job_is_killed(kind):
    block, begun, wait = BLOCKS[kind]
    program = (
        "import time\n"
        "from kronbench.runner.processes import busy_programs, fresh_process\n"
        "if __name__ == '__main__':\n"
        f"    with {block}:\n"
        f"        print('ready', {begun}, flush=True)\n"
        f"        {wait}\n"
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


def _children():
    return set(psutil.Process().children())
