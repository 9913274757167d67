import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from kronbench.datasets import corpus_surrogates
from kronbench.datasets.corpus_surrogates import CorpusLaw, Topics, random_tree

V = 500
LAW = CorpusLaw(
    exponent=1.0,
    log_length=5.0,
    spread=0.5,
    shares=(0.7, 0.1, 0.2),
    supports=(40, 20),
)


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
