"""Classifiers with a class tree: the same splits, scores by hand, rivals that are missing."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from kronbench.class_tree import Tree
from kronbench_suite.studies.rivals.measure import class_tree_rivals
from kronbench_suite.studies.rivals.measure.class_tree_rivals import _OnPaths, tree_scores
from tests.small_classes import PARENTS, documents

OURS = ["logistic regression, flat", "LinearSVC, flat"]
OURS += ["Newton, flat", "Newton, tree", "Newton, tree, learned"]


def test_a_rival_that_is_not_installed_is_told(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("kronbench.solvers._nearest_package", lambda *names: None)
    methods, skipped = class_tree_rivals.installed_methods(Tree(PARENTS), 2)
    assert list(methods) == OURS
    assert len(skipped) == 3
    assert all('hiclass is not installed (pip install "kronbench[rivals]")' in s for s in skipped)


def test_scores_of_a_tree_by_hand():
    tree = Tree([-1, 0, 0, 1, 1, 2])  # leaves 3, 4 below 1 and 5 below 2
    scores = tree_scores(np.array([0, 0, 2]), np.array([0, 1, 0]), tree)
    # paths (1, 3), (1, 3), (2, 5) against (1, 3), (1, 4), (1, 3)
    assert scores == pytest.approx(
        {"acc": 1 / 3, "pacc": 2 / 3, "hierarchical_f": 3 / 6, "taxo": (0 + 1 + 2) / 3}
    )


def test_local_classifiers_predict_leaves():
    hiclass = pytest.importorskip("hiclass")
    data = documents()
    X, y, tree = data["X"], data["y"], Tree(data["parents"])
    per_parent = hiclass.LocalClassifierPerParentNode
    local = _OnPaths(per_parent, lambda C: LogisticRegression(), tree, 1)
    # by hand: a regression at each parent, greedily from the root down
    reached, here = np.zeros((2, len(y)), int)
    for below in tree.paths[y].T:
        chosen = np.empty_like(reached)
        for node in np.unique(here):
            regression = LogisticRegression().fit(X[here == node], below[here == node])
            chosen[reached == node] = regression.predict(X[reached == node])
        reached, here = chosen, below
    np.testing.assert_array_equal(tree.leaves[local.fit(X, y).predict(X)], reached)
