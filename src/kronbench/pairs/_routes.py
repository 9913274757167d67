"""The ways to carry out a product: over the pairs, or over the whole matrix of pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kronbench.linalg.gemm import multiply
from kronbench.linalg.panel_loops import (
    BATCH,
    MAJOR_BLOCK,
    PLAIN,
    accumulate,
    aligned_zeros,
    contract,
    even_tasks,
    narrow_width,
    padded_columns,
)
from kronbench.linalg.threads import PASS_WORTH_A_THREAD, in_threads
from kronbench.pairs._pair_loops import (
    gather_pairs,
    in_parts,
    pack_nonzero,
    scatter,
    scatter_pairs,
    sums_over_pairs,
)

# Share of coefficients other than zero from which it costs more to leave the others out.
_SHARE_TO_TAKE_ALL_COEFFICIENTS = 0.8

# Rows of the dense product that are held at a time: its (m, q) result is never whole in memory.
_DENSE_ROWS = 512


class PairRoute:
    """Algorithm 1 of Airola & Pahikkala (2018), one branch, or the same on low-rank factors.

    The coefficients are spread over the rows of the matrix ``spread``, or its ``columns`` alone,
    grouped by the other vertex of their pairs (lines 2-6). Each output is an inner product with a
    row of ``collect`` (lines 7-11). ``middle`` is a product in between; without it the rows
    themselves are the inner array and their vertices its columns.

    Lines are those of the first branch, where ``spread`` is M' and ``collect`` is N. The second
    branch, lines 13-22, is the first with N' and M, and with the vertices of all pairs exchanged.
    """

    def __init__(self, in_pairs, out_pairs, spread, collect, columns=None, middle=None):
        self._in, self._out, self._middle = in_pairs, out_pairs, middle
        self._spread, self._collect = _by_rows(spread), _by_rows(collect)
        self._columns = np.arange(spread.shape[1]) if columns is None else columns

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """(e, w) coefficients -> (f, w) outputs."""
        # The loops take one vector, or two that share what is loaded.
        n_vectors = x.shape[1]
        if n_vectors not in (1, BATCH):
            parts = [self(x[:, first : first + BATCH]) for first in range(0, n_vectors, BATCH)]
            return np.hstack(parts)
        # T has a row j for each major vertex of a coefficient (lines 2-6).
        rows, majors = self._spread_over_rows(np.ascontiguousarray(x))
        # Outputs are inner products of rows of N and columns of T (lines 7-11).
        if self._middle is None:
            return self._collected(rows, majors)
        # The padding of the rows is not for the product in between.
        inner = self._middle(rows[:, :, : len(self._columns)], majors)
        return self._collected(inner, np.arange(len(inner)))

    def _spread_over_rows(self, x):
        """T of lines 2-6, (majors with coefficients, w, columns), and these majors.

        Line 6, T_jk <- T_jk + v_h M_ki, adds to a whole row at a time: coefficient times row i of
        ``spread``, for the pairs h of each major vertex j in turn.
        """
        pairs = self._in
        # The coefficients other than zero are brought into sorted order, with their minor vertices
        # i and with the places where the blocks of i begin.
        n_used = np.count_nonzero(x)
        if pairs.in_order and n_used > _SHARE_TO_TAKE_ALL_COEFFICIENTS * x.size:
            values, indices, starts = x, pairs.minor, pairs.starts
        elif n_used == x.size < PASS_WORTH_A_THREAD:
            values, indices, starts = x[pairs.order], pairs.minor, pairs.starts
        else:
            values = np.empty_like(x, order="C")
            indices = np.empty(len(x), np.int32)
            starts = np.empty((len(pairs.majors), pairs.n_blocks + 1), np.int64)
            source = pairs.order, pairs.minor, pairs.bounds, x, pairs.block_rows
            in_parts(pack_nonzero, pairs.bounds, *source, indices, values, starts)
        # Vertices whose coefficients are all zero have no row of T.
        counts = starts[:, -1] - starts[:, 0]
        majors = pairs.majors
        if not counts.all():
            used = counts > 0
            counts, starts, majors = counts[used], starts[used], majors[used]
        # Rows are padded, and begin at addresses that vectors of the processor can be loaded from.
        n_columns = padded_columns(len(self._columns), x.dtype)
        rows = aligned_zeros((len(majors), x.shape[1], n_columns), x.dtype)
        # A task is some major vertices with about as many pairs as any other task. Each has room
        # for a panel: some columns of all rows of ``spread``, one block of which stays in cache.
        tasks = even_tasks(np.concatenate([[0], np.cumsum(counts)]))
        narrow = narrow_width(x.dtype)
        room = aligned_zeros((len(tasks) - 1, pairs.n_minor * 4 * narrow), x.dtype)
        spread = *self._spread, self._columns, starts, indices, values, rows
        in_threads(
            lambda k: accumulate(*spread, tasks[k], tasks[k + 1], room[k], narrow, PLAIN),
            len(tasks) - 1,
        )
        return rows, majors

    def _collected(self, inner, columns):
        """The outputs of lines 8-11: row q_h of ``collect``, its ``columns``, times inner[:, p_h].

        Outputs of one major vertex p share the column of the inner array.
        """
        out, dtype = self._out, inner.dtype
        tasks = even_tasks(out.bounds)
        sums = np.zeros((len(out.order), inner.shape[1]), dtype)
        narrow = narrow_width(dtype)
        room = aligned_zeros((len(tasks) - 1, out.n_minor * 4 * narrow), dtype)
        arrays = inner, *self._collect, columns, out.starts, out.minor, sums

        def task(k):
            # A thread has room of its own for the inner rows of a panel and for their places.
            rooms = np.empty(MAJOR_BLOCK * 4 * narrow, dtype), np.empty(4 * narrow, np.int64)
            contract(*arrays, tasks[k], tasks[k + 1], room[k], *rooms, narrow, PLAIN)

        in_threads(task, len(tasks) - 1)
        if out.in_order:
            return sums
        # The sums are in sorted order; the outputs go back to the order of the caller.
        result = np.empty_like(sums)
        scatter(out.order, sums, result)
        return result


def middle_product(matrix: Any, majors: np.ndarray) -> Callable:
    """Product with the matrix between the pairs of coefficients and those of outputs.

    ``matrix`` (a, b), or its factors P (a, r), Q (b, r); ``majors`` are the rows to use. It makes
    (k, w, *) products with the matrix, transposed, of (d, w, k) rows of its columns ``in_majors``.
    """
    whole, factor = matrix if isinstance(matrix, tuple) else (matrix, None)
    whole = whole if len(majors) == len(whole) else whole[majors]

    def product(rows, in_majors):
        _, n_vectors, k = rows.shape
        # Vertices without a coefficient have no row: their columns of the matrix are left out.
        left, right = whole, factor
        if right is not None and len(in_majors) < len(right):
            right = right[in_majors]
        elif right is None and len(in_majors) < left.shape[1]:
            left = left[:, in_majors]
        inner = aligned_zeros((k, n_vectors, padded_columns(len(left), rows.dtype)), rows.dtype)
        for v in range(n_vectors):
            between = rows[:, v].T if right is None else multiply(rows[:, v].T, right)
            multiply(between, left.T, out=inner[:, v, : len(left)])
        return inner

    return product


class DoubleSum:
    """Every output as a sum over all coefficients, without anything between them.

    Where pairs are as few as vertices (the "independent" setting), Algorithm 1 would copy both
    matrices to use each row once; this reads a row of each for an output.
    """

    def __init__(self, in_index, out_index, row_matrix, col_matrix):
        self._in, self._out = (
            tuple(np.asarray(index).view(np.uint32) for index in pairs)
            for pairs in (in_index, out_index)
        )
        self._matrices = tuple(np.ascontiguousarray(m) for m in (row_matrix, col_matrix))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """(e, w) coefficients -> (f, w) outputs."""
        in_index = self._in
        # Only coefficients other than zero count.
        used = (x != 0).any(axis=1)
        if not used.all():
            x, in_index = x[used], tuple(index[used] for index in in_index)
        sums = np.empty((len(self._out[0]), x.shape[1]), x.dtype)
        sums_over_pairs(*self._matrices, *self._out, *in_index, np.ascontiguousarray(x.T), sums)
        return sums


class DenseRoute:
    """Three steps: pairs, by row vertex, into a matrix V; U = A V B' by BLAS; outputs out of U."""

    def __init__(self, in_pairs, out_pairs, row_matrix, col_matrix):
        self._in, self._out = in_pairs, out_pairs
        # Row vertices without a pair have no row of V and of U.
        if len(out_pairs.majors) < len(row_matrix):
            row_matrix = row_matrix[out_pairs.majors]
        if len(in_pairs.majors) < row_matrix.shape[1]:
            row_matrix = row_matrix[:, in_pairs.majors]
        self._row_matrix, self._col_matrix = row_matrix, col_matrix
        # A V B' is (A V) B' or A (V B'), whichever has fewer operations.
        (a, b), (c, d) = row_matrix.shape, col_matrix.shape
        self._rows_first = a * d * (b + c) <= b * c * (a + d)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """(e, w) coefficients -> (f, w) outputs."""
        A, B = self._row_matrix, self._col_matrix
        source, target = self._in, self._out
        result = np.empty((x.shape[1], len(target.order)), x.dtype)
        for column, outputs in zip(x.T, result, strict=True):
            # V (b, d) is the matrix of the pairs with vec(V) = C' v, as in Roth's lemma (Eq. 1).
            V = np.zeros((len(source.majors), B.shape[1]), x.dtype)
            pairs = source.order, source.minor, source.bounds, np.ascontiguousarray(column)
            in_parts(scatter_pairs, source.bounds, *pairs, V)
            if not self._rows_first:
                V = multiply(V, B.T)
            # Some rows of U = A V B' are made and read at a time.
            for first in range(0, len(A), _DENSE_ROWS):
                U = multiply(A[first : first + _DENSE_ROWS], V)
                if self._rows_first:
                    U = multiply(U, B.T)
                bounds = target.bounds[first : first + len(U) + 1]
                in_parts(gather_pairs, bounds, target.order, target.minor, bounds, U, outputs)
        return np.ascontiguousarray(result.T)


def _by_rows(matrix) -> tuple[np.ndarray, bool]:
    """A C-ordered array and whether it is the transpose of the matrix."""
    if matrix.flags.f_contiguous and not matrix.flags.c_contiguous:
        return matrix.T, True
    return np.ascontiguousarray(matrix), False
