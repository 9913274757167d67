"""Products of matrices by the BLAS, on as many threads as numba's loops have.

The threads of a BLAS spin for milliseconds after each product, and take the processors from the
loops over pairs that follow. Here each thread of a pool, which sleeps meanwhile, calls the BLAS
for a part of the result, and the BLAS uses no threads of its own.
"""

from __future__ import annotations

import functools
import itertools
import threading

import numba
import numpy as np
from threadpoolctl import ThreadpoolController

from kronbench.linalg.threads import WORTH_A_THREAD, at_most_threads, in_threads

# Rows and columns of a part are multiples of this: the kernels of a BLAS are slower at edges.
_STEP = 16


class _OneThread:
    """Context in which the BLAS uses the calling thread alone; threads may enter it together.

    The limit holds for the whole process. It is set by the first that enters and taken back by
    the last that leaves: threads that each kept the number they found would in the end restore 1.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._inside, self._before = 0, []

    def __enter__(self):
        with self._lock:
            if self._inside == 0:
                self._before = [(set_threads, get()) for get, set_threads in _blas_libraries()]
                for set_threads, _ in self._before:
                    set_threads(1)
            self._inside += 1

    def __exit__(self, *exception):
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                for set_threads, n_threads in self._before:
                    set_threads(n_threads)


@functools.cache
def _blas_libraries():
    """How to get and to set the threads of each BLAS.

    OpenBLAS is asked itself: threadpoolctl ignores what is not asked by the thread that set its
    threads first, and the last to leave is often another.
    """
    names = [f"{a}openblas_set_num_threads{b}" for a in ("", "scipy_") for b in ("", "64_", "_64")]
    found = []
    for library in ThreadpoolController().select(user_api="blas").lib_controllers:
        own = [getattr(library.dynlib, name) for name in names if hasattr(library.dynlib, name)]
        own = own if own and library.threading_layer != "openmp" else [library.set_num_threads]
        found.append((library.get_num_threads, own[0]))
    return found


one_blas_thread = _OneThread()


def multiply(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """A @ b by the BLAS on as many threads as numba has and the product is worth; O(m k n).

    Of float32 or float64 arrays (m, k) and (k, n); ``out`` (m, n) has the wider dtype of the two.
    """
    (m, k), n = a.shape, b.shape[1]
    dtype = np.result_type(a, b)
    a, b = a.astype(dtype, copy=False), b.astype(dtype, copy=False)
    if out is None:
        out = np.empty((m, n), dtype)
    with at_most_threads(2 * m * n * k / WORTH_A_THREAD), one_blas_thread:
        n_threads = numba.get_num_threads()
        if n_threads == 1:
            return np.matmul(a, b, out=out)

        parts = list(itertools.product(*_parts(m, n, n_threads)))

        def form(part):
            rows, columns = parts[part]
            np.matmul(a[rows], b[:, columns], out=out[rows, columns])

        in_threads(form, len(parts))
    return out


def _parts(m, n, n_threads):
    """Slices of the rows and of the columns of as many parts of (m, n) as there are threads."""
    splits = [(r, n_threads // r) for r in range(1, n_threads + 1) if n_threads % r == 0]
    # What is read for a part grows with its rows and columns
    r, c = min(splits, key=lambda split: m / split[0] + n / split[1])
    return _slices(m, r), _slices(n, c)


def _slices(n, parts):
    bounds = [0, *(i * n // parts // _STEP * _STEP for i in range(1, parts)), n]
    return [slice(*pair) for pair in itertools.pairwise(bounds)]
