"""The plain way down a class tree: a classifier of its own at each inner node."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils._param_validation import HasMethods

from kronbench.models._parameters import estimator, parameter, positional
from kronbench.models._row_classifier import RowClassifier, Rows, encode_leaves, new_rows


@estimator
class TopDownClassifier(RowClassifier):
    """At each inner node a classifier chooses a child; probabilities multiply along the path.

    The baseline of hierarchical classification: nothing is shared between the nodes. A fit of
    ``estimator`` for each inner node, to the rows below it.

    Parameters
    ----------
    tree : (P + 1,) integer array, optional
        As for :class:`HierarchicalNewtonClassifier`, of which its leaves are the classes; flat,
        one classifier of all classes, when None.
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

    tree: ArrayLike | None = positional("array-like", None, default=None, kw_only=False)
    estimator: ClassifierMixin | None = parameter(None, HasMethods(["fit", "predict_proba"]), None)

    def fit(self, X: Rows, y: ArrayLike) -> Self:
        """Fit to X (n, d), dense or sparse, and classes y (n,)."""
        X, y = self._training_rows(X, y)
        tree, self.classes_, codes = encode_leaves(self.tree, y)
        self.tree_ = tree
        base = LogisticRegression() if self.estimator is None else self.estimator
        paths = np.hstack([np.zeros((tree.n_classes, 1), int), tree.paths])[codes]
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
