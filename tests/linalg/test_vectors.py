"""Sums over blocks: against numpy, in double precision, whatever the number of threads."""

import numba
import numpy as np
import pytest

from kronbench.linalg.vectors import add, advance, inner, turn

SHAPES = [(1, 1), (3, 7), (129, 127), (700, 701)]


def block(shape, seed, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_inner_products_are_sums_in_double_precision(shape, dtype):
    u, v = block(shape, 0, dtype), block(shape, 1, dtype)
    expected = np.vdot(u.astype(np.longdouble), v.astype(np.longdouble))
    scale = np.linalg.norm(u) * np.linalg.norm(v)
    assert abs(inner(u, v) - float(expected)) <= 1e-13 * scale
    assert inner(u, np.asfortranarray(v)) == inner(u, v)


def test_inner_products_do_not_depend_on_the_number_of_threads():
    u, v = block((700, 701), 0), block((700, 701), 1)
    before = numba.get_num_threads()
    values = []
    for threads in (1, 2):
        numba.set_num_threads(min(threads, before))
        values.append(inner(u, v))
    numba.set_num_threads(before)
    assert values[0] == values[1]


@pytest.mark.parametrize("shape", SHAPES)
def test_moves_are_those_of_numpy(shape):
    y, x, v, u = (block(shape, seed, np.float64) for seed in range(4))
    expected = y + 0.3 * x, v + 0.3 * u
    advance(0.3, ((y, x), (v, u)))
    np.testing.assert_allclose(y, expected[0], rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(v, expected[1], rtol=1e-13, atol=1e-14)
    expected = -2 * y + x, -2 * v + u
    turn(-2.0, ((y, x), (v, u)))
    np.testing.assert_allclose(y, expected[0], rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(v, expected[1], rtol=1e-13, atol=1e-14)
    expected = y - 1.5 * u
    add(y, -1.5, u)
    np.testing.assert_allclose(y, expected, rtol=1e-13, atol=1e-14)


def test_an_output_that_would_be_a_copy_is_refused():
    y = np.zeros((700, 702))[:, :701]
    with pytest.raises(AttributeError, match="ncompatible shape"):
        add(y, 1.0, np.ones((700, 701)))
