"""Products of matrices, on as many threads as numba's loops have.

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
from numba import njit, prange
from scipy import sparse
from threadpoolctl import ThreadpoolController

from kronbench.linalg.gram_matrix import dense
from kronbench.linalg.threads import WORTH_A_THREAD, at_most_threads, in_threads

# Rows and columns of a part are multiples of this: the kernels of a BLAS are slower at edges.
_PART_MULTIPLE = 16

# Columns up to which a stored matrix is passed by our own loop, which is bound by memory; more of
# them where the BLAS would need a matrix in single precision widened.
_COLUMNS_OF_OWN_LOOP = 12
_COLUMNS_OF_OWN_LOOP_SINGLE = 32

# Rows of a matrix in single precision that are widened at a time for a product of the BLAS.
_WIDENED_ROWS = 256

# Operations of our own loop that are worth a thread: few, since they wait for memory.
_PASS_OPERATIONS_WORTH_A_THREAD = 1e6


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
                # A library that has one thread already is not asked to set it.
                counts = [(library, library.get_num_threads()) for library in _blas_libraries()]
                self._before = [(library, n) for library, n in counts if n != 1]
                for library, _ in self._before:
                    _set_blas_threads(library, 1)
            self._inside += 1

    def __exit__(self, *exception):
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                for library, n_threads in self._before:
                    _set_blas_threads(library, n_threads)


@functools.cache
def _blas_libraries():
    """Threadpoolctl's controllers of the BLAS of numpy and that of scipy."""
    return ThreadpoolController().select(user_api="blas").lib_controllers


def _set_blas_threads(library, n_threads):
    """Set the threads of a BLAS, whichever thread asks, and leave the right to set them free.

    From 3.8 on threadpoolctl ignores all threads but the first that set those of OpenBLAS, and
    the last to leave ``one_blas_thread`` is often another one.
    """
    free = getattr(library, "clear_controlling_thread", lambda **_: None)
    free(force=True)
    library.set_num_threads(n_threads)
    free(force=True)


one_blas_thread = _OneThread()


