import numpy as np
import pytest
from hypothesis import given, strategies as st

from kronbench.pairs import LOSSES

names = st.sampled_from(sorted(LOSSES))


@given(names, st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_gradients_and_hessian_products_are_slopes(name, n, seed):
    rng, loss, h = np.random.default_rng(seed), LOSSES[name], 1e-5
    y, margin, v = rng.choice([-1.0, 1.0], n), rng.uniform(-3, 3, n), rng.uniform(-1, 1, n)
    margin[np.abs(margin - 1) < 0.01] = 0.5  # away from the kink y p = 1 of the hinge losses
    p = y * margin
    slope = (loss.value(p + h * v, y) - loss.value(p - h * v, y)) / (2 * h)
    np.testing.assert_allclose(loss.gradient(p, y) @ v, slope, rtol=1e-6, atol=1e-7 * n)
    slope = (loss.gradient(p + h * v, y) - loss.gradient(p - h * v, y)) / (2 * h)
    np.testing.assert_allclose(loss.hessian_product(p, y, v), slope, rtol=1e-6, atol=1e-7 * n)


@given(st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_rankrls_is_the_double_sum_over_pairs(n, seed):
    rng = np.random.default_rng(seed)
    p, y = rng.standard_normal((2, n))
    error = y - p
    loss = LOSSES["rankrls"]
    double_sum = 0.25 * ((error[:, None] - error[None, :]) ** 2).sum()
    np.testing.assert_allclose(loss.value(p, y), double_sum, atol=1e-12)
    printed = error.sum() + n * (p - y)  # as in Table 2
    np.testing.assert_allclose(loss.gradient(p, y), printed, atol=1e-12)
    hessian = np.column_stack([loss.hessian_product(p, y, e) for e in np.eye(n)])
    np.testing.assert_allclose(hessian, n * np.eye(n) - 1, atol=1e-12)


@pytest.mark.filterwarnings("error")
def test_logistic_keeps_its_limits_for_large_scores():
    p, y = np.array([1e4, -1e4, 800.0, -800.0]), np.array([1.0, 1.0, -1.0, -1.0])
    loss = LOSSES["logistic"]
    assert loss.value(p, y) == 1e4 + 800
    np.testing.assert_array_equal(loss.gradient(p, y), [0, -1, 1, 0])
    np.testing.assert_array_equal(loss.weights(p, y), [0, 0, 0, 0])
    # near the limit the small quantities keep their leading digits
    p, y = np.array([40.0, -40.0]), np.array([1.0, -1.0])
    np.testing.assert_allclose(loss.gradient(p, y), np.exp(-40) * np.array([-1, 1]))
    np.testing.assert_allclose(loss.weights(p, y), np.exp(-40) * np.ones(2))


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_single_precision_stays_single(name):
    loss, p = LOSSES[name], np.array([0.5, -2.0, 1.5], dtype=np.float32)
    y = np.array([1, 1, -1], dtype=np.float32)
    results = loss.gradient(p, y), loss.hessian_product(p, y, p)
    assert {r.dtype for r in results} == {np.dtype(np.float32)}
