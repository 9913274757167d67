import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from kronbench import InputError, datasets
from kronbench.datasets.drug_target import labelled_pairs
from kronbench.datasets.generators import checkerboard, distinct


@settings(max_examples=60, deadline=None)
@given(size=st.integers(1, 200), share=st.floats(0, 1), seed=st.integers(0, 1000))
def test_distinct_draws_are_distinct_sorted_and_in_range(size, share, seed):
    n = round(share * size)
    drawn = distinct(n, size, np.random.default_rng(seed))
    assert len(drawn) == n
    assert (np.diff(drawn) > 0).all()
    assert n == 0 or (drawn[0] >= 0 and drawn[-1] < size)


@pytest.mark.parametrize("n", [2, 3])
def test_every_subset_is_equally_likely(n):
    """Chi-square of 10 subsets of five integers: below its 99.99 % point for 9 degrees."""
    rng = np.random.default_rng(1)
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"m": 0}, "m is 0 and q is 0"),
        ({"m": 3, "q": 0}, "q is 0"),
        ({"m": 3, "fraction": 1.5}, "fraction is 1.5"),
        ({"m": 3, "flip": -0.1}, "flip is -0.1"),
    ],
)
def test_bad_sizes(arguments, message):
    with pytest.raises(InputError, match=message):
        checkerboard(rng=np.random.default_rng(0), **arguments)
