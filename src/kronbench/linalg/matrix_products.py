"""Products of matrices by the BLAS, on the threads of numba.

The threads of a BLAS and those of numba are two pools, and each spins for milliseconds after its
work while the other has begun: where products of matrices and loops over pairs take turns, a
quarter of the time and half of the processors' went into that. Here the threads of numba call the
BLAS, each for a part of the result, and it uses no threads of its own.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import re
import threading

import numba
import numpy as np
from llvmlite import ir
from numba import njit, prange, types
from numba.core import cgutils
from numba.extending import get_cython_function_address, intrinsic
from scipy.linalg import cython_blas
from threadpoolctl import ThreadpoolController

from kronbench.linalg.threads import WORTH_A_THREAD, at_most_threads

# Rows and columns of a part are multiples of this: the kernels of a BLAS are slower at edges.
_STEP = 16


class _OneThread:
    """Context in which the BLAS uses the calling thread alone; threads may enter it together.

    The limit holds for the whole process. It is set by the first that enters and taken back by
    the last that leaves: threads that each kept the number they found would in the end restore 1.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._inside, self._before = 0, []

    def __enter__(self):
        with self._lock:
            if self._inside == 0:
                self._before = [(set_threads, get()) for get, set_threads in _blas_libraries()]
                for set_threads, _ in self._before:
                    set_threads(1)
            self._inside += 1

    def __exit__(self, *exception):
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                for set_threads, n_threads in self._before:
                    set_threads(n_threads)


@functools.cache
def _blas_libraries():
    """How to get and to set the threads of each BLAS; to look for the libraries takes 2 ms.

    OpenBLAS is asked itself: threadpoolctl ignores what is not asked by the thread that set its
    threads first, and the last to leave is often another.
    """
    found = []
    for library in ThreadpoolController().select(user_api="blas").lib_controllers:
        own = None
        if library.internal_api == "openblas" and library.threading_layer != "openmp":
            names = (f"{a}openblas_set_num_threads{b}" for a, b in _AFFIXES)
            own = next((name for name in names if hasattr(library.dynlib, name)), None)
        set_threads = getattr(library.dynlib, own) if own else library.set_num_threads
        found.append((library.get_num_threads, set_threads))
    return found


# Of the names of OpenBLAS where it is built for numpy or scipy, or with long integers.
_AFFIXES = tuple(itertools.product(("", "scipy_"), ("", "64_", "_64")))

one_blas_thread = _OneThread()


