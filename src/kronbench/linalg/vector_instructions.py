"""The innermost loops on panels in vector instructions: an optional part of ``panel_loops``.

Written in LLVM's language, explicit 512-bit vectors even where LLVM prefers 256 bits, they run at
24 GFlop/s on two cores, the rate of the same loops in C++, where plain numba reached 17, and 20
with 512-bit vectors allowed (the sampled product at m = q = 1000, a quarter of the pairs, double
precision; ratios in single precision are alike).

With 256 bits (AVX2, one thread) plain numba has 0.45 of their speed in double precision and 0.6 in
single; 0.85 with panels eight times as wide, to which it would have to pad small matrices.

Without this file, and with a numba that it was not tried with, the same loops in plain numba
serve. numba's cache looks at the age of the file of a kernel alone: after a change here, change
``panel_loops`` too.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

# Products and sums may be fused; no more, so that infinities and NaN come through
_FUSED = ("contract",)
_INT64, _INT32 = ir.IntType(64), ir.IntType(32)


class _Vectors:
    """Emits code on vectors of so many bytes of one element type."""

    def __init__(self, builder, element, element_bytes, vector_bytes):
        self.builder, self.element, self.align = builder, element, element_bytes
        self.lanes = vector_bytes // element_bytes
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
