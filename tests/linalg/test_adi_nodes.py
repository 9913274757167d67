"""The separable expansion against the reciprocal itself, and its factors against submatrices."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from kronbench.linalg.adi_nodes import HeldOutFactors, reciprocal_factors, reciprocal_nodes
from kronbench.linalg.eigen import kernel_spectrum


@pytest.mark.parametrize("kappa", [0.0, 1e-12, 1e-3, 1.0, 1e2, 1e5, 1e10, 1e16])
def test_expansion_is_exact_on_the_whole_square(kappa):
    x = np.concatenate([[0.0], np.geomspace(1e-18, 1.0, 200)])
    total = np.zeros((len(x), len(x)))
    left, right = np.ones_like(x), np.ones_like(x)
    gain = np.sqrt(kappa * (1 + kappa))
    for index, (c, d) in enumerate(zip(*reciprocal_nodes(kappa), strict=True)):
        term = np.outer(left / (1 + kappa * d * x), right / (1 + kappa * c * x))
        total += (-1) ** index * (1 + kappa * c * d) * term
        left *= gain / (1 + kappa * c) * (x - c) / (1 + kappa * d * x)
        right *= gain / (1 + kappa * d) * (x - d) / (1 + kappa * c * x)
        # the bound of the docstring: what is added never cancels
        assert np.abs(left).max() <= 1 + 1e-9
        assert np.abs(right).max() <= 1 + 1e-9
    relative = np.abs(total * (1 + kappa * np.outer(x, x)) - 1)
    assert relative.max() < 1e-13
    lefts, rights = reciprocal_factors(x, x, kappa)
    np.testing.assert_allclose(lefts.T @ rights, total, rtol=1e-13)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 7),
    st.integers(1, 9),
    st.floats(-3, 5),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_held_out_factors_are_functions_of_submatrices(seed, n, rank, log_kappa, center, share):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, rank))
    K = features @ features.T
    kappa = 10.0**log_kappa
    spectrum = kernel_spectrum(K)
    scaled = K / spectrum.values[-1]
    pole = kappa * share
    factors = HeldOutFactors(spectrum, kappa)
    two = [factors.next(center, pole), factors.next(0.25, pole / 2)]
    gain = np.sqrt(kappa * (1 + kappa)) / (1 + kappa * center)
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        sub, eye = scaled[np.ix_(rest, rest)], np.eye(n - 1)
        resolvent = np.linalg.inv(eye + pole * sub)
        first = resolvent @ scaled[rest, i]
        second = gain * (sub - center * eye) @ first
        second = np.linalg.solve(eye + pole / 2 * sub, second)
        for got, expected in zip(two, (first, second), strict=True):
            vector = spectrum.vectors @ got[i]
            assert abs(vector[i]) < 1e-9 * (1 + gain)
            np.testing.assert_allclose(vector[rest], expected, atol=1e-9 * (1 + gain))
