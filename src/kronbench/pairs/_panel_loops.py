"""Threaded loops of the sampled Kronecker products.

Both halves of Algorithm 1 run over pairs sorted by their major vertex. For each pair they take
the row of a matrix that belongs to its minor vertex: ``accumulate`` adds it to the row of the
major vertex, ``contract`` takes its inner product with that row. The rows come from a panel of
few columns, packed without gaps and passed block by block, so that it is read from L1 or L2; what
belongs to the major vertex stays in registers.

The two innermost loops are there twice. In vector instructions, explicit 512-bit vectors even
where LLVM prefers 256 bits, they run at 24 GFlop/s on two cores, the rate of the same loops in
C++, where plain numba reached 17, and 20 with 512-bit vectors allowed (m = q = 1000, a quarter
of the pairs, double precision; ratios in single precision are alike).
In plain numba they serve where numba is newer than the instructions were tried with, and where
``KRONBENCH_PLAIN_NUMBA`` is 1. They stay in one module because numba's cache looks at the age of
this file alone.

Two vectors at once share each loaded row of the panel, for half as much again in operations a
second.

No result depends on the number of threads: every sum is formed in one thread in the same order.
"""

from __future__ import annotations

import os

import llvmlite.binding
import numba
import numpy as np
from llvmlite import ir
from numba import config, njit, prange, types
from numba.extending import intrinsic, overload

# The first numba that the vector instructions were not tried with: the bound in pyproject.toml.
NUMBA_BEFORE = (0, 69)


def chosen_loops(numba_version, environment) -> bool | None:
    """The ``plain`` of the kernels: None for vector instructions, True for plain numba."""
    wanted = environment.get("KRONBENCH_PLAIN_NUMBA", "0") not in ("", "0")
    return True if wanted or tuple(numba_version) >= NUMBA_BEFORE else None


# An argument of the kernels and not a constant, so that numba's cache tells the two apart.
PLAIN = chosen_loops(numba.version_info.short, os.environ)

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
_NARROW = _WIDE // 4

# How many vectors one pass multiplies: one, or two that share the loads.
BATCH = 2

# Bytes of a row of the widest panel.
PANEL_ROW = _WIDE * VECTOR_BYTES

# The panel is passed in blocks of rows. They should be few, so that a block stays in L1 or at
# least in L2, but hold enough pairs of each major vertex that loading its sums is no burden.
_FEWEST_ROWS, _MOST_ROWS, _PAIRS_OF_A_BLOCK = 32, 768, 32

# Major vertices whose sums stay in cache while all blocks of the panel are passed.
_MAJOR_BLOCK = 64

# Rows of a panel that are packed at a time: long enough to be read in streams when transposed.
_STRIP = 64

# Products and sums may be fused; no more, so that infinities and NaN come through
_FUSED = ("contract",)
_INT64, _INT32 = ir.IntType(64), ir.IntType(32)


def narrow_width(dtype):
    """Columns of the narrowest panel."""
    return _NARROW * VECTOR_BYTES // np.dtype(dtype).itemsize


def rows_of_a_block(density):
    """How many minor vertices to pass at a time where this part of all possible pairs is there."""
    return int(min(max(_PAIRS_OF_A_BLOCK / density, _FEWEST_ROWS), _MOST_ROWS))


