"""Loops over pairs: their coefficients, and sums over pairs of pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import njit, prange

from kronbench.linalg.panel_loops import even_tasks
from kronbench.linalg.threads import PASS_WORTH_A_THREAD, in_threads


@njit(parallel=True, fastmath={"contract"}, cache=True)
def sums_over_pairs(row_matrix, col_matrix, rows, cols, in_rows, in_cols, x, out):
    """out[h, v] = sum_e row_matrix[rows[h], in_rows[e]] col_matrix[cols[h], in_cols[e]] x[v, e].

    Four outputs share what is read of a pair. Their sums are scalar: a vector takes longer to
    gather than its numbers one by one. Indices are unsigned, which keeps numba from looking for
    negative ones.
    """
    # The last group of four repeats its last output where fewer are left.
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


@njit(nogil=True, fastmath={"contract"}, cache=True)
def sums_over_lists(minor, major, starts, places, values, table, sums, begin, end):
    """sums[h] = the entries of table[major[h]] in the list of minor[h], times its values.

    ``values`` is None for ones; ``begin`` and ``end`` have the bounds of the pairs of each block.
    Lists are sliced, so that positions in them begin at zero and none is looked at for its sign.
    """
    for block in range(len(begin)):
        for h in range(begin[block], end[block]):
            row, first, last = table[major[h]], starts[minor[h]], starts[minor[h] + 1]
            list_ = places[first:last]
            factors = None if values is None else values[first:last]
            sum0 = sum1 = sum2 = sum3 = table.dtype.type(0)
            # Four sums at a time: one alone would wait for each of its additions.
            fours = len(list_) // 4
            for four in range(fours):
                k = 4 * four
                if factors is None:
                    sum0 += row[list_[k]]
                    sum1 += row[list_[k + 1]]
                    sum2 += row[list_[k + 2]]
                    sum3 += row[list_[k + 3]]
                else:
                    sum0 += row[list_[k]] * factors[k]
                    sum1 += row[list_[k + 1]] * factors[k + 1]
                    sum2 += row[list_[k + 2]] * factors[k + 2]
                    sum3 += row[list_[k + 3]] * factors[k + 3]
            for k in range(4 * fours, len(list_)):
                sum0 += row[list_[k]] if factors is None else row[list_[k]] * factors[k]
            sums[h] = (sum0 + sum1) + (sum2 + sum3)


@njit(nogil=True, cache=True)
def add_to_lists(minor, major, starts, places, values, table, sums, begin, end):
    """table[major[h], place] += value times sums[h], over the list of minor[h]."""
    for block in range(len(begin)):
        for h in range(begin[block], end[block]):
            row, x = table[major[h]], sums[h]
            first, last = starts[minor[h]], starts[minor[h] + 1]
            list_ = places[first:last]
            factors = None if values is None else values[first:last]
            for k in range(len(list_)):
                row[list_[k]] += x if factors is None else x * factors[k]


def scatter(order: np.ndarray, values: np.ndarray, out: np.ndarray) -> None:
    """out[order[h]] = values[h]."""
    if len(order) < PASS_WORTH_A_THREAD:  # numpy's loop is as good, and compiled
        out[order] = values
        return
    parts = np.linspace(0, len(order), numba.get_num_threads() + 1).astype(np.int64)
    in_threads(lambda k: _scatter(order, values, out, parts[k], parts[k + 1]), len(parts) - 1)


def in_parts(loop: Callable, bounds: np.ndarray, *arguments: Any) -> None:
    """A loop over major vertices, in parts of about equally many pairs."""
    tasks = even_tasks(bounds - bounds[0])
    in_threads(lambda k: loop(*arguments, tasks[k], tasks[k + 1]), len(tasks) - 1)


@njit(nogil=True, cache=True)
def pack_nonzero(order, minor, bounds, x, block_rows, indices, values, starts, begin, end):
    """Pairs with a coefficient other than zero, in sorted order, leaving gaps between vertices.

    ``indices`` and ``values`` receive minor vertex and coefficients, ``starts`` where the pairs of
    each major vertex begin in each block of minor vertices.
    """
    width = x.shape[1]
    n_blocks = starts.shape[1] - 1
    # Each major vertex writes where its sorted pairs begin, so that vertices go in any order.
    for j in range(begin, end):
        at = bounds[j]
        block = 0
        starts[j, 0] = at
        for h in range(bounds[j], bounds[j + 1]):
            e = order[h]
            # The next pair overwrites the values of a pair that is left out.
            used = False
            for v in range(width):
                values[at, v] = x[e, v]
                used = used or x[e, v] != 0
            if used:
                # Minor vertices increase: blocks passed on the way begin here too, empty.
                while minor[h] >= (block + 1) * block_rows:
                    block += 1
                    starts[j, block] = at
                indices[at] = minor[h]
                at += 1
        # Blocks after the last pair are empty; the last entry is the end.
        for rest in range(block + 1, n_blocks + 1):
            starts[j, rest] = at


@njit(nogil=True, cache=True)
def _scatter(order, values, out, begin, end):
    for h in range(begin, end):
        for v in range(values.shape[1]):
            out[order[h], v] = values[h, v]


@njit(nogil=True, cache=True)
def scatter_pairs(order, minor, bounds, x, out, begin, end):
    """out[j, minor] += coefficient for the pairs of each major vertex j."""
    for j in range(begin, end):
        for h in range(bounds[j], bounds[j + 1]):
            out[j, minor[h]] += x[order[h]]


@njit(nogil=True, cache=True)
def gather_pairs(order, minor, bounds, table, out, begin, end):
    """Out of each pair = table[i, minor] for its major vertex i of ``bounds``."""
    for i in range(begin, end):
        for h in range(bounds[i], bounds[i + 1]):
            out[order[h]] = table[i, minor[h]]
