"""Sums over blocks of coefficients: a few fused passes on all threads, sums in double precision.

Between two products with the kernel, conjugate gradients only read and write vectors. At 10^7
numbers each pass costs as much as memory is slow, and numpy makes one for each operation on one
thread. Inner products are summed by chunks of fixed length, so that they do not depend on the
number of threads; those of the BLAS also wake a thread for every 10^4 numbers. Blocks for which no
second thread pays are not given to parallel functions, a call of which takes 20 us.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit, prange

from kronbench.linalg.threads import PASS_WORTH_A_THREAD, at_most_threads

_CHUNK = 2**14


def inner(u, v) -> float:
    """Sum of the products of two blocks of one shape, in double precision."""
    u, v = _flat(u), _flat(v)
    if len(u) < PASS_WORTH_A_THREAD:
        return float(_sum_of_products(u, v))
    sums = np.empty(-(-len(u) // _CHUNK))
    with _threads(u):
        _inner(u, v, sums)
    return float(sums.sum())


def norm(u) -> float:
    """Root of the sum of squares of a block, in double precision."""
    return sqrt(inner(u, u))


def add(y, factor, x):
    """y += factor x."""
    factor = y.dtype.type(factor)
    if y.size < PASS_WORTH_A_THREAD:
        y += factor * x
        return
    with _threads(y):
        _add(_flat_output(y), factor, _flat(x))


def advance(length, moves):
    """y += length x for both pairs (y, x), in one pass; blocks of one shape and dtype."""
    (y, x), (v, u) = moves
    if y.size < PASS_WORTH_A_THREAD:
        add(y, length, x)
        add(v, length, u)
        return
    with _threads(y):
        _advance(y.dtype.type(length), _flat_output(y), _flat(x), _flat_output(v), _flat(u))


def turn(factor, moves):
    """y = factor y + x for both pairs (y, x), in one pass."""
    factor = moves[0][0].dtype.type(factor)
    if moves[0][0].size < PASS_WORTH_A_THREAD:
        for y, x in moves:
            y *= factor
            y += x
        return
    (y, x), (v, u) = moves
    with _threads(y):
        _turn(factor, _flat_output(y), _flat(x), _flat_output(v), _flat(u))


def _threads(block):
    return at_most_threads(block.size / PASS_WORTH_A_THREAD)


def _flat(block):
    return np.ascontiguousarray(block).reshape(-1)


def _flat_output(block):
    flat = block.view()
    flat.shape = (-1,)  # refused where it would be a copy
    return flat


@njit(cache=True, fastmath={"reassoc", "contract"})
def _sum_of_products(u, v):
    total = 0.0
    for i in range(len(u)):
        total += np.float64(u[i]) * np.float64(v[i])
    return total


@njit(parallel=True, cache=True)
def _inner(u, v, sums):
    for k in prange(len(sums)):
        part = slice(k * _CHUNK, (k + 1) * _CHUNK)
        sums[k] = _sum_of_products(u[part], v[part])


@njit(parallel=True, cache=True, fastmath={"contract"})
def _add(y, factor, x):
    for i in prange(len(y)):
        y[i] += factor * x[i]


@njit(parallel=True, cache=True, fastmath={"contract"})
def _advance(length, y, x, v, u):
    for i in prange(len(y)):
        y[i] += length * x[i]
        v[i] += length * u[i]


@njit(parallel=True, cache=True, fastmath={"contract"})
def _turn(factor, y, x, v, u):
    for i in prange(len(y)):
        y[i] = factor * y[i] + x[i]
        v[i] = factor * v[i] + u[i]
