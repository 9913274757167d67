"""What is drawn has the published shape, is the same each time, and is sound."""

import numpy as np
import pytest
from scipy import sparse

from kronbench import datasets
from kronbench.datasets import corpus_surrogates, registry
from kronbench.datasets.corpus_surrogates import (
    surrogate_lshtc,
    surrogate_section,
    surrogate_titles,
)
from kronbench.datasets.wipo import parse_index, unit_rows
from tests.datasets.test_wipo import check_corpus, check_tree, files
from tests.helpers import in_memory

SIZES = {"levels": [3, 6, 20], "n_documents": 200, "n_test": 50, "median_size": 6}


def nodes_by_depth(parents):
    depth = np.zeros(len(parents), dtype=int)
    for node in range(1, len(parents)):
        depth[node] = depth[parents[node]] + 1
    return np.bincount(depth).tolist()


@pytest.mark.parametrize("name", ["NR", "Davis", "Ki"])
def test_similarities_have_the_published_diagonals_and_medians(name):
    data = datasets.load(name, policy="surrogate")
    for key, (diagonal, median) in registry.find(name).surrogate["similarities"].items():
        S = data[key]
        np.testing.assert_allclose(S.diagonal(), diagonal)
        np.testing.assert_array_equal(S, S.T)
        beside = S[np.triu_indices(len(S), 1)]
        assert np.median(beside) == pytest.approx(diagonal * median)
    assert all((data["labels"] == 1).any(axis=side).all() for side in (0, 1))
    again = datasets.load(name, policy="surrogate")
    np.testing.assert_array_equal(again["values"], data["values"])


def test_a_section_keeps_the_real_places_where_the_index_is_at_hand():
    real = parse_index(files(), section="D")
    drawn = surrogate_section(np.random.default_rng(0), files(), section="D", **SIZES)
    for key in ("y", "parents", "is_test"):
        np.testing.assert_array_equal(drawn[key], real[key])


@pytest.mark.parametrize("missing", [{}, in_memory(train="")])
def test_a_section_without_the_index_has_the_published_shape(missing):
    arrays = surrogate_section(np.random.default_rng(0), missing, section="D", **SIZES)
    check_corpus(arrays)
    assert nodes_by_depth(arrays["parents"]) == [1, 3, 6, 20]
    assert len(arrays["y"]) == 200
    assert arrays["is_test"].sum() == 50
    np.testing.assert_allclose(sparse.linalg.norm(arrays["X"], axis=1), 1, rtol=1e-12)


def test_titles_are_short():
    sizes = {"levels": [3, 8, 40], "n_documents": 300, "median_size": 6}
    arrays = surrogate_titles(np.random.default_rng(0), **sizes)
    assert arrays["X"].shape[0] == len(arrays["y"]) == 300
    assert nodes_by_depth(arrays["parents"]) == [1, 3, 8, 40]
    assert 3 < np.median(np.diff(arrays["X"].indptr)) < 15


def test_a_scale_shrinks_the_corpus_and_its_parts_make_one_matrix_of_counts(monkeypatch):
    monkeypatch.setattr(corpus_surrogates, "_DOCUMENTS_AT_ONCE", 500)
    sizes = {"n_words": 833482, "n_documents": 383408, "n_novel": 3000}
    sizes["levels"] = [11, 75, 330, 1250, 12633]
    arrays, again = (
        surrogate_lshtc(np.random.default_rng(0), **sizes, scale=0.005) for _ in range(2)
    )
    assert (arrays["X"] != again["X"]).nnz == 0
    n_classes, n_words = 63, round(833482 * 0.005**0.55)
    assert (arrays["X"].shape, arrays["X_novel"].shape) == ((1917, n_words), (30, n_words))
    for X in (arrays["X"], arrays["X_novel"]):
        assert (X.dtype, X.indices.dtype) == (np.float32, np.int32)
        assert X.has_canonical_format
        assert (X.data >= 1).all()
        assert (X.data % 1 == 0).all()
        assert (np.diff(X.indptr) > 0).all(), "a document without a word"
    check_tree(arrays["parents"])
    assert nodes_by_depth(arrays["parents"]) == [1, 2, 2, 2, 6, n_classes + 15]
    assert np.bincount(arrays["y"]).min() >= 1
    assert arrays["y"].max() == n_classes - 1
    assert arrays["y_novel"].tolist() == np.repeat(n_classes + np.arange(15), 2).tolist()


def test_documents_of_a_new_class_share_words_with_its_kin():
    sizes = {"n_words": 5000, "n_documents": 800, "levels": [8, 40], "n_novel": 20}
    arrays = surrogate_lshtc(np.random.default_rng(0), **sizes)
    # without the frequent words, which all documents share
    rows = [sparse.csr_array(unit_rows(arrays[key][:, 300:])) for key in ("X_novel", "X")]
    parents = [arrays["parents"][9:][arrays[key]] for key in ("y_novel", "y")]
    kin = parents[0][:, None] == parents[1]
    alike = (rows[0] @ rows[1].T).toarray()
    assert alike[kin].mean() > 1.2 * alike[~kin].mean()
