import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse

from kronbench import InputError
from kronbench.datasets import corpus_surrogates
from kronbench.datasets.corpus_surrogates import (
    CorpusLaw,
    Topics,
    depths,
    random_tree,
    surrogate_lshtc,
)
from kronbench.datasets.lshtc import parse_lshtc
from tests.datasets.test_wipo import check_tree
from tests.helpers import in_memory

GOOD = {
    "train": "label, data\n545, 32 8:1 18:2\n32 1:3\n\n7 18:0.5 2:1\n545 8:1 # 9:1\n",
    "novel": "99 3:4\n",
    # 1 -> 2 -> 545, 32      1 -> 3 -> 7      1 -> 3 -> 4 -> 99, and two nodes without documents
    "hierarchy": "1 2\n1 3\n2 545\n2 32\n3 7\n3 4\n4 99\n4 1000\n1 5\n",
}


def test_documents_classes_and_tree():
    arrays = parse_lshtc(in_memory(**GOOD), n_words=20)
    X = np.zeros((4, 20))
    X[0, [7, 17]], X[1, 0], X[2, [1, 17]], X[3, 7] = [1, 2], 3, [1, 0.5], 1
    np.testing.assert_array_equal(arrays["X"].toarray(), X)
    assert isinstance(arrays["X"], sparse.csr_array)
    assert arrays["X"].dtype == np.float32
    assert arrays["X_novel"].shape == (1, 20)
    assert arrays["X_novel"][0, 2] == 4
    # The first document counts for 32. Classes 7, 32, 545, and 99 after them because it is novel.
    assert arrays["y"].tolist() == [1, 1, 0, 2]
    assert arrays["y_novel"].tolist() == [3]
    # 1; 2, 3; 4; 7, 32, 545, 99
    assert arrays["parents"].tolist() == [-1, 0, 0, 2, 2, 1, 1, 3]


def test_the_parent_nearest_the_root_counts_and_several_roots_hang_below_one_node():
    hierarchy = "10 20\n20 21\n21 30\n20 30\n11 31\n"
    files = in_memory(train="30 1:1\n31 1:1\n", novel="", hierarchy=hierarchy)
    arrays = parse_lshtc(files, n_words=1)
    # node 0; 10, 11; 20; then 30 below 20, not 21, and 31 below 11
    assert arrays["parents"].tolist() == [-1, 0, 0, 1, 3, 2]
    assert arrays["X_novel"].shape == (0, 1)
    assert arrays["y_novel"].shape == (0,)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"train": "7 1:nan\n"}, "train.txt holds counts that are not finite numbers"),
        ({"train": ""}, "train.txt holds no document"),
        ({"novel": "7 1:1\n"}, "novel.txt: class 7 also has documents in train.txt"),
        ({"train": "8 1:1\n"}, "hierarchy.txt: class 8 is not below a root of the hierarchy"),
        ({"train": "4 1:1\n"}, "hierarchy.txt: class 4 has documents and classes below it"),
        ({"hierarchy": "7 8\n8 7\n"}, "hierarchy.txt: class 7 is not below a root"),
    ],
)
def test_bad_files_are_named(changed, message):
    with pytest.raises(InputError) as error:
        parse_lshtc(in_memory(**GOOD | changed), n_words=20)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_a_scale_takes_the_same_share_of_the_documents_each_time():
    rng = np.random.default_rng(0)
    labels = rng.integers(10, 20, size=200)
    train = "".join(f"{label} {k + 1}:1\n" for k, label in enumerate(labels))
    hierarchy = "".join(f"1 {label}\n" for label in range(10, 20))
    files = in_memory(train=train, novel="", hierarchy=hierarchy)
    first, again = (parse_lshtc(files, n_words=200, scale=0.1) for _ in range(2))
    assert first["X"].shape == (20, 200)
    np.testing.assert_array_equal(first["X"].indices, again["X"].indices)
    kept = np.unique(labels[first["X"].indices])
    np.testing.assert_array_equal(kept[first["y"]], labels[first["X"].indices])
    assert check_tree(first["parents"]) == len(kept)


def test_surrogate_shrinks_with_its_scale():
    sizes = {"n_words": 833482, "n_documents": 383408, "n_novel": 3000}
    sizes["levels"] = [11, 75, 330, 1250, 12633]
    arrays = surrogate_lshtc(np.random.default_rng(0), **sizes, scale=0.005)
    n_classes = 63
    assert arrays["X"].shape == (1917, round(833482 * 0.005**0.55))
    assert arrays["X"].dtype == np.float32
    assert arrays["X"].has_canonical_format
    assert np.bincount(arrays["y"]).min() >= 1
    assert arrays["y"].max() == n_classes - 1
    assert arrays["y_novel"].tolist() == np.repeat(n_classes + np.arange(15), 2).tolist()
    assert arrays["X_novel"].shape == (30, arrays["X"].shape[1])
    assert check_tree(arrays["parents"]) == n_classes + 15
    depth = depths(arrays["parents"])
    assert (depth[-(n_classes + 15) :] == 5).all()
    again = surrogate_lshtc(np.random.default_rng(0), **sizes, scale=0.005)
    assert (arrays["X"] != again["X"]).nnz == 0


V = 500
LAW = CorpusLaw(
    exponent=1.0, log_length=5.0, spread=0.5, shares=(0.7, 0.1, 0.2), supports=(40, 20)
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
