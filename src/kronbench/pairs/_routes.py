"""The ways to carry out a product: over the pairs, or over the whole matrix of pairs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kronbench.linalg.gemm import multiply
from kronbench.linalg.panel_loops import (
    BATCH,
    PLAIN,
    accumulate,
    aligned_zeros,
    contract,
    even_tasks,
    narrow_width,
    padded_columns,
    panels,
)
from kronbench.pairs._cost_model import dense_flops
from kronbench.pairs._pair_loops import (
    gather_pairs,
    scatter,
    scatter_pairs,
    select,
    sums_over_pairs,
    two_sums_over_pairs,
)
from kronbench.pairs._sampling import SortedPairs

# Share of coefficients other than zero from which it costs more to leave the others out.
_FULL = 0.8

# Rows of the dense product that are held at a time: its (m, q) result is never whole in memory.
_DENSE_ROWS = 512


class PairRoute:
    """Algorithm 1 of Airola & Pahikkala (2018), one branch, or the same on low-rank factors.

    The coefficients are spread over the rows of one matrix, grouped by the other vertex of their
    pairs (lines 2-6); each output is an inner product with a row of another (lines 7-11).

    Parameters
    ----------
    in_pairs, out_pairs : SortedPairs
    spread : (n_minor of in_pairs, k) array
    collect : (n_minor of out_pairs, k') array
    columns : (k,) columns of ``spread`` to use, all when None
    middle : function of (k-wide rows (d, w, k), their major vertices) -> inner (k', w, *) array;
        None where the rows themselves are the inner array and their vertices its columns
    """

    def __init__(
        self,
        in_pairs: SortedPairs,
        out_pairs: SortedPairs,
        spread: np.ndarray,
        collect: np.ndarray,
        columns: np.ndarray | None = None,
        middle: Callable | None = None,
    ):
        self._in, self._out, self._middle = in_pairs, out_pairs, middle
        self._spread, self._collect = _by_rows(spread), _by_rows(collect)
        self._columns = np.arange(spread.shape[1]) if columns is None else columns

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """(e, w) coefficients -> (f, w) outputs."""
        n_vectors = x.shape[1]
        if n_vectors in (1, BATCH):
            return self._product(np.ascontiguousarray(x))
        parts = [self(x[:, first : first + BATCH]) for first in range(0, n_vectors, BATCH)]
        return np.hstack(parts)

    def two(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(e, 2) coefficients -> two (f,) outputs, bit for bit those of each column alone.

        They share the first half; its sums do not hang on how many vectors there are.
        """
        if PLAIN is None:  # numba's own loops may reassociate two sums in another way than one
            rows, majors = self._spread_over_rows(x)
            if rows.any(axis=2).all():  # else one of them has fewer major vertices alone
                return tuple(
                    self._collected(np.ascontiguousarray(rows[:, [v]]), majors)[:, 0]
                    for v in range(2)
                )
        return tuple(self._product(np.ascontiguousarray(x[:, [v]]))[:, 0] for v in range(2))

    def _product(self, x):
        rows, majors = self._spread_over_rows(x)
        if self._middle is None:
            return self._collected(rows, majors)
        inner = self._middle(rows[:, :, : len(self._columns)], majors)
        return self._collected(inner, np.arange(len(inner)))

    def _collected(self, inner, columns):
        matrix, transposed = self._collect
        out = self._out
        tasks = even_tasks(out.bounds)
        dtype = inner.dtype
        sums = np.zeros((len(out.order), inner.shape[1]), dtype)
        contract(
            inner,
            matrix,
            transposed,
            columns,
            out.starts,
            out.minor,
            tasks,
            sums,
            panels(len(tasks) - 1, out.n_minor, dtype),
            narrow_width(dtype),
            PLAIN,
        )
        if out.in_order:
            return sums
        result = np.empty_like(sums)
        scatter(out.order, sums, result)
        return result

    def _nonzero(self, x):
        """Coefficients other than zero in sorted order, minor vertices, where blocks begin."""
        pairs = self._in
        if pairs.in_order and np.count_nonzero(x) > _FULL * x.size:
            return x, pairs.minor, pairs.starts
        values = np.empty_like(x, order="C")
        indices = np.empty(len(x), np.int32)
        starts = np.empty((len(pairs.majors), pairs.n_blocks + 1), np.int64)
        select(
            pairs.order, pairs.minor, pairs.bounds, x, pairs.block_rows, indices, values, starts
        )
        return values, indices, starts

    def _spread_over_rows(self, x):
        pairs = self._in
        values, indices, starts = self._nonzero(x)
        counts = starts[:, -1] - starts[:, 0]
        majors = pairs.majors
        if not counts.all():
            left = counts > 0
            counts, starts, majors = counts[left], starts[left], majors[left]
        n_columns = padded_columns(len(self._columns), x.dtype)
        rows = aligned_zeros((len(majors), x.shape[1], n_columns), x.dtype)
        matrix, transposed = self._spread
        tasks = even_tasks(np.concatenate([[0], np.cumsum(counts)]))
        accumulate(
            matrix,
            transposed,
            self._columns,
            starts,
            indices,
            values,
            tasks,
            rows,
            panels(len(tasks) - 1, pairs.n_minor, x.dtype),
            narrow_width(x.dtype),
            PLAIN,
        )
        return rows, majors


class Middle:
    """Product with the matrix between the pairs of coefficients and those of outputs.

    Parameters
    ----------
    matrix : (a, b) array, or its factors P (a, r), Q (b, r) with P Q' ~ matrix
    majors : the rows of the matrix to use
    """

    def __init__(self, matrix: np.ndarray | tuple[np.ndarray, np.ndarray], majors: np.ndarray):
        if isinstance(matrix, tuple):
            left, self._right = matrix
        else:
            left, self._right = matrix, None
        self._left = left if len(majors) == len(left) else left[majors]

    def __call__(self, rows: np.ndarray, majors: np.ndarray) -> np.ndarray:
        """(d, w, k) rows of these columns -> (k, w, *): products with the matrix, transposed."""
        _, n_vectors, k = rows.shape
        n_out = len(self._left)
        left = self._left
        if self._right is None and len(majors) < left.shape[1]:
            left = left[:, majors]
        inner = aligned_zeros((k, n_vectors, padded_columns(n_out, rows.dtype)), rows.dtype)
        for v in range(n_vectors):
            between = rows[:, v].T
            if self._right is not None:
                right = self._right
                used = right if len(majors) == len(right) else right[majors]
                between = multiply(between, used)
            multiply(between, left.T, out=inner[:, v, :n_out])
        return inner


class DoubleSum:
    """Every output as a sum over all coefficients, without anything between them.

    Where pairs are as few as vertices (the "independent" setting), Algorithm 1 would copy both
    matrices to use each row once; this reads a row of each for an output.

    Parameters
    ----------
    in_index, out_index : row and column vertices of the pairs
    row_matrix, col_matrix : A (a, b) and B (c, d)
    """

    def __init__(
        self,
        in_index: tuple[np.ndarray, np.ndarray],
        out_index: tuple[np.ndarray, np.ndarray],
        row_matrix: np.ndarray,
        col_matrix: np.ndarray,
    ):
        self._in, self._out = (
            tuple(np.asarray(index).view(np.uint32) for index in pairs)
            for pairs in (in_index, out_index)
        )
        self._matrices = tuple(np.ascontiguousarray(m) for m in (row_matrix, col_matrix))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """(e, w) coefficients -> (f, w) outputs."""
        in_index = self._in
        used = (x != 0).any(axis=1)
        if not used.all():
            x, in_index = x[used], tuple(index[used] for index in in_index)
        sums = np.empty((len(self._out[0]), x.shape[1]), x.dtype)
        form = two_sums_over_pairs if x.shape[1] == 2 else sums_over_pairs
        form(*self._matrices, *self._out, *in_index, np.ascontiguousarray(x.T), sums)
        return sums

    def two(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(e, 2) coefficients -> two (f,) outputs, bit for bit those of each column alone."""
        return tuple(np.ascontiguousarray(self(x).T))


class DenseRoute:
    """Three steps: pairs into a matrix V, U = A V B' by BLAS, outputs out of U.

    Parameters
    ----------
    in_pairs, out_pairs : SortedPairs, by row vertex
    row_matrix, col_matrix : A (a, b) and B (c, d)
    """

    def __init__(
        self,
        in_pairs: SortedPairs,
        out_pairs: SortedPairs,
        row_matrix: np.ndarray,
        col_matrix: np.ndarray,
    ):
        self._in, self._out = in_pairs, out_pairs
        self._row_matrix = submatrix(row_matrix, out_pairs.majors, in_pairs.majors)
        self._col_matrix = col_matrix
        (a, b), (c, d) = self._row_matrix.shape, col_matrix.shape
        self._rows_first = dense_flops(a, b, c, d) == 2 * a * d * (b + c)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        result = np.empty((len(self._out.order), x.shape[1]), x.dtype)
        for v in range(x.shape[1]):
            result[:, v] = self._product(np.ascontiguousarray(x[:, v]))
        return result

    def _product(self, x):
        A, B = self._row_matrix, self._col_matrix
        source, target = self._in, self._out
        V = np.zeros((len(source.majors), B.shape[1]), x.dtype)
        scatter_pairs(source.order, source.minor, source.bounds, x, V)
        if not self._rows_first:
            V = multiply(V, B.T)
        result = np.empty(len(target.order), x.dtype)
        for first in range(0, len(A), _DENSE_ROWS):
            U = multiply(A[first : first + _DENSE_ROWS], V)
            if self._rows_first:
                U = multiply(U, B.T)
            gather_pairs(target.order, target.minor, target.bounds, first, U, result)
        return result


def submatrix(matrix: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The matrix at the given rows and columns, without a copy where these are all."""
    if len(rows) < matrix.shape[0]:
        matrix = matrix[rows]
    return matrix if len(columns) == matrix.shape[1] else matrix[:, columns]


def _by_rows(matrix):
    """A C-ordered array and whether it is the transpose of the matrix."""
    if matrix.flags.f_contiguous and not matrix.flags.c_contiguous:
        return matrix.T, True
    return np.ascontiguousarray(matrix), False