def multiply(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """A @ b by the BLAS on as many threads as numba has and the product is worth; O(m k n).

    Of float32 or float64 arrays (m, k) and (k, n); ``out`` (m, n) has the wider dtype of the two.
    With a sparse factor it is SciPy's product, made dense.
    """
    if sparse.issparse(a) or sparse.issparse(b):
        return dense(a @ b)
    (m, k), n = a.shape, b.shape[1]
    dtype = np.result_type(a, b)
    a, b = a.astype(dtype, copy=False), b.astype(dtype, copy=False)
    if out is None:
        out = np.empty((m, n), dtype)
    with at_most_threads(2 * m * n * k / WORTH_A_THREAD), one_blas_thread:
        n_threads = numba.get_num_threads()
        if n_threads == 1:
            return np.matmul(a, b, out=out)

        # The result is cut into r times c parts, one for each thread. What is read for a part
        # grows with its rows and columns, so that the parts should be nearly square.
        splits = [(r, n_threads // r) for r in range(1, n_threads + 1) if n_threads % r == 0]
        r, c = min(splits, key=lambda split: m / split[0] + n / split[1])
        parts = list(itertools.product(_slices(m, r), _slices(n, c)))

        # numpy gives the GIL back while the BLAS works, and every thread writes its own part.
        def form(part):
            rows, columns = parts[part]
            np.matmul(a[rows], b[:, columns], out=out[rows, columns])

        in_threads(form, len(parts))
    return out


def _slices(n, parts):
    bounds = [0, *(i * n // parts // _PART_MULTIPLE * _PART_MULTIPLE for i in range(1, parts)), n]
    return [slice(*pair) for pair in itertools.pairwise(bounds)]


def stored_product(matrix: np.ndarray, block: np.ndarray) -> np.ndarray:
    """Matrix (m, n) in either precision times block (n, K), with the sums in the block's."""
    # Few columns: one pass over the matrix, which is read from memory once and as it is stored.
    as_stored = matrix.dtype == block.dtype
    if block.shape[1] <= (_COLUMNS_OF_OWN_LOOP if as_stored else _COLUMNS_OF_OWN_LOOP_SINGLE):
        with at_most_threads(matrix.size * block.shape[1] / _PASS_OPERATIONS_WORTH_A_THREAD):
            return _few_columns(matrix, np.ascontiguousarray(block.T)).T
    # Many columns: the BLAS, for which a matrix in single precision is widened by blocks of rows.
    if as_stored:
        return multiply(matrix, block)
    out = np.empty((len(matrix), block.shape[1]))
    for start in range(0, len(matrix), _WIDENED_ROWS):
        rows = slice(start, start + _WIDENED_ROWS)
        multiply(matrix[rows].astype(block.dtype), block, out=out[rows])
    return out


@njit(parallel=True, cache=True, fastmath={"reassoc", "contract"})
def _few_columns(matrix, columns):
    """Matrix @ columns.T, transposed: four rows of the matrix with three columns at a time.

    Numbers in single precision are widened once for all columns of such a block.
    """
    n_rows, n = matrix.shape
    k = len(columns)
    out = np.empty((k, n_rows), columns.dtype)
    # A task of a thread is four rows of the matrix. With three columns there are twelve sums, as
    # many as registers hold beside their operands, and each number that is loaded is used three or
    # four times.
    for group in prange((n_rows + 3) // 4):
        first = 4 * group
        if first + 4 <= n_rows:
            a, b, c, d = matrix[first], matrix[first + 1], matrix[first + 2], matrix[first + 3]
            by_threes = k - k % 3
            for v in range(0, by_threes, 3):
                x, y, z = columns[v], columns[v + 1], columns[v + 2]
                ax = bx = cx = dx = ay = by = cy = dy = az = bz = cz = dz = 0.0
                for j in range(n):
                    ax += a[j] * x[j]
                    bx += b[j] * x[j]
                    cx += c[j] * x[j]
                    dx += d[j] * x[j]
                    ay += a[j] * y[j]
                    by += b[j] * y[j]
                    cy += c[j] * y[j]
                    dy += d[j] * y[j]
                    az += a[j] * z[j]
                    bz += b[j] * z[j]
                    cz += c[j] * z[j]
                    dz += d[j] * z[j]
                out[v, first], out[v, first + 1] = ax, bx
                out[v, first + 2], out[v, first + 3] = cx, dx
                out[v + 1, first], out[v + 1, first + 1] = ay, by
                out[v + 1, first + 2], out[v + 1, first + 3] = cy, dy
                out[v + 2, first], out[v + 2, first + 1] = az, bz
                out[v + 2, first + 2], out[v + 2, first + 3] = cz, dz
            # Two columns are left, or one, which is then computed twice.
            if by_threes < k:
                x, y = columns[by_threes], columns[k - 1]
                ax = bx = cx = dx = ay = by = cy = dy = 0.0
                for j in range(n):
                    ax += a[j] * x[j]
                    bx += b[j] * x[j]
                    cx += c[j] * x[j]
                    dx += d[j] * x[j]
                    ay += a[j] * y[j]
                    by += b[j] * y[j]
                    cy += c[j] * y[j]
                    dy += d[j] * y[j]
                out[by_threes, first], out[by_threes, first + 1] = ax, bx
                out[by_threes, first + 2], out[by_threes, first + 3] = cx, dx
                out[k - 1, first], out[k - 1, first + 1] = ay, by
                out[k - 1, first + 2], out[k - 1, first + 3] = cy, dy
        else:  # fewer than four rows are left
            for i in range(first, n_rows):
                for v in range(k):
                    total = 0.0
                    for j in range(n):
                        total += matrix[i, j] * columns[v, j]
                    out[v, i] = total
    return out
