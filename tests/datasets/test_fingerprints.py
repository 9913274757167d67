"""Fingerprints and affinities by the recipe."""

import numpy as np
import pytest

from kronbench.datasets.generators import FingerprintRecipe
from kronbench.linalg import gram


@pytest.fixture(scope="module")
def recipe():
    return FingerprintRecipe(5, 40, np.random.default_rng(0))


def test_fingerprints_are_bits_in_series(recipe):
    X, _ = recipe.pairs(1000, 10, np.random.default_rng(1))
    bits = X.row_features
    assert bits.shape == (1000, 2048)
    assert set(bits.data) == {1.0}
    assert 46 < bits.nnz / 1000 < 50
    alike = gram(bits[:300], kernel="tanimoto")[np.triu_indices(300, 1)]
    # a fifth of the compounds are of one's own series, and share its thirty bits
    assert np.mean(alike > 0.3) == pytest.approx(0.2, abs=0.05)


def test_affinities_have_the_stated_variances(recipe):
    X, y = recipe.pairs(3000, 200_000, np.random.default_rng(2))
    assert y.var() == pytest.approx(1.25, abs=0.3)
    again = recipe.pairs(3000, 200_000, np.random.default_rng(2))[1]
    np.testing.assert_array_equal(y, again)
    # pairs drawn twice differ by their noise alone
    cells = X.rows * 40 + X.cols
    order = np.argsort(cells, kind="stable")
    twins = order[1:][np.diff(cells[order]) == 0], order[:-1][np.diff(cells[order]) == 0]
    assert np.std(y[twins[0]] - y[twins[1]]) == pytest.approx(np.sqrt(0.5), rel=0.02)
