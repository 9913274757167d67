import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from kronbench.datasets import corpus_surrogates
from kronbench.datasets.corpus_surrogates import (
    CorpusLaw,
    Topics,
    depths,
    random_tree,
    sizes_with_total,
)
from tests.datasets.trees import check_tree

V = 500
LAW = CorpusLaw(
    exponent=1.0,
    log_length=5.0,
    spread=0.5,
    shares=(0.7, 0.1, 0.2),
    supports=(40, 20),
)


@given(
    level_sizes=st.lists(st.integers(1, 8), min_size=1, max_size=4).map(np.cumsum),
    seed=st.integers(0, 2**32 - 1),
)
def test_random_tree_has_its_levels_and_no_childless_inner_node(level_sizes, seed):
    level_sizes = [1, *level_sizes.tolist()]
    parents = random_tree(np.random.default_rng(seed), level_sizes)
    assert np.bincount(depths(parents)).tolist() == level_sizes
    assert check_tree(parents) == level_sizes[-1]


@given(
    sizes=st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=30),
    extra=st.integers(0, 1000),
)
def test_sizes_add_up_and_keep_their_proportions(sizes, extra):
    sizes = np.array(sizes)
    whole = sizes_with_total(sizes, len(sizes) + extra)
    assert whole.sum() == len(sizes) + extra
    assert whole.min() >= 1
    assert np.abs(whole - 1 - extra * sizes / sizes.sum()).max() <= 1


@settings(max_examples=20, deadline=None)
@given(n=st.integers(0, 60), at_once=st.integers(1, 25), seed=st.integers(0, 2**32 - 1))
def test_parts_make_one_canonical_matrix_of_counts(n, at_once, seed):
    rng = np.random.default_rng(seed)
    parents = random_tree(rng, [1, 3, 9])
    topics = Topics(rng, parents, V, LAW)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus_surrogates, "_DOCUMENTS_AT_ONCE", at_once)
        counts = topics.draw(rng, rng.integers(4, 13, size=n))
    assert counts.shape == (n, V)
    assert counts.dtype == np.float32
    assert counts.indices.dtype == np.int32
    assert (counts.data >= 1).all()
    assert (counts.data % 1 == 0).all()
    for row in range(n):
        words = counts.indices[counts.indptr[row] : counts.indptr[row + 1]]
        assert len(words) > 0
        assert (np.diff(words) > 0).all()


def test_words_follow_the_laws():
    rng = np.random.default_rng(0)
    parents = random_tree(rng, [1, 2, 4])
    topics = Topics(rng, parents, V, LAW)
    counts = topics.draw(rng, np.full(20_000, 3))
    lengths = counts.sum(axis=1)
    assert np.log(lengths).mean() == pytest.approx(5.0, abs=0.02)
    assert np.log(lengths).std() == pytest.approx(0.5, abs=0.02)
    background = (np.arange(1, 501) + 2.7) ** -1.0
    background /= background.sum()
    frequency = counts.sum(axis=0) / lengths.sum()
    # What is left of the frequencies without the background is the topics of the one path.
    left = frequency - 0.7 * background
    used = left > 0.003 * frequency.max()
    assert used.sum() <= 60
    assert left[used].sum() == pytest.approx(0.3, abs=0.06)
    np.testing.assert_allclose(left[~used], 0, atol=0.004)
