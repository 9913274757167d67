import numpy as np
import pytest
from numba import njit

from kronbench.operators import _kernels


@pytest.mark.parametrize("vector_bytes", [16, 32, 64])  # SSE and Neon, AVX2, AVX-512
@pytest.mark.parametrize("width", [1, _kernels.BATCH])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_inner_loops_on_vectors_of_every_size(rng, monkeypatch, vector_bytes, width, dtype):
    # A machine runs one of them: the others are reached here, whatever LLVM makes of them
    monkeypatch.setattr(_kernels, "VECTOR_BYTES", vector_bytes)
    registers = 2
    length = registers * vector_bytes // np.dtype(dtype).itemsize
    add_rows = _kernels._make_add_rows(registers, width)
    inner_products = _kernels._make_inner_products(registers, width)

    @njit
    def both(sums, outputs, panel, indices, values, start, stop):
        add_rows(sums, length, length, panel, indices, values, start, stop)
        inner_products(outputs, sums, length, length, panel, indices, start, stop)

    panel = rng.standard_normal((5, length)).astype(dtype)
    indices = rng.integers(0, 5, 11).astype(np.int32)
    values = rng.standard_normal((11, width)).astype(dtype)
    for start, stop in ((0, 11), (3, 3), (2, 5), (1, 8)):
        sums = np.zeros((width + 1) * length, dtype)  # the first row is another vertex's
        outputs = np.zeros((11, width), dtype)
        both(sums, outputs, panel.ravel(), indices, values, start, stop)
        rows = panel[indices[start:stop]]
        expected = values[start:stop].T @ rows
        tolerance = {"rtol": 1e3 * np.finfo(dtype).eps, "atol": 1e3 * np.finfo(dtype).eps}
        np.testing.assert_array_equal(sums[:length], 0)
        np.testing.assert_allclose(sums[length:].reshape(width, length), expected, **tolerance)
        np.testing.assert_allclose(outputs[start:stop], rows @ expected.T, **tolerance)
        assert not outputs[:start].any() and not outputs[stop:].any()


@pytest.fixture
def rng():
    return np.random.default_rng(0)
