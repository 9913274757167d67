"""Spectral filters against their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from kronbench.pairs.spectral_filters import (
    cutoff,
    iterated_tikhonov,
    landweber,
    tikhonov,
)


def kernel(seed, n=6, rank=4):
    features = np.random.default_rng(seed).normal(size=(n, rank))
    return features @ features.T


def function_of(K, filter, reg):
    values, vectors = np.linalg.eigh(K)
    values = np.where(values > 1e-12, values, 0.0)
    return (vectors * filter(values, reg)) @ vectors.T


def test_cutoff_is_regression_on_the_leading_components():
    K = kernel(2)
    values, vectors = np.linalg.eigh(K)
    reg = (values[-2] + values[-3]) / 2
    two = vectors[:, -2:]
    expected = two @ np.linalg.inv(two.T @ K @ two) @ two.T
    np.testing.assert_allclose(function_of(K, cutoff, reg), expected, atol=1e-12)


def test_iterated_tikhonov_is_ridge_on_residuals():
    K, reg = kernel(3), 0.7
    coef = np.zeros((6, 6))
    for _ in range(2):
        coef = coef + np.linalg.solve(K + reg * np.eye(6), np.eye(6) - K @ coef)
    np.testing.assert_allclose(function_of(K, iterated_tikhonov, reg), coef, atol=1e-10)


@pytest.mark.parametrize("reg", [0.01, 0.5, 100.0])
def test_landweber_is_gradient_descent(reg):
    K = kernel(4)
    largest = np.linalg.eigvalsh(K)[-1]
    coef = np.zeros((6, 6))
    for _ in range(int(np.ceil(largest / reg))):
        coef = coef + (np.eye(6) - K @ coef) / largest
    np.testing.assert_allclose(function_of(K, landweber, reg), coef, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([tikhonov, cutoff, landweber, iterated_tikhonov]),
    st.floats(-6, 0),
    st.integers(0, 10**6),
)
def test_admissible(filter, log_reg, seed):
    # Definition 2 with D = B = gamma = 1 (B is 2 for two iterations, and for Landweber, whose
    # number of steps is rounded up), qualification at least 1
    reg = 10.0**log_reg
    bound = 2.0 if filter in (landweber, iterated_tikhonov) else 1.0
    x = np.concatenate([np.random.default_rng(seed).uniform(0, 1, 50), np.geomspace(1e-9, 1, 50)])
    values = filter(np.concatenate([x, [1.0]]), reg)[:-1]
    rounding = 1e-12
    assert np.all(np.abs(x * values) <= 1 + rounding)
    assert np.all(np.abs(values) <= bound / reg * (1 + rounding))
    assert np.all(np.abs(1 - x * values) <= 1 + rounding)
    for power in (0.5, 1.0):
        assert np.all((x / reg) ** power * np.abs(1 - x * values) <= 1 + 1e-9)
