"""Products of stored matrices, perhaps in single precision, with blocks in double."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from kronbench.linalg.gemm import multiply
from kronbench.linalg.threads import at_most_threads

# Columns up to which a stored matrix is passed by our own loop, which is bound by memory; more of
# them where the BLAS would need a matrix in single precision widened.
_FEW_COLUMNS = 12
_FEW_COLUMNS_OF_SINGLE = 32

# Rows of a matrix in single precision that are widened at a time for a product of the BLAS.
_BLOCK_ROWS = 256

# Less than the common WORTH_A_THREAD: these operations wait for memory.
_WORTH_A_THREAD = 1e6


def stored_product(matrix: np.ndarray, block: np.ndarray) -> np.ndarray:
    """Matrix (m, n) in either precision times block (n, K), with the sums in the block's."""
    as_stored = matrix.dtype == block.dtype
    if block.shape[1] <= (_FEW_COLUMNS if as_stored else _FEW_COLUMNS_OF_SINGLE):
        with at_most_threads(matrix.size * block.shape[1] / _WORTH_A_THREAD):
            return _few_columns(matrix, np.ascontiguousarray(block.T)).T
    if as_stored:
        return multiply(matrix, block)
    out = np.empty((len(matrix), block.shape[1]))
    for start in range(0, len(matrix), _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
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
            if by_threes < k:  # two are left, or one twice
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
        else:
            for i in range(first, n_rows):
                for v in range(k):
                    total = 0.0
                    for j in range(n):
                        total += matrix[i, j] * columns[v, j]
                    out[v, i] = total
    return out
