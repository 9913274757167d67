"""Products leave the settings of their host as they found them."""

import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from kronbench.linalg.gemm import multiply, one_blas_thread
from kronbench.linalg.threads import in_threads, processors

# In a process of its own: pytest's has other limits and has imported everything
_HOST = """
import json, os, sys
import numba, numpy as np, scipy.linalg, sklearn.metrics
from threadpoolctl import threadpool_info, threadpool_limits

def settings():
    pools = {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()}
    return dict(os.environ), pools, numba.get_num_threads()

numba.set_num_threads(3)
threadpool_limits(2)
before = settings()
import kronbench
from kronbench.pairs import SampledKroneckerOperator
imported = settings()
rng = np.random.default_rng(0)
n = 700
A = np.exp(-0.001 * (np.arange(n)[:, None] - np.arange(n)) ** 2)
rows, cols = np.nonzero(rng.random((n, n)) < 0.25)
found = {"imported": imported}

for method in ("sparse", "dense", "lowrank"):
    operator = SampledKroneckerOperator(A, A, rows, cols, method=method)
    operator @ np.ones(len(rows))
    found[method] = settings()
def changes(after):
    environment, pools, threads = after
    return {
        "environment": sorted(set(environment.items()) ^ set(before[0].items())),
        "pools": [path for path in before[1] if pools[path] != before[1][path]],
        "numba": threads - before[2],
    }

json.dump({name: changes(after) for name, after in found.items()}, sys.stdout)
"""


def test_imports_and_products_change_no_setting_of_their_host(monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", "4")
    for name in ("OMP_WAIT_POLICY", "OPENBLAS_THREAD_TIMEOUT"):
        monkeypatch.delenv(name, raising=False)
    run = subprocess.run([sys.executable, "-c", _HOST], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    moments = ["imported", "sparse", "dense", "lowrank"]
    assert list(found) == moments
    unchanged = {"environment": [], "pools": [], "numba": 0}
    assert found == dict.fromkeys(moments, unchanged)


@pytest.mark.parametrize(
    ("quota", "share"),
    [("50000 100000", 1), ("150000 100000", 1), ("100000000 100000", None), ("max 100000", None)],
)
def test_a_container_keeps_to_its_quota_of_processors(tmp_path, quota, share):
    file = tmp_path / "cpu.max"
    file.write_text(quota + "\n")
    every = processors(tmp_path / "nowhere")
    assert processors(file) == min(every, share or every)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")
def test_threads_beyond_the_processors_are_not_used(monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", "8")
    program = """
import os
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
import numba
from kronbench.linalg.threads import at_most_threads
with at_most_threads(1e9):
    print(numba.get_num_threads())
print(numba.get_num_threads())
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout.split() == ["1", "8"], run.stderr


def blas_threads():
    return max(p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas")


def test_threads_that_overlap_in_the_limit_leave_what_was_there():
    with threadpool_limits(2, user_api="blas"):
        first_is_out, second_is_in = threading.Event(), threading.Event()
        seen = []

        def second():
            with one_blas_thread:
                second_is_in.set()
                first_is_out.wait()
                seen.append(blas_threads())

        thread = threading.Thread(target=second)
        with one_blas_thread:
            thread.start()
            second_is_in.wait()
        first_is_out.set()
        thread.join()
        assert seen == [1]
        assert blas_threads() == 2


def test_a_thread_that_was_in_the_limit_leaves_others_the_right_to_set_one():
    def enter():
        with one_blas_thread:
            return blas_threads()

    with ThreadPoolExecutor(1) as pool, threadpool_limits(2, user_api="blas"):
        assert pool.submit(enter).result() == 1
        with threadpool_limits(1, user_api="blas"):  # while that thread lives
            assert blas_threads() == 1
        assert blas_threads() == 2


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="numba has one thread")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(240, 200, 220), (1, 3000, 3600), (3600, 3000, 1), (7, 0, 5)])
def test_products_of_matrices_are_those_of_numpy(rng, request, dtype, shape):
    request.addfinalizer(lambda: numba.set_num_threads(1))
    m, k, n = shape
    a, b = (rng.standard_normal(size).astype(dtype) for size in ((m, k), (k, n)))
    expected = a.astype(float) @ b.astype(float)
    tolerance = 8 * np.finfo(dtype).eps * (k + 1)
    whole = np.full((m, n + 2), 7, dtype)
    for n_threads in (1, 2):
        numba.set_num_threads(n_threads)
        with threadpool_limits(2, user_api="blas"):
            products = [multiply(first, b) for first in (a, np.asfortranarray(a))]
            multiply(a, b, out=whole[:, :n])
        for product in (*products, whole[:, :n]):
            assert product.dtype == dtype
            np.testing.assert_allclose(product, expected, rtol=0, atol=tolerance)
        assert (whole[:, n:] == 7).all()


_FORKED = """
import os, signal
import numba, numpy as np
from kronbench.linalg import multiply
numba.set_num_threads(2)
a = np.ones((300, 300))
multiply(a, a)  # its threads are not in the copy
child = os.fork()
if child == 0:
    signal.alarm(20)
    os._exit(0 if (multiply(a, a) == 300).all() else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that copies processes")
def test_a_copy_of_a_process_multiplies(monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", "2")
    run = subprocess.run([sys.executable, "-c", _FORKED], capture_output=True, text=True)
    assert run.stdout.split() == ["0"], run.stderr


def test_each_task_is_done_and_an_error_is_told():
    done = []
    in_threads(done.append, 5)
    assert sorted(done) == list(range(5))
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda k: 1 // (k - 3), 4)
