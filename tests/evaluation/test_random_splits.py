"""Random divisions: which sizes, and that the draws are those of the accepted results."""

import numpy as np
from hypothesis import given, strategies as st

from kronbench.evaluation import even_folds, n_two_thirds, two_thirds


@given(n=st.integers(0, 50), n_folds=st.integers(1, 7), seed=st.integers(0, 99))
def test_every_position_falls_into_one_part_of_the_right_size(n, n_folds, seed):
    rng = np.random.default_rng(seed)
    train, test = two_thirds(n, rng)
    np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(n))
    assert len(train) == n_two_thirds(n)
    assert 0 <= 3 * len(train) - 2 * n < 3
    sizes = np.bincount(even_folds(n, n_folds, rng), minlength=n_folds)
    assert len(sizes) == n_folds
    assert np.ptp(sizes) <= 1


def test_one_permutation_is_drawn_for_each():
    """Another order of the draws would change every split of the accepted results."""
    rng, again = np.random.default_rng(0), np.random.default_rng(0)
    parts, folds = two_thirds(10, rng), even_folds(7, 3, rng)
    np.testing.assert_array_equal(np.concatenate(parts), again.permutation(10))
    np.testing.assert_array_equal(folds, again.permutation([0, 1, 2, 0, 1, 2, 0]))
    assert rng.random() == again.random()
