"""Canonical correspondence analysis against the dense correspondence analysis of classes."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

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


def test_more_components_than_classes_are_refused(arrays):
    with pytest.raises(InputError, match="fewer than the 40 classes"):
        CanonicalCorrespondence(40).fit(arrays["X"], arrays["y"])


def test_same_random_state_same_positions_and_names_of_classes_do_not_matter(arrays):
    X, y = arrays["X"], arrays["y"]
    names = np.array([f"class {label:02d}" for label in y])
    first, second = (
        CanonicalCorrespondence(5, random_state=3).fit_transform(X, labels)
        for labels in (y, names)
    )
    np.testing.assert_array_equal(first, second)


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
        (lambda X, y: (X, y[:-1]), "one class for each of the 500 documents"),
        (lambda X, y: (-X, y), "none negative"),
        (lambda X, y: (X * np.nan, y), "finite numbers"),
    ],
)
def test_what_is_no_table_of_counts_is_refused(arrays, change, sentence):
    with pytest.raises(InputError, match=sentence):
        CanonicalCorrespondence(5).fit(*change(arrays["X"], arrays["y"]))


def test_parameters_are_kept_as_scikit_learn_wants_them(arrays):
    model = clone(CanonicalCorrespondence(5, min_documents=2, random_state=1))
    assert model.get_params() == {
        "n_components": 5,
        "min_documents": 2,
        "n_iter": 3,
        "random_state": 1,
    }
    with pytest.raises(NotFittedError):
        model.transform(arrays["X"])
    with pytest.raises(InputError, match="1500 words"):
        model.fit(arrays["X"], arrays["y"]).transform(arrays["X"][:, :10])


def test_the_scale_of_counts_does_not_matter(arrays):
    X, y = arrays["X"], arrays["y"]
    model = CanonicalCorrespondence(random_state=0).fit(X, y)
    np.testing.assert_allclose(model.transform(X / 1000), model.transform(X), rtol=1e-4, atol=1e-6)


def test_a_class_that_is_missing_is_refused(arrays):
    y = np.where(np.arange(len(arrays["y"])) == 3, np.nan, arrays["y"])
    with pytest.raises(InputError, match="y holds NaN"):
        CanonicalCorrespondence().fit(arrays["X"], y)
