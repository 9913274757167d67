"""Vector arithmetic on as many threads as a pass over the numbers is worth.

Inner products are summed in double precision and by chunks of fixed length, so that they do not
depend on the number of threads. Vectors for which no second thread pays are not given to parallel
functions, a call of which takes 20 us. Arrays of two dimensions count as vectors.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit, prange

from kronbench.linalg.threads import PASS_WORTH_A_THREAD, at_most_threads

# Numbers of a chunk, each with a sum of its own.
_CHUNK_NUMBERS = 2**14


def dot(u: np.ndarray, v: np.ndarray) -> float:
    """Sum of the products of two arrays of one shape, in double precision."""
    u, v = _flat(u), _flat(v)
    if len(u) < PASS_WORTH_A_THREAD:
        return float(_dot(u, v))
    sums = np.empty(-(-len(u) // _CHUNK_NUMBERS))
    with at_most_threads(u.size / PASS_WORTH_A_THREAD):
        _dot_chunks(u, v, sums)
    return float(sums.sum())


def norm(u: np.ndarray) -> float:
    """Root of the sum of squares of an array, in double precision."""
    return sqrt(dot(u, u))


def axpy(a: float, x: np.ndarray, y: np.ndarray) -> None:
    """Y <- a x + y, in place."""
    axpby(a, x, 1.0, y)


def axpby(a: float, x: np.ndarray, b: float, y: np.ndarray) -> None:
    """Y <- a x + b y for arrays of one shape, in place and in the precision of y."""
    a, b = y.dtype.type(a), y.dtype.type(b)
    x, y = _flat(x), y.reshape(-1, copy=False)  # refused where it would be a copy
    if len(y) < PASS_WORTH_A_THREAD:
        _axpby(a, x, b, y)
        return
    with at_most_threads(y.size / PASS_WORTH_A_THREAD):
        _axpby_chunks(a, x, b, y)


def _flat(block):
    return np.ascontiguousarray(block).reshape(-1)


@njit(cache=True, fastmath={"reassoc", "contract"})
def _dot(u, v):
    total = 0.0
    for i in range(len(u)):
        total += np.float64(u[i]) * np.float64(v[i])
    return total


@njit(parallel=True, cache=True)
def _dot_chunks(u, v, sums):
    for k in prange(len(sums)):
        part = slice(k * _CHUNK_NUMBERS, (k + 1) * _CHUNK_NUMBERS)
        sums[k] = _dot(u[part], v[part])


# Not contracted: the numbers are those of numpy, on every machine
@njit(cache=True)
def _axpby(a, x, b, y):
    for i in range(len(y)):
        y[i] = a * x[i] + b * y[i]


@njit(parallel=True, cache=True)
def _axpby_chunks(a, x, b, y):
    for k in prange((len(y) + _CHUNK_NUMBERS - 1) // _CHUNK_NUMBERS):
        part = slice(k * _CHUNK_NUMBERS, (k + 1) * _CHUNK_NUMBERS)
        _axpby(a, x[part], b, y[part])
