"""Products with sparse features in both orders, by the vector loops of the sampled products."""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from scipy import sparse

from kronbench.operators._kernels import PLAIN, _add_rows_narrow, block_starts, narrow_width
from kronbench.operators._routes import _tasks, aligned_zeros
from kronbench.operators._threads import (
    PASS_WORTH_A_THREAD,
    WORTH_A_THREAD,
    at_most_threads,
)

# Rows of the other side that are passed at a time, so that they stay in the L2 cache: a fifth less
# time than in one go at 9794 documents and 61,000 words.
_BLOCK_ROWS = 3000

# Words in more than this share of the documents go to a product of the BLAS, which makes ten
# operations in the time that one takes here, where they hold that part of all entries.
_FREQUENT, _WORTHWHILE = 0.05, 0.2


class SparseProducts:
    """X X'A for sparse X (n, d) and blocks A (n, C) whose classes are contiguous.

    The first half runs by word, X'A, the second by document, X (X'A); both add up weighted rows
    of a block ("dimension flipping" of Seeger 2006, appendix D.2), for as many classes at a time
    as the registers hold, so that what lies between the halves stays in cache. Words at both ends
    take part in neither: one of a document alone adds x^2 to the diagonal of X X', and the most
    frequent ones are a dense matrix.

    Parameters
    ----------
    X : (n, d) csr_array, float32 or float64
    """

    def __init__(self, X):
        documents = np.bincount(X.indices, minlength=X.shape[1])
        alone = documents[X.indices] == 1
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        self._alone = np.bincount(
            rows[alone], X.data[alone].astype(float) ** 2, minlength=X.shape[0]
        ).astype(X.dtype)
        frequent = documents > max(1, _FREQUENT * X.shape[0])
        if documents[frequent].sum() < _WORTHWHILE * X.nnz:
            frequent[:] = False
        self._frequent = X[:, frequent].toarray() if frequent.any() else None
        kept = sparse.csr_array(X[:, (documents > 1) & ~frequent])
        self._by_document, self._by_word = _Order(kept), _Order(sparse.csr_array(kept.T))

    def gram(self, block):
        """X X'A (n, C), of the dtype of A."""
        block = np.ascontiguousarray(block)
        n, n_columns = block.shape
        if self._frequent is None:
            out = np.zeros_like(block)
        else:
            dense = self._frequent.astype(block.dtype, copy=False)
            out = dense @ (dense.T @ block)
        width = narrow_width(block.dtype)
        panel, between = (
            aligned_zeros((rows, width), block.dtype) for rows in (n, self._by_word.n_rows)
        )
        alone = self._alone.astype(block.dtype, copy=False)[:, None]
        many = n * width > PASS_WORTH_A_THREAD
        with at_most_threads(4 * self._by_word.nnz * n_columns / WORTH_A_THREAD):
            for first in range(0, n_columns, width):
                columns = slice(first, min(first + width, n_columns))
                used = columns.stop - first
                if many:
                    _load(block, first, used, panel)
                else:
                    panel[:, :used], panel[:, used:] = block[:, columns], 0
                between[:] = 0
                self._by_word.add(panel, between)
                panel *= alone
                self._by_document.add(between, panel)
                if many:
                    _add_to(panel, first, used, out)
                else:
                    out[:, columns] += panel[:, :used]
        return out


class _Order:
    """The entries of X by row, and where each block of columns begins in a row."""

    def __init__(self, matrix):
        matrix.sort_indices()
        self.n_rows, self.nnz = matrix.shape[0], matrix.nnz
        self._bounds = matrix.indptr.astype(np.int64)
        self._columns, self._values = matrix.indices.astype(np.int32), matrix.data[:, None]
        n_blocks = max(1, -(-matrix.shape[1] // _BLOCK_ROWS))
        self._starts = np.empty((self.n_rows, n_blocks + 1), np.int64)
        block_starts(self._columns, self._bounds, _BLOCK_ROWS, self._starts)

    def add(self, source, out):
        """out += X source, panels of the width of the registers."""
        values = self._values.astype(out.dtype, copy=False)
        tasks, width = _tasks(self._bounds), source.shape[1]
        flat, out = source.reshape(-1), out.reshape(-1)
        _add(self._starts, self._columns, values, tasks, width, flat, out, PLAIN)


@njit(parallel=True, cache=True)
def _add(starts, columns, values, tasks, width, source, out, plain):
    for task in prange(len(tasks) - 1):
        for block in range(starts.shape[1] - 1):
            for j in range(tasks[task], tasks[task + 1]):
                at, stop = starts[j, block], starts[j, block + 1]
                _add_rows_narrow(plain, out, j * width, width, source, columns, values, at, stop)


@njit(parallel=True, cache=True)
def _load(block, first, used, panel):
    """Columns of a block into a panel, the rest of it zero."""
    for i in prange(len(block)):
        for c in range(used):
            panel[i, c] = block[i, first + c]
        for c in range(used, panel.shape[1]):
            panel[i, c] = 0


@njit(parallel=True, cache=True)
def _add_to(panel, first, used, out):
    """Add a panel to the columns of a block."""
    for i in prange(len(out)):
        for c in range(used):
            out[i, first + c] += panel[i, c]
