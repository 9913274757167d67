"""Spectra of kernel matrices against the matrices they belong to."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from kronbench.errors import InputError
from kronbench.linalg.eigen import (
    check_semidefinite,
    feature_factors,
    kernel_spectrum,
    psd_part,
)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9))
def test_psd_part_is_the_nearest(seed, n):
    rng = np.random.default_rng(seed)
    S = rng.normal(size=(n, n))
    P = psd_part(S)
    symmetric = (S + S.T) / 2
    values, vectors = np.linalg.eigh(symmetric)
    negative = np.minimum(values, 0)
    np.testing.assert_allclose(symmetric - P, (vectors * negative) @ vectors.T, atol=1e-12)
    assert np.linalg.eigvalsh(P).min() > -1e-12
    kernel_spectrum(P)  # and it passes for a kernel
    np.testing.assert_allclose(psd_part(P), P, atol=1e-12)


def test_matrices_that_are_no_kernels():
    with pytest.raises(InputError, match="must be square"):
        kernel_spectrum(np.ones((2, 3)))
    with pytest.raises(InputError, match="NaN"):
        kernel_spectrum(np.array([[1.0, np.nan], [np.nan, 1.0]]))


@pytest.mark.parametrize("n", [40, 700])  # all eigenvalues, and Lanczos
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_indefinite_matrices_are_refused_and_rounding_is_not(n, dtype):
    rng = np.random.default_rng(n)
    F = rng.normal(size=(n, 5))
    K = F @ F.T
    check_semidefinite(K.astype(dtype))  # n - 5 eigenvalues that are zero to rounding
    check_semidefinite((F[:, :1] @ F[:, :1].T).astype(dtype))
    v = rng.normal(size=n)
    v /= np.linalg.norm(v)
    largest = np.linalg.eigvalsh(K)[-1]
    indefinite = (K - 0.02 * largest * np.outer(v, v)).astype(dtype)
    with pytest.raises(InputError, match=r"kernel is indefinite.*psd_part of it, or its rows"):
        check_semidefinite(indefinite, "kernel")
    check_semidefinite(psd_part(indefinite).astype(dtype))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(601, 640), st.integers(1, 640))
def test_no_semidefinite_matrix_is_refused(seed, n, rank):
    F = np.random.default_rng(seed).normal(size=(n, rank)) * np.logspace(0, -8, rank)
    check_semidefinite(F @ F.T)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e8, 1e-8, 1e14])
def test_small_singular_values_of_columns_of_any_scale(scale, wide):
    # orthogonal columns of known lengths, of which one is there twice and one is zero
    Q = np.linalg.qr(np.random.default_rng(3).normal(size=(9, 9)))[0]
    sizes = np.array([1.0, scale, 3.0, 5.0])
    columns = Q[:, :4] * sizes
    features = np.hstack([columns, 1e4 * columns[:, :1], np.zeros((9, 1))])
    if wide:
        features = np.hstack([np.zeros((9, 6)), features[:, ::-1]])
    spectrum, axes = feature_factors(features)
    sizes[0] = np.hypot(1.0, 1e4)
    np.testing.assert_allclose(np.sqrt(spectrum.values), np.sort(sizes), rtol=1e-12)
    np.testing.assert_allclose(spectrum.vectors.T @ spectrum.vectors, np.eye(4), atol=1e-13)
    image = features @ axes
    expected = spectrum.vectors * np.sqrt(spectrum.values)
    np.testing.assert_allclose(image, expected, atol=1e-13 * sizes.max())
    whole = spectrum.completed()
    np.testing.assert_allclose(whole.vectors @ whole.vectors.T, np.eye(9), atol=1e-13)
    assert (whole.values[:5] == 0).all()


def test_features_without_a_decomposition():
    assert feature_factors(np.zeros((4, 2)))[0].values.size == 0
    with pytest.raises(InputError, match="too large for a number: scale the features"):
        feature_factors(np.full((3, 2), 1e200))
