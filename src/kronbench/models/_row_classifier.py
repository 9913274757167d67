"""Models of rows: checked input, tags, labels of the leaves of a tree, softmax predictions."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kronbench.class_tree.softmax import softmax
from kronbench.class_tree.tree import Tree
from kronbench.errors import InputError
from kronbench.models._parameters import CheckedParameters

Rows: TypeAlias = ArrayLike | sparse.sparray
_ROWS: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64}


def training_rows(
    model: CheckedParameters, X: Rows, y: ArrayLike, **kinds: Any
) -> tuple[Any, np.ndarray]:
    """X (n, d) in double precision, dense or csr, and y, of one length."""
    return validate_data(model, X, y, **_ROWS, **kinds)


def new_rows(model: CheckedParameters, X: Rows) -> np.ndarray | sparse.csr_array:
    """X with the features of the rows that the model was fitted to."""
    check_is_fitted(model)
    return validate_data(model, X, reset=False, **_ROWS)


def forget_fit(model: CheckedParameters) -> None:
    """Take away what an earlier fit left: the attributes whose names end in an underscore."""
    for name in [name for name in vars(model) if name.endswith("_")]:
        delattr(model, name)


def encode_leaves(
    parents: Any, y: np.ndarray, classes: ArrayLike | None = None
) -> tuple[Tree, np.ndarray, np.ndarray]:
    """The tree, flat for None, the class of each leaf (C,), and the leaf of each label (n,).

    Classes are those given, or under a tree 0..C-1 for whole numbers, or the sorted labels.
    """
    tree = None if parents is None else Tree(parents)
    whole = y.dtype.kind in "iub" or (y.dtype.kind == "f" and (y % 1 == 0).all())
    if classes is not None:
        of_leaves = np.asarray(classes)
    else:
        of_leaves = np.arange(tree.n_classes) if tree is not None and whole else np.unique(y)
    tree = Tree.flat(len(of_leaves)) if tree is None else tree
    if len(of_leaves) != tree.n_classes:
        raise InputError(
            f"the tree has {tree.n_classes} leaves for {len(of_leaves)} classes: give one class "
            "for each leaf"
        )
    # A search among the sorted classes finds the leaf of each label.
    order = np.argsort(of_leaves, kind="stable")
    at = np.searchsorted(of_leaves, y, sorter=order)
    codes = order[np.minimum(at, len(of_leaves) - 1)]
    outside = of_leaves[codes] != y
    if outside.any():
        raise InputError(
            f"y holds the label {y[outside].tolist()[0]!r}, which is not a class: give labels "
            f"among the {len(of_leaves)} classes of the tree"
        )
    return tree, of_leaves, codes


class OfRows(CheckedParameters):
    """Base of the estimators whose samples are rows, or the values of a precomputed kernel."""

    def __sklearn_tags__(self):
        # A model around another takes the input that the inner one takes.
        tags, inner = super().__sklearn_tags__(), getattr(self, "estimator", None)
        if inner is None:
            tags.input_tags.sparse = True
            tags.input_tags.pairwise = getattr(self, "kernel", None) == "precomputed"
        else:
            tags.input_tags = inner.__sklearn_tags__().input_tags
        return tags


class RowClassifier(ClassifierMixin, OfRows):
    """A softmax classifier; a subclass gives ``_scores(X)``, (n_new, C)."""

    classes_: np.ndarray

    def predict(self, X: Rows) -> np.ndarray:
        """The most probable class (n_new,)."""
        best = np.argmax(self._scores(X), axis=1)  # It comes first, and says what is not fitted.
        return self.classes_[best]

    def decision_function(self, X: Rows) -> np.ndarray:
        """Scores: (n_new, C), or the difference (n_new,) of the second and the first of two."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X: Rows) -> np.ndarray:
        """Probabilities (n_new, C); rows sum to one."""
        return softmax(self._scores(X))[0]

    def predict_log_proba(self, X: Rows) -> np.ndarray:
        """Their logarithms."""
        scores = self._scores(X)
        return scores - softmax(scores)[1][:, None]
