"""The design of pairs whose vertices have sparse features, as fingerprints of molecules are.

X = R (T kron D) of Airola & Pahikkala (2018), Section 3.1, has a row for each pair (r_h, c_h): all
products of a feature of its row vertex, in D (m, d), and one of its column vertex, in T (q, r).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from kronbench.linalg import multiply
from kronbench.linalg.panel_loops import even_tasks
from kronbench.linalg.threads import WORTH_A_THREAD, at_most_threads, in_threads
from kronbench.pairs._cost_model import LIST_OPERATION, PAIR_OPERATION, Sizes, design_cost
from kronbench.pairs._pair_loops import add_to_lists, scatter, sums_over_lists
from kronbench.pairs._sampling import counting_sort
from kronbench.pairs.data import PairData

# Features other than zero of a block of vertices: their places, of two bytes, take 1 MiB. Smaller
# blocks stay in L2, but read the table once more each.
_ENTRIES_OF_A_BLOCK = 1 << 19

# Bytes up to which sparse features are made dense where that is counted cheaper.
_MOST_DENSE_BYTES = 1 << 30

# Operations a second of one core, as the cost model counts them. Those of lists of a million
# compounds, with five pairs each, wait for memory: on a busy machine they were found to make six
# times fewer.
_OPERATIONS, _OF_LISTS = 4e10, 7e9


class SparseDesign(LinearOperator):
    """X (n, d*r) for n pairs, with sparse features of one side or of both.

    A product f_h = D_{r_h}' W T_{c_h}, with the coefficients as a matrix W (d, r), first makes the
    table U = T W' (q, d) and then adds up the entries of row c_h where D_{r_h} is not zero. Its
    adjoint adds to the same entries and multiplies the table by T. O(q d r + n z) for z entries a
    vertex, and q d numbers in memory. Where the column side is sparse, sides change places; of two
    sparse ones the cheaper is taken for D.

    Parameters
    ----------
    row_features, col_features : (m, d) and (q, r) arrays, or csr arrays without duplicates
    rows, cols : (n,) integer arrays
        The vertices of each pair.
    """

    def __init__(self, row_features: Any, col_features: Any, rows: np.ndarray, cols: np.ndarray):
        sides, index = (row_features, col_features), (rows, cols)
        dtype = np.result_type(row_features.dtype, col_features.dtype)
        self._widths = d, r = row_features.shape[1], col_features.shape[1]
        super().__init__(dtype, (len(rows), d * r))
        _, self._side = _cheapest_side(sides, index)
        lists, self._others = sides[self._side], sides[1 - self._side].astype(dtype, copy=False)
        # Bits are kept as places alone, without their ones, in few bytes.
        bits = bool((lists.data == 1).all())
        places = lists.indices.astype(np.uint16 if lists.shape[1] <= 1 << 16 else np.uint32)
        values = None if bits else lists.data.astype(dtype)
        self._lists = lists.indptr.astype(np.int64), places, values
        # Pairs come by block of vertices with lists, then by the other vertex, whose row of the
        # table stays in L1, then by the vertex itself: three stable passes, from the last on.
        mean = max(1, lists.nnz // max(1, lists.shape[0]))
        minor, major = index[self._side], index[1 - self._side]
        block = minor // max(1, _ENTRIES_OF_A_BLOCK // mean)
        order, _ = counting_sort(minor, lists.shape[0])
        order = order[counting_sort(major[order], self._others.shape[0])[0]]
        by_block, self._blocks = counting_sort(block[order], int(block.max(initial=0)) + 1)
        self._order = order = order[by_block]
        self._pairs = minor[order].astype(np.uint32), major[order].astype(np.uint32)
        self._entries = int(np.diff(lists.indptr)[minor].sum())

    def _matvec(self, x):
        W = np.ascontiguousarray(x, self.dtype).reshape(self._widths)
        table = multiply(self._others, W if self._side else W.T)
        sums = np.empty(self.shape[0], self.dtype)
        self._over_pairs(sums_over_lists, table, sums)
        scores = np.empty_like(sums)
        scatter(self._order, sums[:, None], scores[:, None])
        return scores

    def _rmatvec(self, x):
        # The coefficients are sorted first: a loop that fetched them would wait for memory.
        sums = np.ascontiguousarray(x, self.dtype).ravel()[self._order]
        table = np.zeros((self._others.shape[0], self._widths[self._side]), self.dtype)
        self._over_pairs(add_to_lists, table, sums)
        W = multiply(self._others.T, table)
        return np.ravel(W if self._side else W.T)

    def _over_pairs(self, loop, table, sums):
        """A loop over the pairs, in which each thread has some rows of the table for itself."""
        minor, major = self._pairs
        with at_most_threads(LIST_OPERATION * self._entries / WORTH_A_THREAD):
            counts = np.bincount(major, minlength=len(table))
            tasks = even_tasks(np.concatenate([[0], np.cumsum(counts)]))
            bounds = [
                first + np.searchsorted(major[first:end], tasks)
                for first, end in zip(self._blocks[:-1], self._blocks[1:], strict=True)
            ]
            parts = np.array(bounds).T.copy()
            pairs = minor, major, *self._lists, table, sums
            in_threads(lambda k: loop(*pairs, parts[k], parts[k + 1]), len(tasks) - 1)


def sparse_pays(
    row_features: Any, col_features: Any, rows: np.ndarray, cols: np.ndarray, method: str
) -> bool:
    """Whether products of a design take its sparse features as they are, and not made dense."""
    sides = row_features, col_features
    n_bytes = [
        side.dtype.itemsize * side.shape[0] * side.shape[1]
        for side in sides
        if sparse.issparse(side)
    ]
    if method in ("dense", "lowrank") or not n_bytes:
        return False
    dense = design_cost(len(rows), (row_features.shape, col_features.shape), method)
    return max(n_bytes) > _MOST_DENSE_BYTES or _cheapest_side(sides, (rows, cols))[0] <= dense


def product_seconds(X: PairData, sides: tuple[Any, Any], primal: bool) -> float:
    """About how long a core takes for the products of an iteration, with features of two sides."""
    in_use = (int(np.count_nonzero(np.bincount(index))) for index in (X.rows, X.cols))
    shapes = tuple((n, side.shape[1]) for n, side in zip(in_use, sides, strict=True))
    if not primal:
        (m, _), (q, _) = shapes
        of_pairs = Sizes(m, m, q, q, len(X), len(X))
        return min(of_pairs.dense(), PAIR_OPERATION * of_pairs.sparse()[0]) / _OPERATIONS
    if sparse_pays(*sides, X.rows, X.cols, "auto"):
        return 2 * _cheapest_side(sides, (X.rows, X.cols))[0] / _OF_LISTS
    return 2 * design_cost(len(X), shapes) / _OPERATIONS


def _cheapest_side(sides, index):
    """The operations of a product with the sparse features of one side, and that side."""
    costs = []
    for side, others in enumerate(sides[::-1]):
        if sparse.issparse(sides[side]):
            entries = np.diff(sides[side].indptr)[index[side]].sum(dtype=float)
            size = others.nnz if sparse.issparse(others) else others.size
            costs.append((2.0 * size * sides[side].shape[1] + LIST_OPERATION * entries, side))
    return min(costs)
