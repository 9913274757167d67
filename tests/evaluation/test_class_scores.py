"""Scores of class trees against their definitions; collections cut down to whole subclasses."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.metrics import log_loss

from kronbench import InputError
from kronbench.class_tree import Tree
from kronbench.evaluation import (
    mean_log_loss,
    parent_accuracy,
    parent_decision,
    precision,
    taxo_decision,
    taxo_loss,
)
from kronbench.evaluation.class_scores import some_subclasses
from tests.class_tree.test_tree import random_parents
from tests.small_classes import PARENTS, documents

# root 0; inner 1, 2, 4; leaves 3 (below 1), 5, 6 (below 4, which is below 2), 7 (below the root)
TREE = np.array([-1, 0, 0, 1, 2, 4, 4, 0])


def half_path(tree, a, b):
    """Half the number of edges between nodes a and b, by walking up."""
    up_a, up_b = [a], [b]
    for path in (up_a, up_b):
        while tree[path[-1]] >= 0:
            path.append(tree[path[-1]])
    common = len(set(up_a) & set(up_b))
    return (len(up_a) + len(up_b) - 2 * common) / 2


@given(seed=st.integers(0, 10_000), size=st.integers(2, 25))
def test_tree_scores_and_decisions_against_the_definition(seed, size):
    rng = np.random.default_rng(seed)
    tree = random_parents(rng, size)
    leaves = np.setdiff1d(np.arange(size), tree)
    C = len(leaves)
    delta = np.array([[half_path(tree, a, b) for b in leaves] for a in leaves])
    y, predicted = rng.integers(0, C, (2, 10))
    assert taxo_loss(y, predicted, tree) == pytest.approx(delta[y, predicted].mean())
    parents = tree[leaves]
    assert parent_accuracy(y, predicted, tree) == np.mean(parents[y] == parents[predicted])

    proba = rng.dirichlet(np.ones(C), 10)
    expected = proba @ delta
    chosen = expected[np.arange(10), taxo_decision(proba, tree)]
    np.testing.assert_allclose(chosen, expected.min(axis=1), atol=1e-12)
    hit = proba @ (parents[:, None] == parents[None, :])
    decided = parent_decision(proba, tree)
    np.testing.assert_allclose(hit[np.arange(10), decided], hit.max(axis=1), atol=1e-12)
    siblings = np.where(parents[decided][:, None] == parents, proba, 0)
    np.testing.assert_array_equal(siblings.argmax(axis=1), decided)


def test_precision_is_the_mean_reciprocal_rank():
    proba = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.2, 0.4, 0.4]])
    # ranks of the true class: 2, 3, and 1.5 (shared by two)
    assert precision([1, 0, 2], proba) == pytest.approx((1 / 2 + 1 / 3 + 1 / 1.5) / 3)
    assert precision([0, 1, 2], np.full((3, 3), 1 / 3)) == pytest.approx(1 / 2)


def test_bad_classes_and_probabilities_are_refused():
    bad = np.array([[0.25] * 4, [0.25, 0.25, np.nan, 0.25]])
    for score, message in (
        (lambda: taxo_loss([0], [4], TREE), "outside 0"),
        (lambda: taxo_decision(np.full((2, 3), 1 / 3), TREE), "4 leaves"),
        (lambda: precision([0, 1], bad), "proba holds NaN"),
        (lambda: taxo_decision(bad, TREE), "proba holds NaN"),
        (lambda: parent_decision(bad, TREE), "proba holds NaN"),
        (lambda: precision([0, 1], np.full(4, 0.25)), r"proba has shape \(4,\)"),
    ):
        with pytest.raises(InputError, match=message):
            score()


def test_the_log_loss_is_scikit_learns_and_finite(rng):
    proba, y = rng.dirichlet(np.full(4, 5.0), size=30), rng.integers(4, size=30)
    assert mean_log_loss(y, proba) == pytest.approx(log_loss(y, proba, labels=range(4)), rel=1e-12)
    y, proba = np.array([1, 0]), np.array([[1.0, 0.0], [1.0, 0.0]])
    assert mean_log_loss(y, proba) == pytest.approx(-np.log(np.finfo(float).tiny) / 2)


def _cut(most):
    data = documents()
    return some_subclasses(data["X"], data["y"], data["parents"], most, np.random.default_rng(0))


def test_whole_subclasses_are_kept():
    data = documents()
    X, y, parents = _cut(130)
    assert 60 < X.shape[0] <= 130
    tree, whole = Tree(parents), Tree(PARENTS)
    assert tree.n_classes == y.max() + 1 == len(np.unique(y))
    assert (np.bincount(tree.parents[tree.leaves])[3:] <= 3).all()
    sizes = np.bincount(whole.parents[whole.leaves][data["y"]])[3:]
    ours = np.bincount(tree.parents[tree.leaves][y])
    assert set(ours[ours > 0]) <= set(sizes)
    np.testing.assert_array_equal(_cut(130)[1], y)
    assert _cut(len(data["y"]))[0].shape == data["X"].shape  # a small collection stays whole
