"""Work in processes of its own ends with the job that asked for it."""

import os
import subprocess
import sys
import time

import psutil
import pytest

from kronbench.bench.processes import one_process


@pytest.mark.parametrize("afresh", [False, True])
def test_the_process_is_another_with_its_initializer(afresh):
    with one_process("math", afresh=afresh, initializer=os.nice, initargs=(1,)) as pool:
        assert pool.apply(os.getpid) != os.getpid()
        assert pool.apply(os.nice, (0,)) == os.nice(0) + 1


@pytest.mark.parametrize("afresh", [False, True])
def test_it_ends_where_its_job_is_killed(afresh):
    program = (
        "import time\n"
        "from kronbench.bench.processes import one_process\n"
        "if __name__ == '__main__':\n"
        f"    with one_process('math', afresh={afresh}) as pool:\n"
        "        print('ready', pool.apply(int), flush=True)\n"
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
