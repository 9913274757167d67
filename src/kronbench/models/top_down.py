"""The plain way down a class tree: a classifier of its own at each inner node."""

from __future__ import annotations

from dataclasses import MISSING
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils._param_validation import HasMethods

from kronbench.class_tree.tree import Tree
from kronbench.errors import InputError
from kronbench.models._parameters import estimator, parameter
from kronbench.models._row_classifier import RowClassifier, Rows, new_rows


@estimator
class TopDownClassifier(RowClassifier):
    """At each inner node a classifier chooses a child; probabilities multiply along the path.

    The baseline of hierarchical classification: nothing is shared between the nodes. A fit of
    ``estimator`` for each inner node, to the rows below it.

    Parameters
    ----------
    tree : (P + 1,) integer array
        As for :class:`HierarchicalNewtonClassifier`; the leaves in increasing order of their node
        are the classes 0..C-1.
    estimator : scikit-learn classifier with ``predict_proba``, default None
        ``LogisticRegression()`` when None.

    Attributes
    ----------
    {row_classes}
    tree_ : Tree
    estimators_ : dict
        By inner node the classifier of its children, or the one child that has rows. A node
        without rows has none: its children are equally likely.
    """

    tree: ArrayLike = parameter(MISSING, "array-like", positional=True)
    estimator: ClassifierMixin | None = parameter(None, HasMethods(["fit", "predict_proba"]), None)

    def fit(self, X: Rows, y: ArrayLike) -> Self:
        """Fit to X (n, d), dense or sparse, and classes y (n,)."""
        X, y = self._training_rows(X, y)
        tree = self.tree_ = Tree(self.tree)
        y = np.asarray(y)
        if y.dtype.kind not in "iu":
            raise InputError(f"y has dtype {y.dtype}: give integers, 0..{tree.n_classes - 1}")
        if y.min() < 0 or y.max() >= tree.n_classes:
            raise InputError(f"y holds a label outside 0..{tree.n_classes - 1}, the leaves")
        self.classes_ = np.arange(tree.n_classes)
        base = LogisticRegression() if self.estimator is None else self.estimator
        paths = np.hstack([np.zeros((tree.n_classes, 1), int), tree.paths])[y]
        self.estimators_ = {}
        for depth in range(paths.shape[1] - 1):
            here, below = paths[:, depth], paths[:, depth + 1]
            for node in np.unique(here[below >= 0]):
                rows = (here == node) & (below >= 0)
                chosen = np.unique(below[rows])
                self.estimators_[int(node)] = (
                    int(chosen[0]) if len(chosen) == 1 else clone(base).fit(X[rows], below[rows])
                )
        return self

    def predict_proba(self, X: Rows) -> np.ndarray:
        """Probabilities (n_new, C); rows sum to one."""
        X = new_rows(self, X)
        tree = self.tree_
        reached = np.zeros((X.shape[0], tree.n_nodes + 1))
        reached[:, 0] = 1
        for node in np.argsort(tree.depths, kind="stable"):
            children = np.flatnonzero(tree.parents == node)
            if not len(children):
                continue
            fitted = self.estimators_.get(int(node))
            if fitted is None:
                reached[:, children] = reached[:, [node]] / len(children)
            elif isinstance(fitted, int):
                reached[:, fitted] = reached[:, node]
            else:
                reached[:, fitted.classes_] = reached[:, [node]] * fitted.predict_proba(X)
        return reached[:, tree.leaves]

    def _scores(self, X):
        return self.predict_proba(X)
