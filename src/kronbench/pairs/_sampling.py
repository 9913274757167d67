"""Pairs of vertices, sorted the ways the products need them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from kronbench.linalg.panel_loops import block_starts

# A panel is passed in blocks of rows. They should be few, so that a block stays in L1 or at least
# in L2, but hold enough pairs of each major vertex that loading its sums is no burden.
_FEWEST_ROWS_OF_A_BLOCK, _MOST_ROWS_OF_A_BLOCK, _PAIRS_OF_A_BLOCK = 32, 768, 32


@dataclass(frozen=True)
class SortedPairs:
    """Pairs in the order of their major, then minor vertex.

    ``majors`` (d,) are the vertices that have pairs, ``bounds`` (d + 1,) where those of each
    begin; ``order`` (n,) is the position of each sorted pair in the given order, ``minor`` (n,)
    its other vertex, of ``n_minor`` vertices. ``in_order`` tells that the pairs came sorted.
    """

    majors: np.ndarray
    bounds: np.ndarray
    order: np.ndarray
    minor: np.ndarray
    n_minor: int
    in_order: bool

    @cached_property
    def block_rows(self) -> int:
        """Number of minor vertices of a block."""
        possible = len(self.majors) * self.n_minor
        density = max(len(self.order), 1) / max(possible, 1)
        rows = _PAIRS_OF_A_BLOCK / density
        return int(min(max(rows, _FEWEST_ROWS_OF_A_BLOCK), _MOST_ROWS_OF_A_BLOCK))

    @property
    def n_blocks(self) -> int:
        """Number of blocks of minor vertices."""
        return -(-self.n_minor // self.block_rows)

    @cached_property
    def starts(self) -> np.ndarray:
        """(d, n_blocks + 1): where the pairs of each major vertex begin in each block."""
        return block_starts(self.minor, self.bounds, self.block_rows, self.n_blocks)


# Cells of the matrix for each pair, up to which repetitions are found by marking the cells.
_CELLS_PER_PAIR_TO_MARK = 64


class Sampling:
    """A sequence of pairs: (row, column) arrays of n vertices, of ``shape`` vertices."""

    def __init__(self, index: tuple[np.ndarray, ...], shape: tuple[int, ...]):
        self.index, self.shape = index, shape
        self._sorted: dict[int, SortedPairs] = {}

    def __len__(self) -> int:
        return len(self.index[0])

    @cached_property
    def used(self) -> tuple[int, ...]:
        """Numbers of row and column vertices that occur in a pair."""
        return tuple(int(np.count_nonzero(np.bincount(i, minlength=1))) for i in self.index)

    @cached_property
    def distinct(self) -> tuple[Sampling, np.ndarray | None]:
        """The pairs without repetitions, and each pair's place among them.

        Itself and None where no pair occurs twice.
        """
        # The key of a pair is the place of its cell in the matrix of all pairs, by rows.
        n, n_cols = len(self), self.shape[1]
        keys = self.index[0].astype(np.int64) * n_cols + self.index[1]
        if self.shape[0] * n_cols <= _CELLS_PER_PAIR_TO_MARK * n:
            # Marks take a tenth of the time of sorting, with ten million pairs.
            marked = np.zeros(self.shape[0] * n_cols, bool)
            marked[keys] = True
            if np.count_nonzero(marked) == n:
                return self, None
        kept, place = np.unique(keys, return_inverse=True)
        if len(kept) == n:
            return self, None
        index = tuple(part.astype(np.int32) for part in np.divmod(kept, n_cols))
        return Sampling(index, self.shape), place

    def sorted(self, side: int) -> SortedPairs:
        """Sorted by row vertex (side 0) or by column vertex (side 1)."""
        if side not in self._sorted:
            major, minor = self.index[side], self.index[1 - side]
            # Two stable passes, by minor, then by major vertex, are a radix sort: O(n + vertices).
            by_minor, _ = counting_sort(minor, self.shape[1 - side])
            order, bounds = counting_sort(major[by_minor], self.shape[side])
            order = by_minor[order]
            # Vertices without pairs are no majors.
            majors = np.flatnonzero(np.diff(bounds))
            bounds = np.concatenate([bounds[:1], bounds[1:][majors]])
            in_order = bool((order[1:] > order[:-1]).all())
            minor = minor if in_order else minor[order]
            pairs = SortedPairs(majors, bounds, order, minor, self.shape[1 - side], in_order)
            self._sorted[side] = pairs
        return self._sorted[side]

    def take(self, mask: np.ndarray) -> Sampling:
        """The pairs where the mask holds."""
        part = Sampling(tuple(i[mask] for i in self.index), self.shape)
        # A part of distinct pairs is distinct, which the cached property need not find out.
        if self.distinct[1] is None:
            part.distinct = part, None
        return part


def counting_sort(keys: np.ndarray, n_keys: int) -> tuple[np.ndarray, np.ndarray]:
    """The stable order of keys below ``n_keys``, and where each begins.

    SciPy's: the change of a sparse matrix, of one entry a row, to the order of columns.
    """
    n = len(keys)
    entries = np.empty(n, np.int8), keys, np.arange(n + 1, dtype=np.int32)
    by_key = sparse.csr_array(entries, shape=(n, n_keys)).tocsc()
    return by_key.indices, by_key.indptr.astype(np.int64)
