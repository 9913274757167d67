import numpy as np
import pytest

from kronbench import datasets
from kronbench.datasets.generators import add10, ringnorm, twonorm, waveform

N = 200_000
A = 2 / np.sqrt(20)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("name", ["ringnorm", "twonorm", "waveform", "add10"])
def test_the_registered_sample_is_generated_and_the_same_each_time(name):
    first, again = datasets.load(name, policy="real"), datasets.load(name)
    assert first.source == again.source == "generated"
    np.testing.assert_array_equal(first["X"], again["X"])
    np.testing.assert_array_equal(first["y"], again["y"])


def test_ringnorm_has_a_wide_class_at_the_origin_and_a_shifted_one(rng):
    X, y = ringnorm(rng, N).values()
    assert abs(y.mean() - 0.5) < 0.01
    np.testing.assert_allclose(np.cov(X[y == 0].T), 4 * np.eye(20), atol=0.08)
    np.testing.assert_allclose(X[y == 0].mean(axis=0), 0, atol=0.04)
    np.testing.assert_allclose(np.cov(X[y == 1].T), np.eye(20), atol=0.03)
    np.testing.assert_allclose(X[y == 1].mean(axis=0), A, atol=0.02)


def test_twonorm_is_separated_by_its_mean_up_to_the_normal_tail(rng):
    X, y = twonorm(rng, N).values()
    np.testing.assert_allclose(X[y == 0].mean(axis=0), A, atol=0.02)
    error = np.mean((X.sum(axis=1) < 0) != (y == 1))
    assert error == pytest.approx(0.02275, abs=0.0012)  # P(N(0, 1) > 2)


def test_waveform_mixes_two_of_three_waves(rng):
    X, y = waveform(rng, N).values()
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


def test_add10_leaves_unit_noise_and_ignores_five_inputs(rng):
    X, y = add10(rng, N).values()
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