def padded_columns(n_columns, dtype):
    """Columns of an array that takes the panels of ``n_columns`` columns."""
    widest = 4 * narrow_width(dtype)
    padded = -(-n_columns // widest) * widest
    row_bytes = padded * np.dtype(dtype).itemsize
    return padded + widest if row_bytes % 4096 == 0 else padded  # such rows share cache sets


class _Vectors:
    """Emits code on vectors of VECTOR_BYTES of one element type."""

    def __init__(self, builder, element, element_bytes):
        self.builder, self.element, self.align = builder, element, element_bytes
        self.lanes = VECTOR_BYTES // element_bytes
        self.vector = ir.VectorType(element, self.lanes)

    def at(self, pointer, offset):
        return self.builder.gep(pointer, [self._index(offset)])

    def starts(self, pointer, offset, stride, count):
        """Pointers to the rows at offset, offset + stride, ..."""
        strides = [self.builder.mul(stride, self._index(v)) for v in range(count)]
        return [self.builder.gep(pointer, [self.builder.add(offset, v)]) for v in strides]

    def load(self, pointer, offset):
        return self.load_as(self.vector, self.at(pointer, offset))

    def load_as(self, kind, pointer):
        value = self.builder.load(self.builder.bitcast(pointer, kind.as_pointer()))
        value.align = self.align
        return value

    def store(self, value, pointer):
        pointer = self.builder.bitcast(pointer, value.type.as_pointer())
        self.builder.store(value, pointer).align = self.align

    def fill(self, value):
        """The number in every lane."""
        undefined = ir.Constant(self.vector, ir.Undefined)
        first = self.builder.insert_element(undefined, value, ir.Constant(_INT32, 0))
        zeros = ir.Constant(ir.VectorType(_INT32, self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(first, undefined, zeros)

    def multiply_add(self, total, x, y):
        product = self.builder.fmul(x, y, flags=_FUSED)
        return product if total is None else self.builder.fadd(total, product, flags=_FUSED)

    def sums(self, vectors):
        """One vector that holds partial sums of each, in turn: neighbours are added."""
        while len(vectors) > 1:
            pairs = zip(vectors[::2], vectors[1::2], strict=True)
            vectors = [self._add_neighbours(x, y) for x, y in pairs]
        return vectors[0]

    def fold(self, vector, size):
        """The sums that are spread over all lanes, as a vector of this size."""
        while vector.type.count > size:
            vector = self._add_neighbours(
                vector, ir.Constant(vector.type, ir.Undefined), half=True
            )
        return vector

    def row_of(self, panel, indices, position, row_length):
        """Pointer to the row of the panel that belongs to a pair."""
        index = self.builder.load(self.builder.gep(indices, [position]))
        offset = self.builder.mul(self.builder.sext(index, _INT64), self._index(row_length))
        return self.builder.gep(panel, [offset])

    def _add_neighbours(self, x, y, half=False):
        size = x.type.count // 2 if half else x.type.count
        kind = ir.VectorType(_INT32, size)
        even, odd = (
            self.builder.shuffle_vector(x, y, ir.Constant(kind, [2 * i + k for i in range(size)]))
            for k in (0, 1)
        )
        return self.builder.fadd(even, odd)

    def _index(self, value):
        return ir.Constant(_INT64, value) if isinstance(value, int) else value


def _loop(builder, start, stop, step, carried, body):
    """Emit ``while start + step <= stop``; body(position, carried) -> carried of the next turn."""
    step = ir.Constant(_INT64, step)
    before = builder.block
    inside = builder.append_basic_block("pairs")
    after = builder.append_basic_block("pairs.end")
    more = builder.icmp_signed("<=", builder.add(start, step), stop)
    builder.cbranch(more, inside, after)
    builder.position_at_end(inside)
    position = builder.phi(_INT64)
    phis = [builder.phi(value.type) for value in carried]
    results = body(position, phis)
    following = builder.add(position, step)
    more = builder.icmp_signed("<=", builder.add(following, step), stop)
    last = builder.block
    builder.cbranch(more, inside, after)
    for phi, first, again in zip(
        [position, *phis], [start, *carried], [following, *results], strict=True
    ):
        phi.add_incoming(first, before)
        phi.add_incoming(again, last)
    builder.position_at_end(after)
    finals = []
    for first, again in zip([start, *carried], [following, *results], strict=True):
        final = builder.phi(first.type)
        final.add_incoming(first, before)
        final.add_incoming(again, last)
        finals.append(final)
    return finals[0], finals[1:]


def _pointers(context, builder, signature, args, positions):
    kinds = signature.args
    return [context.make_array(kinds[i])(context, builder, args[i]).data for i in positions]


def _make_add_rows(registers, width):
    """First half of Algorithm 1 for one major vertex, on a panel as wide as the registers."""

    @intrinsic
    def add_rows(typing, out, offset, stride, panel, indices, values, start, stop):
        """out[offset + v*stride + k] += sum_h values[h, v] * panel[indices[h], k]."""
        integer = types.int64
        signature = types.void(out, integer, integer, panel, indices, values, integer, integer)

        def generate(context, builder, signature, args):
            kind = signature.args[0].dtype
            simd = _Vectors(builder, context.get_value_type(kind), kind.bitwidth // 8)
            out, panel, indices, values = _pointers(
                context, builder, signature, args, (0, 3, 4, 5)
            )
            offset, stride, start, stop = args[1], args[2], args[6], args[7]
            starts = simd.starts(out, offset, stride, width)
            slots = [(v, q) for v in range(width) for q in range(registers)]

            def pair(position, totals):
                row = simd.row_of(panel, indices, position, registers * simd.lanes)
                x = [simd.load(row, q * simd.lanes) for q in range(registers)]
                first = builder.mul(position, simd._index(width))
                weights = [
                    simd.fill(
                        builder.load(builder.gep(values, [builder.add(first, simd._index(v))]))
                    )
                    for v in range(width)
                ]
                return [
                    simd.multiply_add(total, weights[v], x[q])
                    for total, (v, q) in zip(totals, slots, strict=True)
                ]

            with builder.if_then(builder.icmp_signed("<", start, stop)):
                totals = [simd.load(starts[v], q * simd.lanes) for v, q in slots]
                _, totals = _loop(builder, start, stop, 1, totals, pair)
                for total, (v, q) in zip(totals, slots, strict=True):
                    simd.store(total, simd.at(starts[v], q * simd.lanes))
            return context.get_dummy_value()

        return signature, generate

    return add_rows


def _make_inner_products(registers, width):
    """Second half of Algorithm 1 for one major vertex, on a panel as wide as the registers."""

    @intrinsic
    def inner_products(typing, out, rows, offset, stride, panel, indices, start, stop):
        """out[h, v] += sum_k rows[offset + v*stride + k] * panel[indices[h], k]."""
        integer = types.int64
        signature = types.void(out, rows, integer, integer, panel, indices, integer, integer)

        def generate(context, builder, signature, args):
            kind = signature.args[0].dtype
            simd = _Vectors(builder, context.get_value_type(kind), kind.bitwidth // 8)
            out, rows, panel, indices = _pointers(context, builder, signature, args, (0, 1, 4, 5))
            offset, stride, start, stop = args[2], args[3], args[6], args[7]
            length = registers * simd.lanes
            fixed = [
                [simd.load(first, q * simd.lanes) for q in range(registers)]
                for first in simd.starts(rows, offset, stride, width)
            ]

            def pairs(count):
                def body(position, _):
                    sources = [
                        simd.row_of(panel, indices, builder.add(position, simd._index(i)), length)
                        for i in range(count)
                    ]
                    totals = [None] * (count * width)
                    for q in range(registers):
                        for i, row in enumerate(sources):
                            x = simd.load(row, q * simd.lanes)
                            for v in range(width):
                                at = i * width + v
                                totals[at] = simd.multiply_add(totals[at], fixed[v][q], x)
                    result = simd.fold(simd.sums(totals), count * width)
                    target = builder.gep(out, [builder.mul(position, simd._index(width))])
                    old = simd.load_as(result.type, target)
                    simd.store(builder.fadd(old, result), target)
                    return []

                return body

            together = min(4, simd.lanes) // width  # their sums fill at most one vector
            if together > 1:
                start, _ = _loop(builder, start, stop, together, [], pairs(together))
            _loop(builder, start, stop, 1, [], pairs(1))
            return context.get_dummy_value()

        return signature, generate

    return inner_products


# Sums may be formed in another order; infinities and NaN come through
_REASSOCIATE = {"reassoc", "contract", "nsz", "arcp"}


def _item_bytes(array):
    """Bytes of an element as a constant of the compiler, which unrolls loops of known length."""
    return array.itemsize


@overload(_item_bytes)
def _(array):
    n_bytes = array.dtype.bitwidth // 8
    return lambda array: n_bytes


def _make_plain_add_rows(registers, width):
    """The same as :func:`_make_add_rows`, four pairs at once: the sums are loaded once for them.

    Unsigned places keep numba from looking for negative ones.
    """
    row_bytes = registers * VECTOR_BYTES

    @njit(fastmath=_REASSOCIATE)
    def add_rows(out, offset, stride, panel, indices, values, start, stop):
        length = np.uint64(row_bytes // _item_bytes(panel))
        ones = stop - (stop - start) % 4
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
        for h in range(ones, stop):
            a = np.uint64(indices[h]) * length
            for v in range(width):
                at = np.uint64(offset + v * stride)
                wa = values[h, v]
                for k in range(length):
                    out[at + k] += wa * panel[a + k]

    return add_rows


def _make_plain_inner_products(registers, width):
    """The same as :func:`_make_inner_products`, four pairs at once: their row is loaded once."""
    row_bytes = registers * VECTOR_BYTES

    @njit(fastmath=_REASSOCIATE)
    def inner_products(out, rows, offset, stride, panel, indices, start, stop):
        length = np.uint64(row_bytes // _item_bytes(panel))
        fixed = rows.reshape(-1)
        ones = stop - (stop - start) % 4
        for h in range(start, ones, 4):
            a, b = np.uint64(indices[h]) * length, np.uint64(indices[h + 1]) * length
            c, d = np.uint64(indices[h + 2]) * length, np.uint64(indices[h + 3]) * length
            for v in range(width):
                at = np.uint64(offset + v * stride)
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
        for h in range(ones, stop):
            a = np.uint64(indices[h]) * length
            for v in range(width):
                at = np.uint64(offset + v * stride)
                sa = panel.dtype.type(0)
                for k in range(length):
                    sa += fixed[at + k] * panel[a + k]
                out[h, v] += sa

    return inner_products


def _either(make_vector, make_plain, registers, width):
    """Both carriers of a loop behind one name; only the one that is asked for is compiled."""
    vector, plain_numba = make_vector(registers, width), make_plain(registers, width)

    @njit
    def loop(plain, a, b, c, d, e, f, g, h):
        if plain is None:
            vector(a, b, c, d, e, f, g, h)
        else:
            plain_numba(a, b, c, d, e, f, g, h)

    return loop


_ADD_ROWS = _make_add_rows, _make_plain_add_rows
_INNER_PRODUCTS = _make_inner_products, _make_plain_inner_products
_add_rows_wide = _either(*_ADD_ROWS, _WIDE, 1)
_add_rows_narrow = _either(*_ADD_ROWS, _NARROW, 1)
_add_rows_batch = _either(*_ADD_ROWS, _WIDE // BATCH, BATCH)
_inner_products_wide = _either(*_INNER_PRODUCTS, _WIDE, 1)
_inner_products_narrow = _either(*_INNER_PRODUCTS, _NARROW, 1)
_inner_products_batch = _either(*_INNER_PRODUCTS, _WIDE // BATCH, BATCH)


@njit
def _transpose_four(a, b, c, d, block, k):
    """block[:, k : k + 4] = [a, b, c, d]."""
    for i in range(len(a)):
        row = block[i, k : k + 4]
        row[0], row[1], row[2], row[3] = a[i], b[i], c[i], d[i]


@njit
def _transpose(rows, columns, low, high, block):
    """block[i, k] = rows[columns[k], low + i], by streams along the rows."""
    n = len(columns)
    for k in range(0, n - 3, 4):
        _transpose_four(
            rows[columns[k], low:high],
            rows[columns[k + 1], low:high],
            rows[columns[k + 2], low:high],
            rows[columns[k + 3], low:high],
            block,
            k,
        )
    for k in range(n - n % 4, n):
        row = rows[columns[k], low:high]
        for i in range(len(row)):
            block[i, k] = row[i]


@njit
def _pack(matrix, transposed, columns, panel):
    """panel[i, k] = matrix[i, columns[k]], zero in the columns after those."""
    n_rows = len(panel)
    if transposed:
        for low in range(0, n_rows, _STRIP):
            high = min(n_rows, low + _STRIP)
            _transpose(matrix, columns, low, high, panel[low:high])
    else:
        for i in range(n_rows):
            row, packed = matrix[i], panel[i]
            for k in range(len(columns)):
                packed[k] = row[columns[k]]
    panel[:, len(columns) :] = 0


@njit(parallel=True, cache=True)
def accumulate(
    matrix, transposed, columns, starts, indices, values, tasks, out, panels, narrow, plain
):
    """out[j, v, k] += sum of values[h, v] * matrix[indices[h], columns[k]] over the pairs h of j.

    Parameters
    ----------
    matrix : (b, a) array, or (a, b) with ``transposed``
    starts : (d, n_blocks + 1)
        Where the pairs of each major vertex begin in each block of minor vertices.
    tasks : (n_tasks + 1,)
        Bounds of the major vertices of each task.
    out : (d, n_vectors, padded_columns(a))
    panels : (n_tasks, b times the widest panel)
        Scratch. Every task packs its own: threads that shared one would have to meet at each
        panel, which costs whole time slices where other programs run too.
    plain : None or True
        The carrier of the innermost loops: vector instructions or plain numba.
    """
    n_columns = len(columns)
    n_minor = matrix.shape[1] if transposed else matrix.shape[0]
    width, stride = out.shape[1], out.shape[2]
    flat = out.reshape(-1)
    n_blocks = starts.shape[1] - 1
    for task in prange(len(tasks) - 1):
        panel = panels[task]
        first = 0
        while first < n_columns:
            wide = width == 1 and n_columns - first > 2 * narrow
            length = 4 * narrow if wide else narrow if width == 1 else 4 * narrow // width
            chosen = columns[first : first + length]
            _pack(matrix, transposed, chosen, panel[: n_minor * length].reshape(n_minor, length))
            for low in range(tasks[task], tasks[task + 1], _MAJOR_BLOCK):
                high = min(low + _MAJOR_BLOCK, tasks[task + 1])
                for block in range(n_blocks):
                    for j in range(low, high):
                        at, stop = starts[j, block], starts[j, block + 1]
                        offset = j * width * stride + first
                        if wide:
                            _add_rows_wide(
                                plain, flat, offset, stride, panel, indices, values, at, stop
                            )
                        elif width == 1:
                            _add_rows_narrow(
                                plain, flat, offset, stride, panel, indices, values, at, stop
                            )
                        else:
                            _add_rows_batch(
                                plain, flat, offset, stride, panel, indices, values, at, stop
                            )
            first += length


@njit(parallel=True, cache=True)
def contract(
    inner, matrix, transposed, columns, starts, indices, tasks, out, panels, narrow, plain
):
    """out[h, v] += sum_k inner[k, v, i] * matrix[indices[h], columns[k]] for the pairs h of i.

    Parameters
    ----------
    inner : (d, n_vectors, padded number of major vertices)
    matrix : (c, d') array, or (d', c) with ``transposed``; len(columns) == d
    starts, tasks, panels, plain : as for :func:`accumulate`
    """
    n_columns = len(columns)
    n_minor = matrix.shape[1] if transposed else matrix.shape[0]
    width = inner.shape[1]
    flat = inner.reshape(-1, inner.shape[2])
    n_blocks = starts.shape[1] - 1
    for task in prange(len(tasks) - 1):
        panel = panels[task]
        first = 0
        while first < n_columns:
            wide = width == 1 and n_columns - first > 2 * narrow
            length = 4 * narrow if wide else narrow if width == 1 else 4 * narrow // width
            chosen = columns[first : first + length]
            _pack(matrix, transposed, chosen, panel[: n_minor * length].reshape(n_minor, length))
            rows = np.zeros((width, _MAJOR_BLOCK, length), inner.dtype)
            sources = np.empty(length, np.int64)
            stride = _MAJOR_BLOCK * length
            for low in range(tasks[task], tasks[task + 1], _MAJOR_BLOCK):
                high = min(low + _MAJOR_BLOCK, tasks[task + 1])
                for v in range(width):
                    for k in range(len(chosen)):
                        sources[k] = (first + k) * width + v
                    _transpose(flat, sources[: len(chosen)], low, high, rows[v])
                for block in range(n_blocks):
                    for i in range(low, high):
                        at, stop = starts[i, block], starts[i, block + 1]
                        offset = (i - low) * length
                        if wide:
                            _inner_products_wide(
                                plain, out, rows, offset, stride, panel, indices, at, stop
                            )
                        elif width == 1:
                            _inner_products_narrow(
                                plain, out, rows, offset, stride, panel, indices, at, stop
                            )
                        else:
                            _inner_products_batch(
                                plain, out, rows, offset, stride, panel, indices, at, stop
                            )
            first += length


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
def block_starts(minor, bounds, block_rows, starts):
    """Where the pairs of each major vertex begin in each block of minor vertices."""
    n_blocks = starts.shape[1] - 1
    for j in prange(len(bounds) - 1):
        at = bounds[j]
        for block in range(n_blocks):
            starts[j, block] = at
            while at < bounds[j + 1] and minor[at] < (block + 1) * block_rows:
                at += 1
        starts[j, n_blocks] = at


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
    """out of each pair = table[i, minor] for its major vertex first + i."""
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
