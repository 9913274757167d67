"""Classifiers with a class tree: the same splits, scores by hand, rivals that are missing."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from kronbench.class_tree import Tree
from kronbench.papers.rivals.draw import class_tree_scores
from kronbench.papers.rivals.measure import class_tree_rivals
from kronbench.papers.rivals.measure.class_tree_rivals import _OnPaths, tree_scores
from kronbench.runner.items import load_scales
from kronbench.runner.job import run_experiment
from tests.small_classes import PARENTS, documents

SPEC = {
    "seed": 1,
    "splits": 2,
    "most_documents": {"others": 1000},
    "components": {},
    "weights": [1, 10],
}
ITEM = load_scales()[0].item("rivals", "table-3")
OURS = ["logistic regression, flat", "LinearSVC, flat"]
OURS += ["Newton, flat", "Newton, tree", "Newton, tree, learned"]


def test_a_rival_that_is_not_installed_is_told(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("kronbench.runner.solvers._nearest_package", lambda *names: None)
    methods, skipped = class_tree_rivals.installed_methods(Tree(PARENTS), 2)
    assert list(methods) == OURS
    assert len(skipped) == 3
    assert all('hiclass is not installed (pip install "kronbench[rivals]")' in s for s in skipped)


@pytest.fixture(scope="module")
def frame():
    frame = run_experiment("rivals.class_tree_rivals", SPEC, documents(), "ipc-d")
    return frame.assign(source="mirror")


def test_all_methods_have_the_same_candidates_and_splits(frame):
    assert set(OURS) <= set(frame["method"])
    assert (frame.groupby("method")["split"].nunique() == 2).all()
    chosen = frame[frame["method"] != "Newton, tree, learned"]
    assert set(chosen["weight"]) <= {1, 10}
    assert (chosen["on_edge"] == 1).all()
    assert (frame["pacc"] >= frame["acc"]).all()
    assert frame["acc"].min() > 0.1


def test_components_take_the_place_of_words():
    spec = SPEC | {"components": {"ipc-d": 5}, "splits": 1}
    found = run_experiment("rivals.class_tree_rivals", spec, documents(), "ipc-d")
    assert (found["features"] == 5).all()


def test_scores_of_a_tree_by_hand():
    tree = Tree([-1, 0, 0, 1, 1, 2])  # leaves 3, 4 below 1 and 5 below 2
    scores = tree_scores(np.array([0, 0, 2]), np.array([0, 1, 0]), tree)
    # paths (1, 3), (1, 3), (2, 5) against (1, 3), (1, 4), (1, 3)
    assert scores == pytest.approx(
        {"acc": 1 / 3, "pacc": 2 / 3, "hierarchical_f": 3 / 6, "taxo": (0 + 1 + 2) / 3}
    )


def test_hierarchical_f_is_that_of_hiclass():
    metrics = pytest.importorskip("hiclass.metrics")
    tree, rng = Tree(PARENTS), np.random.default_rng(0)
    y, predicted = rng.integers(tree.n_classes, size=(2, 50))
    ours = tree_scores(y, predicted, tree)["hierarchical_f"]
    assert ours == pytest.approx(
        metrics.f1(tree.paths[y].astype(str), tree.paths[predicted].astype(str))
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


def test_the_table_marks_what_is_level_with_the_best(frame):
    found = frame.assign(acc=np.where(frame["method"] == "Newton, tree", 0.9, 0.5), taxo=1.0)
    table = class_tree_scores.tabulate(found, ITEM, None).set_index(["score", "method"])
    leaf = table.loc["leaf accuracy"]
    assert leaf.loc["Newton, tree", "mean"] == pytest.approx(90)
    assert leaf["level"].sum() == 1
    assert leaf.loc["Newton, tree", "level"] == 1
    assert (table.loc["taxonomy loss", "level"] == 1).all()
