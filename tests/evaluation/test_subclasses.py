"""Collections cut down to whole subclasses."""

import numpy as np

from kronbench.class_tree import Tree
from kronbench.evaluation.class_scores import some_subclasses
from tests.small_classes import PARENTS, documents


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
