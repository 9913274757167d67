"""Sums over blocks: against numpy, in double precision, whatever the number of threads."""

import numba
import numpy as np
import pytest

from kronbench.linalg.blas1 import axpby, axpy, dot

SHAPES = [(1, 1), (3, 7), (129, 127), (700, 701)]


def block(shape, seed, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_inner_products_are_sums_in_double_precision(shape, dtype):
    u, v = block(shape, 0, dtype), block(shape, 1, dtype)
    expected = np.vdot(u.astype(np.longdouble), v.astype(np.longdouble))
    scale = np.linalg.norm(u) * np.linalg.norm(v)
    assert abs(dot(u, v) - float(expected)) <= 1e-13 * scale
    assert dot(u, np.asfortranarray(v)) == dot(u, v)


def test_inner_products_do_not_depend_on_the_number_of_threads():
    u, v = block((700, 701), 0), block((700, 701), 1)
    before = numba.get_num_threads()
    values = []
    for threads in (1, 2):
        numba.set_num_threads(min(threads, before))
        values.append(dot(u, v))
    numba.set_num_threads(before)
    assert values[0] == values[1]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_of_vectors_are_those_of_numpy_to_the_bit(shape, dtype):
    y, x = block(shape, 0, dtype), block(shape, 1, dtype)
    expected = dtype(0.3) * y + dtype(-1.7) * x
    axpby(-1.7, x, 0.3, y)
    np.testing.assert_array_equal(y, expected)
    expected = y + dtype(1.1) * x
    axpy(1.1, np.asfortranarray(x), y)
    np.testing.assert_array_equal(y, expected)


def test_an_output_that_would_be_a_copy_is_refused():
    y = np.zeros((700, 702))[:, :701]
    with pytest.raises(ValueError, match="avoid creating a copy"):
        axpy(1.0, np.ones((700, 701)), y)
