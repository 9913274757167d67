"""Plain loops and vector instructions against the dense formula, and against each other."""

import itertools
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from numba import njit
from scipy import sparse

from kronbench.linalg import panel_loops
from kronbench.linalg._native.switch import NUMBA_BEFORE
from kronbench.linalg.panel_loops import SparseProducts

ROOT = Path(__file__).parents[2]
# Both, or the plain loops alone where KRONBENCH_PLAIN=1 leaves the others out
WAYS = {"vector": panel_loops.vector_instructions, "plain": panel_loops}
WAYS = {way: module for way, module in WAYS.items() if module is not None}
both_dtypes = pytest.mark.parametrize("dtype", [np.float64, np.float32])


@pytest.mark.parametrize("module", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("vector_bytes", [16, 32, 64])  # SSE and Neon, AVX2, AVX-512
@pytest.mark.parametrize("width", [1, panel_loops.BATCH])
@both_dtypes
def test_inner_loops_on_vectors_of_every_size(rng, module, vector_bytes, width, dtype):
    # A machine runs one of them: the others are reached here, whatever LLVM makes of them
    registers = 2
    length = registers * vector_bytes // np.dtype(dtype).itemsize
    add_rows = module.make_add_rows(registers, width, vector_bytes)
    inner_products = module.make_inner_products(registers, width, vector_bytes)

    @njit
    def both(sums, outputs, panel, indices, values, start, stop):
        add_rows(sums, length, length, panel, indices, values, start, stop)
        inner_products(outputs, sums, length, length, panel, indices, start, stop)

    panel = rng.standard_normal((5, length)).astype(dtype)
    indices = rng.integers(0, 5, 11).astype(np.int32)
    values = rng.standard_normal((11, width)).astype(dtype)
    tolerance = {"rtol": 1e3 * np.finfo(dtype).eps, "atol": 1e3 * np.finfo(dtype).eps}
    for start, stop in itertools.combinations_with_replacement(range(12), 2):
        sums = np.zeros((width + 1) * length, dtype)  # the first row is another vertex's
        outputs = np.zeros((11, width), dtype)
        both(sums, outputs, panel.ravel(), indices, values, start, stop)
        rows = panel[indices[start:stop]]
        expected = values[start:stop].T @ rows
        np.testing.assert_array_equal(sums[:length], 0)
        np.testing.assert_allclose(sums[length:].reshape(width, length), expected, **tolerance)
        np.testing.assert_allclose(outputs[start:stop], rows @ expected.T, **tolerance)
        assert not outputs[:start].any()
        assert not outputs[stop:].any()


@pytest.mark.parametrize(
    ("dtype", "n_vectors"),
    [(np.float64, 1), (np.float64, panel_loops.BATCH), (np.float32, panel_loops.BATCH)],
)
def test_plain_loops_and_vector_instructions_agree(rng, dtype, n_vectors):
    """Panels of every kind, with every number of columns left over for the last of them."""
    narrow = panel_loops.narrow_width(dtype)
    n_rows, n_minor, n_blocks, block = 9, 40, 2, 20
    rows, minor = np.nonzero(rng.random((n_rows, n_minor)) < 0.5)
    minor = minor.astype(np.int32)
    bounds = np.searchsorted(rows, np.arange(n_rows + 1))
    starts = panel_loops.block_starts(minor, bounds, block, n_blocks)
    ends = np.searchsorted(
        rows * n_minor + minor, np.arange(n_rows)[:, None] * n_minor + [0, 20, 40]
    )
    np.testing.assert_array_equal(starts, ends)
    tasks = panel_loops.even_tasks(bounds)
    values = rng.standard_normal((len(minor), n_vectors)).astype(dtype)
    room = panel_loops.aligned_zeros((len(tasks) - 1, n_minor * 4 * narrow), dtype)
    own = np.empty(panel_loops.MAJOR_BLOCK * 4 * narrow, dtype), np.empty(4 * narrow, np.int64)
    for n_columns in range(1, 5 * narrow + 1):
        matrix = rng.standard_normal((n_minor, n_columns)).astype(dtype)
        columns, width = np.arange(n_columns), panel_loops.padded_columns(n_columns, dtype)
        inner = panel_loops.aligned_zeros(
            (n_columns, n_vectors, panel_loops.padded_columns(n_rows, dtype)), dtype
        )
        inner[:, :, :n_rows] = rng.standard_normal((n_columns, n_vectors, n_rows))
        found = []
        for plain in [None if way == "vector" else True for way in WAYS]:
            sums = panel_loops.aligned_zeros((n_rows, n_vectors, width), dtype)
            products = np.zeros_like(values)
            for *part, panel in zip(tasks[:-1], tasks[1:], room, strict=True):
                given = *part, panel, narrow, plain
                panel_loops.accumulate(matrix, False, columns, starts, minor, values, sums, *given)
                given = *part, panel, *own, narrow, plain
                panel_loops.contract(
                    inner, matrix, False, columns, starts, minor, products, *given
                )
            found.append((sums[:, :, :n_columns], products))
        tolerance = {"rtol": 0, "atol": 1e2 * n_minor * np.finfo(dtype).eps}
        for one, other in zip(found[0], found[-1], strict=True):
            np.testing.assert_allclose(one, other, **tolerance)
        S = np.zeros((n_vectors, n_rows, n_minor))
        S[:, rows, minor] = values.T
        np.testing.assert_allclose(found[0][0].swapaxes(0, 1), S @ matrix, **tolerance)
        dense = np.einsum("kvi,jk->vij", inner[:, :, :n_rows].astype(float), matrix)
        np.testing.assert_allclose(found[0][1].T, dense[:, rows, minor], **tolerance)


# The file of the vector instructions is hidden as if it were deleted, or numba newer than it knows
_FALL_BACK = """
import sys
import numba

if sys.argv[1] == "deleted":
    sys.modules["kronbench.linalg._native.vector_instructions"] = None
else:
    numba.version_info = numba.version_info._replace(short=(0, 99))
import numpy as np
from scipy import sparse
from kronbench.linalg import panel_loops
from kronbench.linalg.panel_loops import SparseProducts
from kronbench.pairs import SampledKroneckerOperator

assert panel_loops.vector_instructions is None and panel_loops.PLAIN is True
assert sys.modules.get("kronbench.linalg._native.vector_instructions") is None
rng = np.random.default_rng(0)
A, B = rng.standard_normal((7, 7)), rng.standard_normal((6, 6))
rows, cols = np.nonzero(rng.random((7, 6)) < 0.5)
V = rng.standard_normal((len(rows), 2))
dense = A[np.ix_(rows, rows)] * B[np.ix_(cols, cols)]
operator = SampledKroneckerOperator(A, B, rows, cols, method="sparse")
np.testing.assert_allclose(operator @ V, dense @ V)
np.testing.assert_allclose(operator @ V[:, 0], dense @ V[:, 0])
X = A * (A > 0)
np.testing.assert_allclose(SparseProducts(sparse.csr_array(X)).gram(A), X @ X.T @ A)
"""


@pytest.mark.parametrize("case", ["deleted", "newer numba"])
def test_without_vector_instructions_the_plain_loops_serve(case):
    subprocess.run([sys.executable, "-c", _FALL_BACK, case], check=True, cwd=ROOT)


def test_every_numba_may_be_installed_and_the_locked_one_has_vector_instructions():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (needed,) = [line for line in project["dependencies"] if line.startswith("numba")]
    assert "<" not in needed
    locked = re.search(r"^numba==(\d+)\.(\d+)", (ROOT / "requirements.lock").read_text(), re.M)
    assert tuple(map(int, locked.groups())) < NUMBA_BEFORE


def test_sparse_products_in_single_precision_and_many_columns(rng):
    X = sparse.random_array((60, 300), density=0.05, rng=rng, format="csr")
    X = sparse.csr_array(X.multiply(np.arange(60)[:, None] != 3))  # a document without words
    block = rng.standard_normal((60, 150)).astype(np.float32)
    product = SparseProducts(X.astype(np.float32)).gram(block)
    assert product.dtype == np.float32
    expected = X @ (X.T @ block.astype(float))
    np.testing.assert_allclose(product, expected, atol=1e-4)
    assert np.abs(SparseProducts(X).gram(block.astype(float)) - expected).max() < 1e-11


def test_sparse_products_of_many_documents_and_words(rng):
    """More than a block of each, and panels that are copied on all threads."""
    X = sparse.random_array((25_000, 21_000), density=1e-4, rng=rng, format="csr")
    block = rng.standard_normal((25_000, 33))
    expected = X @ (X.T @ block)
    np.testing.assert_allclose(SparseProducts(X).gram(block), expected, atol=1e-12)
