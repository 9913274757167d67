"""Sparse matrices times dense ones, in threads: loops on panels of few columns.

A panel is a few columns of a matrix, packed without gaps and passed block by block, so that its
rows are read from L1 or L2; what belongs to one row of the sparse matrix stays in registers.

                   minor vertices              panel: 4 or 16 registers wide
                block 0   block 1  ...         (2 or 8 on older processors)
    row 0       x . x x | . x . .              |----|
    row 1       . x . . | x . . x              |----|  block 0 of its rows, in L2
    ...             task of thread 0           |----|
    -----------------------------              |----|
    row j       x . . x | . . x x              |----|  block 1
    ...             task of thread 1           |----|

A task is a range of rows of the sparse matrix with about as many entries as any other
(``even_tasks``); a thread has one, and packs every panel for itself. It takes 64 rows at a time
(``MAJOR_BLOCK``), and all of them in one block of minor vertices before the next block, so that
both the rows of the panel and the 64 rows of sums stay in cache.

``accumulate`` adds up weighted rows of a panel (a sparse matrix times a dense one), ``contract``
takes inner products with them (a dense times a dense one where a sparse one has entries).

The innermost loops are plain numba. Where ``_native/vector_instructions.py`` is there and numba is
one that it was tried with, its loops serve, unless ``KRONBENCH_PLAIN`` is 1. The sums are the same
to rounding. No result depends on the number of threads: every sum is formed in one thread in the
same order.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import llvmlite.binding
import numba
import numpy as np
from numba import config, njit, prange
from numba.extending import overload
from numpy.typing import DTypeLike
from scipy import sparse

from kronbench.linalg._native.switch import NUMBA_BEFORE, SWITCHED_OFF
from kronbench.linalg.threads import WORTH_A_THREAD, at_most_threads, in_threads

vector_instructions: Any = None
if not SWITCHED_OFF and numba.version_info.short < NUMBA_BEFORE:
    with contextlib.suppress(ImportError):  # an optional file
        from kronbench.linalg._native import vector_instructions

# The argument ``plain`` of the kernels: None for vector instructions, True for numba's loops. No
# constant, so that numba's cache tells the two apart. Where there are no vector instructions no
# caller may pass None: the cache would keep the plain loops in their place.
PLAIN = True if vector_instructions is None else None

# Vectors that the inner loops keep in registers: half of the 32 or 16 that there are, the rest is
# for operands.
_FEATURES = (
    llvmlite.binding.get_host_cpu_features().flatten()
    if config.CPU_FEATURES is None
    else config.CPU_FEATURES
)
VECTOR_BYTES, _WIDE = (
    (64, 16) if "+avx512f" in _FEATURES else (32, 8) if "+avx2" in _FEATURES else (16, 8)
)
# Registers of a narrow panel, which takes the last columns where a wide one would be mostly empty.
_NARROW = _WIDE // 4

# How many vectors one pass multiplies: one, or two that share the loads.
BATCH = 2

# Rows of the sparse matrix whose sums stay in cache while all blocks of the panel are passed.
MAJOR_BLOCK = 64

# Rows of a panel that are packed at a time: long enough to be read in streams when transposed.
_STRIP_ROWS = 64

# Rows of a block of the other side, in the products of documents. At 9794 documents and 61,000
# words this takes a fifth less time on two threads than 3000, and a tenth less than in one go.
_DOCUMENT_BLOCK_ROWS = 20000


def narrow_width(dtype: DTypeLike) -> int:
    """Columns of the narrowest panel."""
    return _NARROW * VECTOR_BYTES // np.dtype(dtype).itemsize


def padded_columns(n_columns: int, dtype: DTypeLike) -> int:
    """Columns of an array that takes the panels of ``n_columns`` columns."""
    widest = 4 * narrow_width(dtype)
    padded = -(-n_columns // widest) * widest
    row_bytes = padded * np.dtype(dtype).itemsize
    return padded + widest if row_bytes % 4096 == 0 else padded  # such rows share cache sets


def aligned_zeros(shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
    """Zeros whose rows begin on a boundary of the vectors of the kernels."""
    n_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.zeros(n_bytes + VECTOR_BYTES, np.uint8)
    skip = -memory.ctypes.data % VECTOR_BYTES
    return memory[skip : skip + n_bytes].view(dtype).reshape(shape)


def even_tasks(bounds: np.ndarray) -> np.ndarray:
    """Bounds of consecutive rows with about equally many entries, one part for each thread.

    ``bounds`` (d + 1,) tell where the entries of each row begin.
    """
    # The rows in which the entries n/T, 2n/T, ... lie begin the parts of T threads.
    n_threads = numba.get_num_threads()
    parts = np.arange(1, n_threads) * bounds[-1] // n_threads
    return np.concatenate([[0], np.searchsorted(bounds, parts), [len(bounds) - 1]])


# Sums may be formed in another order; infinities and NaN come through
_REASSOCIATE = {"reassoc", "contract", "nsz", "arcp"}


def _item_bytes(array):
    """Bytes of an element as a constant of the compiler, which unrolls loops of known length."""
    return array.itemsize


@overload(_item_bytes)
def _(array):
    n_bytes = array.dtype.bitwidth // 8
    return lambda array: n_bytes


def make_add_rows(registers: int, width: int, vector_bytes: int) -> Callable:
    """Weighted rows of a panel as wide as so many vector registers, added to ``width`` rows.

    Four entries at once: the sums are loaded once for them. Unsigned places keep numba from
    looking for negative ones.
    """
    row_bytes = registers * vector_bytes

    @njit(fastmath=_REASSOCIATE)
    def add_rows(out, offset, stride, panel, indices, values, start, stop):
        """out[offset + v*stride + k] += sum_h values[h, v] * panel[indices[h], k]."""
        # The length is a constant of the compiler: the loops over k have no rest.
        length = np.uint64(row_bytes // _item_bytes(panel))
        ones = stop - (stop - start) % 4
        # Four entries h..h+3: where their rows of the panel begin, a to d
        for h in range(start, ones, 4):
            a, b = np.uint64(indices[h]) * length, np.uint64(indices[h + 1]) * length
            c, d = np.uint64(indices[h + 2]) * length, np.uint64(indices[h + 3]) * length
            for v in range(width):
                at = np.uint64(offset + v * stride)
                wa, wb, wc, wd = values[h, v], values[h + 1, v], values[h + 2, v], values[h + 3, v]
                for k in range(length):
                    out[at + k] += (
                        wa * panel[a + k]
                        + wb * panel[b + k]
                        + wc * panel[c + k]
                        + wd * panel[d + k]
                    )
        # Up to three entries are left.
        for h in range(ones, stop):
            a = np.uint64(indices[h]) * length
            for v in range(width):
                at = np.uint64(offset + v * stride)
                wa = values[h, v]
                for k in range(length):
                    out[at + k] += wa * panel[a + k]

    return add_rows


def make_inner_products(registers: int, width: int, vector_bytes: int) -> Callable:
    """Inner products of ``width`` rows with rows of a panel, four entries at once."""
    row_bytes = registers * vector_bytes

    @njit(fastmath=_REASSOCIATE)
    def inner_products(out, rows, offset, stride, panel, indices, start, stop):
        """out[h, v] += sum_k rows[offset + v*stride + k] * panel[indices[h], k]."""
        length = np.uint64(row_bytes // _item_bytes(panel))
        # What all entries of a vertex share: its row of the inner array
        fixed = rows.reshape(-1)
        ones = stop - (stop - start) % 4
        for h in range(start, ones, 4):
            a, b = np.uint64(indices[h]) * length, np.uint64(indices[h + 1]) * length
            c, d = np.uint64(indices[h + 2]) * length, np.uint64(indices[h + 3]) * length
            for v in range(width):
                at = np.uint64(offset + v * stride)
                # Sums of the panel's type: with a float64 zero numba would widen single precision.
                sa = sb = sc = sd = panel.dtype.type(0)
                for k in range(length):
                    x = fixed[at + k]
                    sa += x * panel[a + k]
                    sb += x * panel[b + k]
                    sc += x * panel[c + k]
                    sd += x * panel[d + k]
                out[h, v] += sa
                out[h + 1, v] += sb
                out[h + 2, v] += sc
                out[h + 3, v] += sd
        # Up to three entries are left.
        for h in range(ones, stop):
            a = np.uint64(indices[h]) * length
            for v in range(width):
                at = np.uint64(offset + v * stride)
                sa = panel.dtype.type(0)
                for k in range(length):
                    sa += fixed[at + k] * panel[a + k]
                out[h, v] += sa

    return inner_products


def _on_panels(make_plain):
    """A loop on panels of each kind behind one name; only the code asked for is compiled."""
    # Three kinds: a wide panel, a narrow one, and a panel for two vectors whose sums together fill
    # as many registers as those of a wide one for one vector.
    make_vector = getattr(vector_instructions, make_plain.__name__, make_plain)
    plain_loops, vector_loops = (
        [
            make(registers, width, VECTOR_BYTES)
            for registers, width in ((_WIDE, 1), (_NARROW, 1), (_WIDE // BATCH, BATCH))
        ]
        for make in (make_plain, make_vector)
    )
    plain_wide, plain_narrow, plain_batch = plain_loops
    vector_wide, vector_narrow, vector_batch = vector_loops

    # numba decides branches on None while it compiles, and drops the other one.
    @njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)
    def loop(plain, wide, width, a, b, c, d, e, f, g, h):
        if plain is None:
            if wide:
                vector_wide(a, b, c, d, e, f, g, h)
            elif width == 1:
                vector_narrow(a, b, c, d, e, f, g, h)
            else:
                vector_batch(a, b, c, d, e, f, g, h)
        elif wide:
            plain_wide(a, b, c, d, e, f, g, h)
        elif width == 1:
            plain_narrow(a, b, c, d, e, f, g, h)
        else:
            plain_batch(a, b, c, d, e, f, g, h)

    return loop


_add_rows, _inner_products = map(_on_panels, (make_add_rows, make_inner_products))


@njit
def _transpose(rows, columns, low, high, block):
    """block[i, k] = rows[columns[k], low + i], by streams along four rows at once."""
    n = len(columns)
    fours = n - n % 4
    for k in range(0, fours, 4):
        a, b = rows[columns[k]], rows[columns[k + 1]]
        c, d = rows[columns[k + 2]], rows[columns[k + 3]]
        for i in range(high - low):
            at, row = low + i, block[i]
            row[k], row[k + 1], row[k + 2], row[k + 3] = a[at], b[at], c[at], d[at]
    for k in range(fours, n):
        a = rows[columns[k]]
        for i in range(high - low):
            block[i, k] = a[low + i]


@njit
def _pack(matrix, transposed, columns, first, width, narrow, room):
    """panel[i, k] = matrix[i, columns[first + k]], zero in the columns after those.

    Returns whether the panel is wide, its number of columns, and how many of them are used.
    """
    # A wide panel as long as more than half of it is used, then narrow ones
    wide = width == 1 and len(columns) - first > 2 * narrow
    length = 4 * narrow if wide else narrow if width == 1 else 4 * narrow // width
    # The panel lies in the memory of the thread, its rows without gaps.
    columns = columns[first : first + length]
    n_rows = matrix.shape[1] if transposed else matrix.shape[0]
    panel = room[: n_rows * length].reshape(n_rows, length)
    if transposed:
        for low in range(0, n_rows, _STRIP_ROWS):
            high = low + _STRIP_ROWS if low + _STRIP_ROWS < n_rows else n_rows
            _transpose(matrix, columns, low, high, panel[low:high])
    else:
        for i in range(n_rows):
            row, packed = matrix[i], panel[i]
            for k in range(len(columns)):
                packed[k] = row[columns[k]]
    panel[:, len(columns) :] = 0
    return wide, length, len(columns)


@njit(nogil=True, cache=True)
def accumulate(
    matrix, transposed, columns, starts, indices, values, out, begin, end, panel, narrow, plain
):
    """out[j, v, k] += sum of values[h, v] * matrix[indices[h], columns[k]] over the pairs h of j.

    ``starts`` (d, n_blocks + 1) tell where the pairs of each major vertex begin in each block of
    minor vertices; those from ``begin`` to ``end`` are summed. Every thread packs its own
    ``panel``: threads that shared one would have to meet, which costs whole time slices.
    """
    width, stride = out.shape[1], out.shape[2]
    flat = out.reshape(-1)
    n_blocks = starts.shape[1] - 1
    first = 0
    while first < len(columns):
        # A panel is packed once and meets all rows of the task.
        wide, length, _ = _pack(matrix, transposed, columns, first, width, narrow, panel)
        for low in range(begin, end, MAJOR_BLOCK):
            high = low + MAJOR_BLOCK if low + MAJOR_BLOCK < end else end
            for block in range(n_blocks):
                for j in range(low, high):
                    at, stop = starts[j, block], starts[j, block + 1]
                    # The row of sums stays in registers for all entries of j in this block.
                    offset = j * width * stride + first
                    _add_rows(
                        plain, wide, width, flat, offset, stride, panel, indices, values, at, stop
                    )
        first += length


@njit(nogil=True, cache=True)
def contract(
    inner, matrix, transposed, columns, starts, indices, out, begin, end, panel, room, sources,
    narrow, plain,
):  # fmt: skip
    """out[h, v] += sum_k inner[k, v, i] * matrix[indices[h], columns[k]] for the pairs h of i.

    ``room`` for ``MAJOR_BLOCK`` rows of the widest panel, and ``sources`` for its columns, are
    those of one thread.
    """
    width = inner.shape[1]
    flat = inner.reshape(-1, inner.shape[2])
    n_blocks = starts.shape[1] - 1
    first = 0
    while first < len(columns):
        wide, length, used = _pack(matrix, transposed, columns, first, width, narrow, panel)
        stride = MAJOR_BLOCK * length
        room[: width * stride] = 0
        rows = room[: width * stride].reshape(width, MAJOR_BLOCK, length)
        for low in range(begin, end, MAJOR_BLOCK):
            high = low + MAJOR_BLOCK if low + MAJOR_BLOCK < end else end
            # The inner array has the vertices i in its columns: 64 of them are turned into rows of
            # the width of the panel, so that an inner product reads both sides in order.
            for v in range(width):
                for k in range(used):
                    sources[k] = (first + k) * width + v
                _transpose(flat, sources[:used], low, high, rows[v])
            for block in range(n_blocks):
                for i in range(low, high):
                    at, stop = starts[i, block], starts[i, block + 1]
                    offset = (i - low) * length
                    _inner_products(
                        plain, wide, width, out, rows, offset, stride, panel, indices, at, stop
                    )
        first += length


def block_starts(
    minor: np.ndarray, bounds: np.ndarray, block_rows: int, n_blocks: int
) -> np.ndarray:
    """(d, n_blocks + 1): where the pairs of a major vertex begin in each block of minor ones."""
    # Each pair is counted in the cell (major vertex, block), numbered row by row; the cumulated
    # counts of a row are where its blocks begin.
    d = len(bounds) - 1
    block = np.repeat(np.arange(d) * n_blocks, np.diff(bounds))
    block += minor // block_rows
    counts = np.bincount(block, minlength=d * n_blocks).reshape(d, n_blocks)
    starts = np.zeros((d, n_blocks + 1), np.int64)
    np.cumsum(counts, axis=1, out=starts[:, 1:])
    return starts + bounds[:-1, None]


@njit(nogil=True, cache=True)
def add_products(starts, columns, values, width, source, out, plain, begin, end):
    """out[j, k] += sum of values[h] * source[columns[h], k] over the entries h of row j.

    ``source`` and ``out`` are flat arrays of rows of ``width``, the narrowest panel's.
    """
    for block in range(starts.shape[1] - 1):
        for j in range(begin, end):
            at, stop = starts[j, block], starts[j, block + 1]
            _add_rows(plain, False, 1, out, j * width, width, source, columns, values, at, stop)


class SparseProducts:
    """X X'A for sparse X (n, d) and blocks A (n, C) whose classes are contiguous.

    The first half runs by word, X'A, the second by document, X (X'A); both add up weighted rows
    of a block ("dimension flipping" of Seeger 2006, appendix D.2), for as many classes at a time
    as the registers hold. A word of one document alone adds x^2 to the diagonal of X X' and takes
    part in neither half.
    """

    def __init__(self, X: sparse.csr_array):
        # Words of one document are taken out, with the sum of their squares for each document.
        documents = np.bincount(X.indices, minlength=X.shape[1])
        alone = documents[X.indices] == 1
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        self._alone = np.bincount(
            rows[alone], X.data[alone].astype(float) ** 2, minlength=X.shape[0]
        ).astype(X.dtype)
        kept = sparse.csr_array(X[:, documents > 1])
        self._by_document, self._by_word = _by_row(kept), _by_row(sparse.csr_array(kept.T))

    def gram(self, block: np.ndarray) -> np.ndarray:
        """X X'A (n, C), of the dtype of A."""
        block = np.ascontiguousarray(block)
        out = np.empty_like(block)
        n, n_columns = block.shape
        width = narrow_width(block.dtype)
        starts, entries, *_ = self._by_word
        panel, between = (aligned_zeros((rows, width), block.dtype) for rows in (n, len(starts)))
        alone = self._alone.astype(block.dtype, copy=False)
        with at_most_threads(4 * len(entries) * n_columns / WORTH_A_THREAD):
            for first in range(0, n_columns, width):
                columns = slice(first, min(first + width, n_columns))
                # A panel of classes: between = X' panel, by word, then panel = X between + alone
                # panel, by document
                used = columns.stop - first
                panel[:, :used], panel[:, used:] = block[:, columns], 0
                between[:] = 0
                _add(self._by_word, panel, between)
                _times(alone, panel)
                _add(self._by_document, between, panel)
                out[:, columns] = panel[:, :used]
        return out


def _by_row(matrix):
    """Where each block of columns begins in a row, columns and values of the entries, bounds."""
    matrix.sort_indices()
    bounds, columns = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    n_blocks = max(1, -(-matrix.shape[1] // _DOCUMENT_BLOCK_ROWS))
    starts = block_starts(columns, bounds, _DOCUMENT_BLOCK_ROWS, n_blocks)
    return starts, columns, matrix.data[:, None], bounds


def _add(entries, source, out):
    starts, columns, values, bounds = entries
    tasks, width = even_tasks(bounds), source.shape[1]
    values = values.astype(source.dtype, copy=False)
    given = starts, columns, values, width, source.reshape(-1), out.reshape(-1), PLAIN
    in_threads(lambda k: add_products(*given, tasks[k], tasks[k + 1]), len(tasks) - 1)


@njit(parallel=True, cache=True)
def _times(factors, panel):
    """Each row of a panel times its factor; numpy is slow on rows that are this short."""
    for i in prange(len(panel)):
        row, factor = panel[i], factors[i]
        for c in range(len(row)):
            row[c] *= factor
