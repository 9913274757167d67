"""Threaded loops over pairs: their order, their coefficients, and sums over pairs of pairs."""

from __future__ import annotations

import numpy as np
from numba import njit, prange


@njit(parallel=True, fastmath={"contract"}, cache=True)
def sums_over_pairs(row_matrix, col_matrix, rows, cols, in_rows, in_cols, x, out):
    """out[h, v] = sum_e row_matrix[rows[h], in_rows[e]] col_matrix[cols[h], in_cols[e]] x[v, e].

    Four outputs share what is read of a pair. Their sums are scalar: a vector takes longer to
    gather than its numbers one by one. Indices are unsigned, which keeps numba from looking for
    negative ones.
    """
    last = len(rows) - 1
    for four in prange((last + 4) // 4):
        h0 = 4 * four
        h1, h2, h3 = min(h0 + 1, last), min(h0 + 2, last), min(h0 + 3, last)
        a0, b0 = row_matrix[rows[h0]], col_matrix[cols[h0]]
        a1, b1 = row_matrix[rows[h1]], col_matrix[cols[h1]]
        a2, b2 = row_matrix[rows[h2]], col_matrix[cols[h2]]
        a3, b3 = row_matrix[rows[h3]], col_matrix[cols[h3]]
        for v in range(len(x)):
            weights = x[v]
            sum0 = sum1 = sum2 = sum3 = weights.dtype.type(0)
            for e in range(len(in_rows)):
                i, j, weight = in_rows[e], in_cols[e], weights[e]
                sum0 += a0[i] * b0[j] * weight
                sum1 += a1[i] * b1[j] * weight
                sum2 += a2[i] * b2[j] * weight
                sum3 += a3[i] * b3[j] * weight
            out[h0, v], out[h1, v], out[h2, v], out[h3, v] = sum0, sum1, sum2, sum3


@njit(parallel=True, cache=True)
def select(order, minor, bounds, x, block_rows, indices, values, starts):
    """Pairs with a coefficient other than zero, in sorted order, leaving gaps between vertices.

    ``indices`` and ``values`` receive minor vertex and coefficients, ``starts`` where the pairs of
    each major vertex begin in each block of minor vertices.
    """
    width = x.shape[1]
    n_blocks = starts.shape[1] - 1
    for j in prange(len(bounds) - 1):
        at = bounds[j]
        block = 0
        starts[j, 0] = at
        for h in range(bounds[j], bounds[j + 1]):
            e = order[h]
            used = False
            for v in range(width):
                values[at, v] = x[e, v]
                used = used or x[e, v] != 0
            if used:
                while minor[h] >= (block + 1) * block_rows:
                    block += 1
                    starts[j, block] = at
                indices[at] = minor[h]
                at += 1
        for rest in range(block + 1, n_blocks + 1):
            starts[j, rest] = at


@njit(parallel=True, cache=True)
def scatter(order, values, out):
    """out[order[h]] = values[h]."""
    for h in prange(len(order)):
        for v in range(values.shape[1]):
            out[order[h], v] = values[h, v]


@njit(parallel=True, cache=True)
def scatter_pairs(order, minor, bounds, x, out):
    """out[j, minor] += coefficient for the pairs of each major vertex j."""
    for j in prange(len(bounds) - 1):
        for h in range(bounds[j], bounds[j + 1]):
            out[j, minor[h]] += x[order[h]]


@njit(parallel=True, cache=True)
def gather_pairs(order, minor, bounds, first, table, out):
    """Out of each pair = table[i, minor] for its major vertex first + i."""
    for i in prange(len(table)):
        for h in range(bounds[first + i], bounds[first + i + 1]):
            out[order[h]] = table[i, minor[h]]


@njit(cache=True)
def sort_pairs(major, minor, n_major, n_minor):
    """Stable order of the pairs by major, then minor vertex, and the bounds of each major vertex.

    Two passes of counting sort: O(n + n_major + n_minor).
    """
    n = len(major)
    order = np.empty(n, np.int32)
    by_minor = np.empty(n, np.int32)
    next_minor = np.zeros(n_minor + 1, np.int64)
    bounds = np.zeros(n_major + 1, np.int64)
    for h in range(n):
        next_minor[minor[h] + 1] += 1
        bounds[major[h] + 1] += 1
    for i in range(n_minor):
        next_minor[i + 1] += next_minor[i]
    for i in range(n_major):
        bounds[i + 1] += bounds[i]
    for h in range(n):
        by_minor[next_minor[minor[h]]] = h
        next_minor[minor[h]] += 1
    next_major = bounds[:-1].copy()
    for g in range(n):
        h = by_minor[g]
        order[next_major[major[h]]] = h
        next_major[major[h]] += 1
    return order, bounds
