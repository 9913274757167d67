"""Products with sparse features in both orders, by the vector loops of the sampled products."""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from scipy import sparse

from kronbench.operators._kernels import _add_rows_narrow, narrow_width
from kronbench.operators._routes import aligned_zeros
from kronbench.operators._threads import at_most_threads

_WORTH_A_THREAD = 1e7


class SparseProducts:
    """X X'A for sparse X (n, d) and blocks A (n, C) whose classes are contiguous.

    The first half runs by word, X'A, the second by document, X (X'A); both add up weighted rows
    of a block ("dimension flipping" of Seeger 2006, appendix D.2), for as many classes at a time
    as the registers hold, so that the words' rows between the halves stay in cache. A word of one
    document alone adds x^2 to the diagonal of X X' and takes part in neither half.

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
        kept = sparse.csr_array(X[:, documents > 1])
        kept.sort_indices()
        self._n_words, self._nnz = kept.shape[1], kept.nnz
        self._by_document, self._by_word = _rows(kept), _rows(sparse.csr_array(kept.T))

    def gram(self, block):
        """X X'A (n, C), of the dtype of A."""
        block = np.ascontiguousarray(block)
        out = np.empty_like(block)
        width = narrow_width(block.dtype)
        values = [
            rows[2].astype(block.dtype, copy=False) for rows in (self._by_word, self._by_document)
        ]
        # Scratch is of one product: a solver that kept it would not be free to run in threads
        scratch = [
            aligned_zeros((n_rows * width,), block.dtype)
            for n_rows in (len(block), self._n_words, len(block))
        ]
        with at_most_threads(4 * self._nnz * block.shape[1] / _WORTH_A_THREAD):
            _gram(
                block,
                *self._by_word[:2],
                values[0],
                *self._by_document[:2],
                values[1],
                self._alone.astype(block.dtype, copy=False),
                *scratch,
                width,
                out,
            )
        return out


def _rows(matrix):
    matrix.sort_indices()
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data[:, None]


@njit(parallel=True, cache=True)
def _gram(
    block,
    word_starts,
    documents,
    word_values,
    document_starts,
    words,
    document_values,
    alone,
    packed,
    between,
    sums,
    width,
    out,
):
    n, n_columns = block.shape
    panel = packed.reshape(n, width)
    middle = between.reshape(len(word_starts) - 1, width)
    for first in range(0, n_columns, width):
        used = min(width, n_columns - first)
        for i in prange(n):
            for k in range(used):
                panel[i, k] = block[i, first + k]
            for k in range(used, width):
                panel[i, k] = 0
        for j in prange(len(word_starts) - 1):
            middle[j] = 0
            _add_rows_narrow(
                between,
                j * width,
                width,
                panel,
                documents,
                word_values,
                word_starts[j],
                word_starts[j + 1],
            )
        for i in prange(n):
            for k in range(width):
                sums[i * width + k] = alone[i] * panel[i, k]
            _add_rows_narrow(
                sums,
                i * width,
                width,
                middle,
                words,
                document_values,
                document_starts[i],
                document_starts[i + 1],
            )
            for k in range(used):
                out[i, first + k] = sums[i * width + k]
