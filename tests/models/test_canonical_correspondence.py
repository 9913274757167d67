"""Canonical correspondence analysis against the dense correspondence analysis of classes."""

import numpy as np
import pytest
from scipy import sparse

from kronbench.errors import InputError
from kronbench.models import CanonicalCorrespondence
from tests.small_corpus import small_lshtc


@pytest.fixture(scope="module")
def arrays():
    return small_lshtc()


def test_components_are_the_correspondence_analysis_of_the_table_of_classes(arrays):
    X, y = arrays["X"], arrays["y"]
    model = CanonicalCorrespondence(8, min_documents=3, n_iter=30, random_state=0).fit(X, y)
    counts = X.toarray().astype(float)
    words = np.flatnonzero((counts > 0).sum(axis=0) >= 3)
    np.testing.assert_array_equal(model.words_, words)
    table = np.array([counts[y == c][:, words].sum(axis=0) for c in np.unique(y)])
    table /= table.sum()
    r, c = table.sum(axis=1), table.sum(axis=0)
    U, s, _ = np.linalg.svd((table - np.outer(r, c)) / np.sqrt(np.outer(r, c)))
    np.testing.assert_allclose(model.singular_values_, s[:8], rtol=1e-4)
    # The position of a class, the mean of its words', is its principal coordinate.
    classes = (table / r[:, None]) @ model.positions_
    expected = (U[:, :8] * s[:8]) / np.sqrt(r)[:, None]
    signs = np.sign(np.sum(classes * expected, axis=0))
    np.testing.assert_allclose(classes, signs * expected, atol=1e-2 * np.abs(expected).max())


def test_a_document_lies_at_the_mean_of_its_words(arrays):
    model = CanonicalCorrespondence(5, random_state=0).fit(arrays["X"], arrays["y"])
    counts = arrays["X"][[7]].toarray()[0, model.words_]
    expected = counts @ model.positions_ / counts.sum()
    np.testing.assert_allclose(model.transform(arrays["X"][[7]])[0], expected, rtol=1e-4)


def test_a_document_without_known_words_lies_at_the_origin(arrays):
    model = CanonicalCorrespondence(5, min_documents=3, random_state=0)
    model.fit(arrays["X"], arrays["y"])
    rare = np.setdiff1d(np.arange(arrays["X"].shape[1]), model.words_)[:1]
    document = np.zeros((1, arrays["X"].shape[1]))
    document[0, rare] = 4
    np.testing.assert_array_equal(model.transform(document), np.zeros((1, 5)))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
        (lambda X, y: (-X, y), "Negative values in data"),
        (lambda X, y: (X * np.nan, y), "NaN"),
        (lambda X, y: (X, np.where(y == y[3], np.nan, y)), "y contains NaN"),
        (lambda X, y: (X, y % 5), "fewer than the 5 classes"),
    ],
)
def test_what_is_no_table_of_counts_is_refused(arrays, change, sentence):
    with pytest.raises(ValueError, match=sentence):
        CanonicalCorrespondence(5).fit(*change(arrays["X"], arrays["y"]))


def test_the_scale_of_counts_does_not_matter(arrays):
    X, y = arrays["X"], arrays["y"]
    model = CanonicalCorrespondence(random_state=0).fit(X, y)
    np.testing.assert_allclose(model.transform(X / 1000), model.transform(X), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("X", "axes"),
    [
        (np.ones((6, 4)), "0 directions"),
        (np.kron([[5, 1, 2], [1, 4, 2], [3, 2.5, 2]], np.ones((2, 1))), "1 direction "),
    ],
)
def test_axes_along_which_classes_do_not_differ_are_refused(X, axes):
    """They were divided by a singular value of zero."""
    with pytest.raises(InputError, match=f"n_components=2: the classes differ in {axes}"):
        CanonicalCorrespondence(2, random_state=0).fit(X, np.repeat([0, 1, 2], 2))


@pytest.mark.parametrize("scale", [1e-320, 1e39, 1e308])
def test_counts_beyond_single_precision_are_one_sentence(scale):
    X = scale * np.array([[1.0, 0.5, 0.25], [0.25, 1, 0.5], [0.5, 0.5, 1]])
    with pytest.raises(InputError, match="beyond the range of single precision"):
        CanonicalCorrespondence(1).fit(X, np.arange(3))


def test_a_stored_zero_is_no_word_of_a_document():
    X = sparse.csr_array(np.array([[3.0, 1, 1], [1, 4, 2], [2, 1, 3]]))
    X.data[X.indices == 2] = [0, 2, 3]
    model = CanonicalCorrespondence(1, min_documents=3, random_state=0).fit(X, np.arange(3))
    assert model.words_.tolist() == [0, 1]


def test_by_default_a_flat_spectrum_is_met_to_a_few_parts_in_a_hundred(rng):
    X, y = rng.poisson(0.05, (600, 400)).astype(float), np.arange(600) % 60
    table = np.array([X[y == c].sum(axis=0) for c in range(60)]) / X.sum()
    r, c = table.sum(axis=1), table.sum(axis=0)
    values = np.linalg.svd((table - np.outer(r, c)) / np.sqrt(np.outer(r, c)), compute_uv=False)
    model = CanonicalCorrespondence(5, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.singular_values_, values[:5], rtol=0.05)