def multiply(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """A @ b by the BLAS on the threads of numba, as many as it is worth; O(m k n).

    Where scipy's BLAS takes other integers than C's ``int``, the product is numpy's own.

    Parameters
    ----------
    a : (m, k) float32 or float64 array
    b : (k, n) float32 or float64 array
    out : (m, n) array, optional
        Of the wider dtype of the two, with rows of adjacent numbers.
    """
    (m, k), n = a.shape, b.shape[1]
    dtype = np.result_type(a, b)
    a, b = a.astype(dtype, copy=False), b.astype(dtype, copy=False)
    if out is None:
        out = np.empty((m, n), dtype)
    gemm = _gemm_address(dtype)
    if gemm is None:
        return np.matmul(a, b, out=out)
    with at_most_threads(2 * m * n * k / WORTH_A_THREAD), one_blas_thread:
        n_threads = numba.get_num_threads()
        if n_threads == 1:
            return np.matmul(a, b, out=out)
        rows, columns = _parts(m, n, n_threads)
        a, a_turned, lda = _by_rows(a)
        b, b_turned, ldb = _by_rows(b)
        _parts_of_product(
            gemm,
            *_CONSTANTS[a.dtype.type],
            rows, columns, k,
            a.ctypes.data, lda, a_turned,
            b.ctypes.data, ldb, b_turned,
            out.ctypes.data, out.strides[0] // out.itemsize, out.itemsize,
        )  # fmt: skip
    return out


def _parts(m, n, n_threads):
    """Bounds of the rows and of the columns of as many parts of (m, n) as there are threads."""
    splits = [(r, n_threads // r) for r in range(1, n_threads + 1) if n_threads % r == 0]
    # What is read for a part grows with its rows and columns
    r, c = min(splits, key=lambda split: m / split[0] + n / split[1])
    return _bounds(m, r), _bounds(n, c)


def _bounds(n, parts):
    inner = np.arange(1, parts) * n // parts // _STEP * _STEP
    return np.concatenate([[0], inner, [n]])


def _by_rows(matrix):
    """The matrix, or its transpose, whose rows are without gaps; which of them; between rows."""
    size = matrix.itemsize
    for turned, rows in ((False, matrix), (True, matrix.T)):
        distance, step = rows.strides
        if step == size and distance % size == 0 and distance >= rows.shape[1] * size:
            return rows, turned, distance // size
    rows = np.ascontiguousarray(matrix)
    return rows, False, max(rows.shape[1], 1)


@functools.cache
def _gemm_address(dtype):
    """Where scipy has the product of matrices; None where its sizes are not C's ``int``."""
    name = {"float32": "sgemm", "float64": "dgemm"}[dtype.name]
    if not _GEMM.fullmatch(_signature(cython_blas.__pyx_capi__[name])):
        return None
    return get_cython_function_address("scipy.linalg.cython_blas", name)


def _signature(capsule):
    """The C signature of a function of Cython, which is the name of its capsule."""
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return name_of(capsule).decode()


# transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc, which _gemm passes
_GEMM = re.compile(
    r"void \(char \*, char \*, int \*, int \*, int \*, (\w+) \*, \1 \*, int \*, \1 \*, int \*, "
    r"\1 \*, \1 \*, int \*\)"
)

_ARRAYS = {kind: np.array([0, 1], kind) for kind in (np.float32, np.float64)}
_CONSTANTS = {
    kind: (array.ctypes.data, array.ctypes.data + array.itemsize)
    for kind, array in _ARRAYS.items()
}


@intrinsic
def _gemm(typing, gemm, a_turned, b_turned, m, n, k, one, a, lda, b, ldb, zero, c, ldc):
    """C = A B by the function at the address ``gemm``, in the column-major terms of the BLAS."""
    integer, flag = types.int64, types.boolean
    signature = types.void(integer, flag, flag, *[integer] * 11)

    def generate(context, builder, signature, args):
        def place(value):
            at = cgutils.alloca_once(builder, value.type)
            builder.store(value, at)
            return builder.ptrtoint(at, ir.IntType(64))

        def letter(flag):
            kinds = [ir.Constant(ir.IntType(8), ord(kind)) for kind in "TN"]
            return place(builder.select(builder.trunc(flag, ir.IntType(1)), *kinds))

        def number(value):
            return place(builder.trunc(value, ir.IntType(32)))

        gemm, a_turned, b_turned, m, n, k, one, a, lda, b, ldb, zero, c, ldc = args
        arguments = [
            letter(a_turned), letter(b_turned), number(m), number(n), number(k), one,
            a, number(lda), b, number(ldb), zero, c, number(ldc),
        ]  # fmt: skip
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(64)] * len(arguments))
        builder.call(builder.inttoptr(gemm, kind.as_pointer()), arguments)
        return context.get_dummy_value()

    return signature, generate


@njit(parallel=True, cache=True)
def _parts_of_product(
    gemm, zero, one, rows, columns, k, a, lda, a_turned, b, ldb, b_turned, c, ldc, size
):
    """Each part of the rows and columns of the product of two matrices that lie at addresses."""
    n_columns = len(columns) - 1
    for part in prange((len(rows) - 1) * n_columns):
        i, j = part // n_columns, part % n_columns
        row, column = rows[i], columns[j]
        at_a = a + size * row * (1 if a_turned else lda)
        at_b = b + size * column * (ldb if b_turned else 1)
        at_c = c + size * (row * ldc + column)
        # by rows C = A B is by columns C' = B' A'
        _gemm(
            gemm, b_turned, a_turned, columns[j + 1] - column, rows[i + 1] - row, k, one,
            at_b, ldb, at_a, lda, zero, at_c, ldc,
        )  # fmt: skip
