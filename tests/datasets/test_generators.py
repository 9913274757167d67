"""Data that are a formula, against what is published of it."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from kronbench import datasets
from kronbench.datasets.drug_target import labelled_pairs
from kronbench.datasets.generators import (
    add10,
    checkerboard,
    distinct,
    ringnorm,
    twonorm,
    waveform,
)

N = 200_000
A = 2 / np.sqrt(20)


@pytest.mark.parametrize("n", [2, 3])
def test_every_subset_is_equally_likely(n, rng):
    """Chi-square of 10 subsets of five integers: below its 99.99 % point for 9 degrees."""
    draws = [tuple(distinct(n, 5, rng)) for _ in range(5000)]
    counts = np.unique(draws, axis=0, return_counts=True)[1]
    assert len(counts) == 10
    assert ((counts - 500) ** 2 / 500).sum() < 33.7


@settings(max_examples=30, deadline=None)
@given(
    m=st.integers(1, 12),
    q=st.integers(1, 12),
    fraction=st.floats(0, 1),
    flip=st.floats(0, 1),
    seed=st.integers(0, 1000),
)
def test_labels_follow_the_formula(m, q, fraction, flip, seed):
    pairs, y = checkerboard(m, np.random.default_rng(seed), q=q, fraction=fraction, flip=flip)
    d = np.floor(pairs.row_features[pairs.rows, 0]).astype(int)
    t = np.floor(pairs.col_features[pairs.cols, 0]).astype(int)
    both = (d % 2 == 1) & (t % 2 == 1) | (d % 2 == 0) & (t % 2 == 0)
    flipped = y != np.where(both, 1, -1)
    n = round(fraction * m * q)
    assert len(pairs) == len(y) == n
    assert flipped.sum() == round(flip * n)
    assert set(y) <= {-1.0, 1.0}
    assert pairs.n_rows == m
    assert pairs.n_cols == q
    flat = pairs.rows.astype(int) * q + pairs.cols
    assert (np.diff(flat) > 0).all()


def test_registered_checkerboard_has_the_size_of_table_5():
    data = datasets.load("Checker")
    assert data.source == "generated"
    assert data.files == ()
    pairs, y = labelled_pairs(data)
    assert (len(pairs), pairs.n_rows, pairs.n_cols) == (250_000, 1000, 1000)
    # Table 5 prints 125,000 positives; half of the noise-free labels are positive up to chance.
    assert abs((y > 0).mean() - 0.5) < 0.01
    odd = [np.floor(side[:, 0]) % 2 for side in (pairs.row_features, pairs.col_features)]
    clean = np.where(odd[0][pairs.rows] == odd[1][pairs.cols], 1, -1)
    assert (clean != y).mean() == 0.2


@pytest.mark.parametrize("name", ["ringnorm", "twonorm", "waveform", "add10"])
def test_the_registered_sample_is_generated_and_the_same_each_time(name):
    first, again = datasets.load(name, policy="real"), datasets.load(name)
    assert first.source == again.source == "generated"
    np.testing.assert_array_equal(first["X"], again["X"])
    np.testing.assert_array_equal(first["y"], again["y"])


def test_ringnorm_has_a_wide_class_at_the_origin_and_a_shifted_one():
    X, y = ringnorm(np.random.default_rng(0), N).values()
    assert abs(y.mean() - 0.5) < 0.01
    np.testing.assert_allclose(np.cov(X[y == 0].T), 4 * np.eye(20), atol=0.08)
    np.testing.assert_allclose(X[y == 0].mean(axis=0), 0, atol=0.04)
    np.testing.assert_allclose(np.cov(X[y == 1].T), np.eye(20), atol=0.03)
    np.testing.assert_allclose(X[y == 1].mean(axis=0), A, atol=0.02)


def test_twonorm_is_separated_by_its_mean_up_to_the_normal_tail():
    X, y = twonorm(np.random.default_rng(0), N).values()
    np.testing.assert_allclose(X[y == 0].mean(axis=0), A, atol=0.02)
    error = np.mean((X.sum(axis=1) < 0) != (y == 1))
    assert error == pytest.approx(0.02275, abs=0.0012)  # P(N(0, 1) > 2)


def test_waveform_mixes_two_of_three_waves():
    X, y = waveform(np.random.default_rng(0), N).values()
    h1 = [max(6 - abs(i - 11), 0) for i in range(1, 22)]
    # The book's h2(i) = h1(i - 4) and h3(i) = h1(i + 4).
    h2 = [max(6 - abs(i - 4 - 11), 0) for i in range(1, 22)]
    h3 = [max(6 - abs(i + 4 - 11), 0) for i in range(1, 22)]
    for c, (first, second) in enumerate([(h1, h2), (h1, h3), (h2, h3)]):
        first, second = np.array(first), np.array(second)
        mine = X[y == c]
        assert len(mine) / N == pytest.approx(1 / 3, abs=0.01)
        np.testing.assert_allclose(mine.mean(axis=0), (first + second) / 2, atol=0.04)
        # The uniform share has variance 1/12, the noise 1.
        covariance = np.eye(21) + np.outer(first - second, first - second) / 12
        np.testing.assert_allclose(np.cov(mine.T), covariance, atol=0.08)


def test_add10_leaves_unit_noise_and_ignores_five_inputs():
    X, y = add10(np.random.default_rng(0), N).values()
    assert X.min() >= 0
    assert X.max() <= 1
    assert X.shape == (N, 10)
    formula = (
        10 * np.sin(np.pi * X[:, 0] * X[:, 1])
        + 20 * (X[:, 2] - 0.5) ** 2
        + 10 * X[:, 3]
        + 5 * X[:, 4]
    )
    noise = y - formula
    assert noise.std() == pytest.approx(1, abs=0.01)
    assert np.abs(np.corrcoef(np.column_stack([X, noise]).T) - np.eye(11)).max() < 0.012
