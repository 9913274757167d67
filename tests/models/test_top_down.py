"""The way down a tree: the product along each path, and what happens without documents."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from kronbench.errors import InputError
from kronbench.models import TopDownClassifier
from tests.models.hierarchical_problems import PARENTS, UNEVEN, clouds


@pytest.mark.parametrize("parents", [PARENTS, UNEVEN], ids=["even", "uneven"])
def test_probabilities_multiply_along_the_path(parents):
    n_classes = 5 if parents is PARENTS else 4
    X, y = clouds(n_classes=n_classes)
    model = TopDownClassifier(parents, estimator=LogisticRegression(C=2.0)).fit(X, y)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert (model.predict(X) == y).mean() > 0.6
    if parents is not PARENTS:
        return
    # by hand: the root chooses 1 (leaves 3, 4) or 2 (leaves 5 to 7)
    below = np.array([1, 1, 2, 2, 2])[y]
    root = LogisticRegression(C=2.0).fit(X, below).predict_proba(X)
    inner = LogisticRegression(C=2.0).fit(X[below == 1], y[below == 1]).predict_proba(X)
    np.testing.assert_allclose(proba[:, :2], root[:, :1] * inner, atol=1e-12)


def test_a_flat_tree_is_one_regression():
    X, y = clouds()
    flat = TopDownClassifier([-1, 0, 0, 0, 0, 0]).fit(X, y)
    np.testing.assert_array_equal(
        flat.predict_proba(X), TopDownClassifier().fit(X, y).predict_proba(X)
    )
    np.testing.assert_allclose(
        flat.predict_proba(X), LogisticRegression().fit(X, y).predict_proba(X), atol=1e-12
    )


def test_nodes_without_rows_share_equally_and_only_children_take_all():
    X, y = clouds()
    kept = np.isin(y, [0, 2])
    proba = TopDownClassifier(PARENTS).fit(X[kept], y[kept]).predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert (proba[:, [1, 3, 4]] == 0).all()
    only = TopDownClassifier(PARENTS).fit(X[y == 0], y[y == 0]).predict_proba(X)
    np.testing.assert_allclose(only[:, 0], 1)


def test_labels_name_the_leaves_in_their_order():
    X, y = clouds()
    expected = TopDownClassifier(PARENTS).fit(X, y).predict_proba(X)
    names = np.array(["a", "b", "c", "d", "e"])
    named = TopDownClassifier(PARENTS).fit(X, names[y])
    np.testing.assert_array_equal(named.predict_proba(X), expected)
    np.testing.assert_array_equal(named.predict(X), names[expected.argmax(axis=1)])
    with pytest.raises(InputError, match="y holds the label 5, which is not a class"):
        TopDownClassifier(PARENTS).fit(X, y + 1)
    with pytest.raises(InputError, match="5 leaves for 4 classes"):
        TopDownClassifier(PARENTS).fit(X[y < 4], names[y[y < 4]])
