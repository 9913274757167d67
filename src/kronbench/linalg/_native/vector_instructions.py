"""The innermost loops on panels in vector instructions: an optional part of ``panel_loops``.

Written in LLVM's language, explicit 512-bit vectors even where LLVM prefers 256 bits, they run at
24 GFlop/s on two cores, where plain numba reached 17 (the sampled product at m = q = 1000, a
quarter of the pairs, double precision). With 256 bits plain numba has 0.45 of their speed.

A reader of LLVM's language needs to know this. A builder appends one instruction at a time to the
function that numba is compiling; a Python loop here is thus unrolled there, and a Python list of
values is a set of registers. ``gep`` computes an address, a vector type has a fixed number of
lanes, and ``shuffle_vector`` picks lanes of two vectors.

numba's cache looks at the age of the file of a kernel alone: after a change here, change
``panel_loops`` too.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

# Products and sums may be fused; no more, so that infinities and NaN come through.
_FUSED = ("contract",)
# Places in arrays, lanes of vectors, and the step of a loop over entries one by one.
_INT64, _INT32 = ir.IntType(64), ir.IntType(32)
_ONE = ir.Constant(_INT64, 1)


class _Vectors:
    """Emits code on vectors of so many bytes of one element type."""

    def __init__(self, builder, element, element_bytes, vector_bytes):
        self.builder, self.element, self.align = builder, element, element_bytes
        self.lanes = vector_bytes // element_bytes
        self.vector = ir.VectorType(element, self.lanes)

    def at(self, pointer, offset):
        """Pointer to the element at an offset, in elements."""
        return self.builder.gep(pointer, [self.index(offset)])

    def starts(self, pointer, offset, stride, count):
        """Pointers to the rows at offset, offset + stride, ..."""
        strides = [self.builder.mul(stride, self.index(v)) for v in range(count)]
        return [self.builder.gep(pointer, [self.builder.add(offset, v)]) for v in strides]

    def load(self, pointer, offset):
        """A whole vector from an offset on."""
        return self.load_as(self.vector, self.at(pointer, offset))

    def load_as(self, kind, pointer):
        # Aligned as one element only: rows of callers may begin anywhere, and a load
        # whose address is aligned costs no more for it.
        value = self.builder.load(self.builder.bitcast(pointer, kind.as_pointer()))
        value.align = self.align
        return value

    def store(self, value, pointer):
        pointer = self.builder.bitcast(pointer, value.type.as_pointer())
        self.builder.store(value, pointer).align = self.align

    def fill(self, value):
        """The number in every lane."""
        # LLVM knows this pattern, insert and shuffle, as one broadcast.
        undefined = ir.Constant(self.vector, ir.Undefined)
        first = self.builder.insert_element(undefined, value, ir.Constant(_INT32, 0))
        zeros = ir.Constant(ir.VectorType(_INT32, self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(first, undefined, zeros)

    def multiply_add(self, total, x, y):
        product = self.builder.fmul(x, y, flags=_FUSED)
        return product if total is None else self.builder.fadd(total, product, flags=_FUSED)

    def sums(self, vectors):
        """One vector that holds partial sums of each, in turn: neighbours are added."""
        # A tree: with vectors x, y of lanes x0 x1 .. and y0 y1 .. a step makes one vector of
        # x0+x1, x2+x3, .., y0+y1, y2+y3, .. until one is left.
        while len(vectors) > 1:
            pairs = zip(vectors[::2], vectors[1::2], strict=True)
            vectors = [self._add_neighbours(x, y) for x, y in pairs]
        return vectors[0]

    def fold(self, vector, size):
        """The sums that are spread over all lanes, as a vector of this size."""
        # The same step with one vector alone, which halves its lanes.
        while vector.type.count > size:
            vector = self._add_neighbours(
                vector, ir.Constant(vector.type, ir.Undefined), half=True
            )
        return vector

    def row_of(self, panel, indices, position, row_length):
        """Pointer to the row of the panel that belongs to a pair."""
        index = self.builder.load(self.builder.gep(indices, [position]))
        offset = self.builder.mul(self.builder.sext(index, _INT64), self.index(row_length))
        return self.builder.gep(panel, [offset])

    def _add_neighbours(self, x, y, half=False):
        size = x.type.count // 2 if half else x.type.count
        kind = ir.VectorType(_INT32, size)
        even, odd = (
            self.builder.shuffle_vector(x, y, ir.Constant(kind, [2 * i + k for i in range(size)]))
            for k in (0, 1)
        )
        return self.builder.fadd(even, odd)

    def index(self, value):
        return ir.Constant(_INT64, value) if isinstance(value, int) else value


def _pointers(context, builder, signature, args, positions):
    kinds = signature.args
    return [context.make_array(kinds[i])(context, builder, args[i]).data for i in positions]


def make_add_rows(registers: int, width: int, vector_bytes: int) -> Callable:
    """First half of Algorithm 1 for one major vertex, on a panel as wide as the registers."""

    @intrinsic
    def add_rows(typing, out, offset, stride, panel, indices, values, start, stop):
        """out[offset + v*stride + k] += sum_h values[h, v] * panel[indices[h], k]."""
        integer = types.int64
        signature = types.void(out, integer, integer, panel, indices, values, integer, integer)

        def generate(context, builder, signature, args):
            kind = signature.args[0].dtype
            element = context.get_value_type(kind)
            simd = _Vectors(builder, element, kind.bitwidth // 8, vector_bytes)
            out, panel, indices, values = _pointers(
                context, builder, signature, args, (0, 3, 4, 5)
            )
            offset, stride, start, stop = args[1], args[2], args[6], args[7]
            # Nothing is loaded or stored for a vertex without entries.
            starts = simd.starts(out, offset, stride, width)
            with builder.if_then(builder.icmp_signed("<", start, stop)):
                # The sums of ``width`` rows of ``out``, ``registers`` vectors each: on the stack
                # as it is written, in registers as it is compiled
                totals = {
                    (v, q): cgutils.alloca_once_value(
                        builder, simd.load(starts[v], q * simd.lanes)
                    )
                    for v in range(width)
                    for q in range(registers)
                }
                with cgutils.for_range_slice(builder, start, stop, _ONE) as (position, _):
                    # One entry: its row of the panel, which all widths share, and its weights,
                    # each in every lane of a vector
                    row = simd.row_of(panel, indices, position, registers * simd.lanes)
                    x = [simd.load(row, q * simd.lanes) for q in range(registers)]
                    first = builder.mul(position, simd.index(width))
                    places = [builder.add(first, simd.index(v)) for v in range(width)]
                    weights = [simd.fill(builder.load(builder.gep(values, [at]))) for at in places]
                    # total += weight * x, a fused operation each
                    for (v, q), total in totals.items():
                        more = simd.multiply_add(builder.load(total), weights[v], x[q])
                        builder.store(more, total)
                for (v, q), total in totals.items():
                    simd.store(builder.load(total), simd.at(starts[v], q * simd.lanes))
            return context.get_dummy_value()

        return signature, generate

    return add_rows


def make_inner_products(registers: int, width: int, vector_bytes: int) -> Callable:
    """Second half of Algorithm 1 for one major vertex, on a panel as wide as the registers."""

    @intrinsic
    def inner_products(typing, out, rows, offset, stride, panel, indices, start, stop):
        """out[h, v] += sum_k rows[offset + v*stride + k] * panel[indices[h], k]."""
        integer = types.int64
        signature = types.void(out, rows, integer, integer, panel, indices, integer, integer)

        def generate(context, builder, signature, args):
            kind = signature.args[0].dtype
            element = context.get_value_type(kind)
            simd = _Vectors(builder, element, kind.bitwidth // 8, vector_bytes)
            out, rows, panel, indices = _pointers(context, builder, signature, args, (0, 1, 4, 5))
            offset, stride, start, stop = args[2], args[3], args[6], args[7]
            # What all entries of the vertex share stays in registers: its rows of the inner array
            length = registers * simd.lanes
            fixed = [
                [simd.load(first, q * simd.lanes) for q in range(registers)]
                for first in simd.starts(rows, offset, stride, width)
            ]

            def some_pairs(position, count):
                # ``count`` entries side by side, each with ``width`` sums of one vector
                places = [builder.add(position, simd.index(i)) for i in range(count)]
                sources = [simd.row_of(panel, indices, at, length) for at in places]
                totals = [None] * (count * width)
                for q in range(registers):
                    for i, row in enumerate(sources):
                        x = simd.load(row, q * simd.lanes)
                        for v in range(width):
                            at = i * width + v
                            totals[at] = simd.multiply_add(totals[at], fixed[v][q], x)
                # The sums of lanes: one vector with an output in each lane, so that a single load
                # and a single store serve all of them
                result = simd.fold(simd.sums(totals), count * width)
                target = builder.gep(out, [builder.mul(position, simd.index(width))])
                old = simd.load_as(result.type, target)
                simd.store(builder.fadd(old, result), target)

            # Four entries at once, or two with two vectors, whose sums fill at most one vector;
            # those that are left one by one
            together = min(4, simd.lanes) // width
            step = simd.index(together)
            left = builder.srem(builder.sub(stop, start), step)
            middle = builder.sub(stop, left)
            with cgutils.for_range_slice(builder, start, middle, step) as (position, _):
                some_pairs(position, together)
            with cgutils.for_range_slice(builder, middle, stop, _ONE) as (position, _):
                some_pairs(position, 1)
            return context.get_dummy_value()

        return signature, generate

    return inner_products
