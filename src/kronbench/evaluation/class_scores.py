"""Scores of classification with many classes and a class tree; collections cut down to a part."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from kronbench.class_tree import Tree
from kronbench.errors import InputError
from kronbench.evaluation.ranking import check_no_nan


def precision(y: ArrayLike, proba: ArrayLike) -> float:
    """Mean reciprocal rank of the true class ("prec" of Seeger 2006, section 8.2).

    ``y`` (n,) are true classes 0..C-1, ``proba`` (n, C) probabilities or scores; equal ones share
    their mean rank, so that a constant prediction gains nothing.
    """
    proba = _checked_proba(proba)
    (y,) = _checked_classes(proba.shape[1], len(proba), y=y)
    # Its rank is one more than the number of larger ones; tied ones, itself among them, share
    # theirs.
    true = np.take_along_axis(proba, y[:, None], axis=1)
    rank = (proba > true).sum(axis=1) + ((proba == true).sum(axis=1) + 1) / 2
    return float((1 / rank).mean())


def taxo_loss(y: ArrayLike, predicted: ArrayLike, tree: np.ndarray) -> float:
    """Mean of half the number of edges between true and predicted leaf (Seeger 2006, section 8.2).

    ``y`` and ``predicted`` (n,) are classes 0..C-1. ``tree`` (P,) has the parent of each node,
    ``tree[0] == -1`` is the root; its leaves in increasing order of node are the classes.
    """
    paths = Tree(tree).paths
    y, predicted = _checked_classes(len(paths), y=y, predicted=predicted)
    # The way between two leaves leads up to their last common node and down again.
    depth = (paths >= 0).sum(axis=1)
    shared = ((paths[y] == paths[predicted]) & (paths[y] >= 0)).sum(axis=1)
    return float(((depth[y] + depth[predicted]) / 2 - shared).mean())


def parent_accuracy(y: ArrayLike, predicted: ArrayLike, tree: np.ndarray) -> float:
    """Share of predictions, as of :func:`taxo_loss`, with the true parent (section 8.2)."""
    nodes = Tree(tree)
    parents = nodes.parents[nodes.leaves]
    y, predicted = _checked_classes(len(parents), y=y, predicted=predicted)
    return float((parents[y] == parents[predicted]).mean())


def taxo_decision(proba: ArrayLike, tree: np.ndarray) -> np.ndarray:
    """The classes (n,) that minimize the expected taxo-loss (Seeger 2006, section 8.2).

    For probabilities ``proba`` (n, C), ``tree`` as for :func:`taxo_loss`. With S(a) the mass of
    the leaves below node a, the expected loss of leaf c is, up to a constant, depth(c)/2 minus the
    sum of S over the path from c to just below the root: O(n C depth).
    """
    paths = Tree(tree).paths
    proba = _checked_proba(proba, len(paths))
    # The matrix has a one where a node (column) lies on the path to a leaf (row), so that
    # ``proba @ above`` is S and a product with its transpose sums S along each path.
    leaf, level = np.nonzero(paths >= 0)
    above = sparse.csr_array(
        (np.ones(len(leaf)), (leaf, paths[leaf, level])), shape=(len(paths), len(tree))
    )
    depth = (paths >= 0).sum(axis=1)
    return np.argmax((proba @ above) @ above.T - depth / 2, axis=1)


def parent_decision(proba: ArrayLike, tree: np.ndarray) -> np.ndarray:
    """The classes (n,) that minimize the expected parent error (Seeger 2006, footnote 12).

    Of the parent whose leaf children have the largest mass the most probable child. Parameters as
    for :func:`taxo_decision`.
    """
    nodes = Tree(tree)
    parents = nodes.parents[nodes.leaves]
    proba = _checked_proba(proba, len(parents))
    # The parent of the largest mass comes first, then the child of it that is most probable.
    _, group = np.unique(parents, return_inverse=True)
    members = sparse.csr_array((np.ones(len(group)), (np.arange(len(group)), group)))
    best = np.argmax(proba @ members, axis=1)
    return np.argmax(np.where(group == best[:, None], proba, -1.0), axis=1)


def hierarchy_scores(y: ArrayLike, proba: ArrayLike, tree: np.ndarray) -> dict:
    """The six scores of Seeger (2006, section 8.2) from class probabilities.

    ``acc`` and ``prec``; ``taxo`` and ``pacc`` of the decisions of least expected loss, ``taxo01``
    and ``pacc01`` of the most probable classes. Parameters as for the six functions.
    """
    proba = np.asarray(proba)
    mode = np.argmax(proba, axis=1)
    return {
        "acc": float((mode == np.asarray(y)).mean()),
        "prec": precision(y, proba),
        "taxo": taxo_loss(y, taxo_decision(proba, tree), tree),
        "taxo01": taxo_loss(y, mode, tree),
        "pacc": parent_accuracy(y, parent_decision(proba, tree), tree),
        "pacc01": parent_accuracy(y, mode, tree),
    }


def mean_log_loss(y: np.ndarray, proba: np.ndarray) -> float:
    """Mean over documents of minus the logarithm of the probability of the true class.

    ``y`` (n,) holds classes 0..C-1, ``proba`` (n, C) probabilities; those below the smallest
    normal number, 2e-308, count as that: a class that a model excludes makes no mean infinite.
    """
    true = np.take_along_axis(proba, y[:, None], axis=1)
    return float(-np.log(np.maximum(true, float(np.finfo(float).tiny))).mean())


def some_subclasses(
    X: np.ndarray | sparse.csr_array,
    y: np.ndarray,
    parents: np.ndarray,
    most_documents: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray | sparse.csr_array, np.ndarray, np.ndarray]:
    """X, y, parents of whole subclasses (parents of leaves).

    As many in a random order as have at most ``most_documents`` documents together; all where
    there are no more. Nodes and words without documents do not occur.
    """
    if len(y) <= most_documents:
        return X, y, parents
    # Whole subclasses are taken in random order while their documents fit.
    tree = Tree(parents)
    home = tree.parents[tree.leaves][y]
    subclasses, counts = np.unique(home, return_counts=True)
    order = rng.permutation(len(subclasses))
    kept = subclasses[order[np.cumsum(counts[order]) <= most_documents]]
    rows = np.flatnonzero(np.isin(home, kept))
    # The nodes on the paths to these documents are numbered anew, in their old order, and with
    # them the classes, which are the leaves in increasing order.
    used = np.unique(np.concatenate([[0], tree.paths[np.unique(y[rows])].ravel()]))
    used = used[used >= 0]
    smaller = Tree(np.concatenate([[-1], np.searchsorted(used, tree.parents[used[1:]])]))
    labels = np.searchsorted(used[smaller.leaves], tree.leaves[y[rows]])
    if isinstance(X, np.ndarray):
        return X[rows], labels, smaller.parents
    # Words that occur in none of these documents are left out too.
    words = sparse.csr_array(X)[rows]
    return words[:, np.unique(words.indices)], labels, smaller.parents


def _checked_classes(n_classes, n=None, **arrays) -> list[np.ndarray]:
    """The arrays of classes, (n,) each, whose names are for messages."""
    checked = []
    for name, classes in arrays.items():
        classes = np.asarray(classes)
        n = len(classes) if n is None else n
        if classes.shape != (n,) or classes.dtype.kind not in "iu":
            raise InputError(
                f"{name} has shape {classes.shape} and dtype {classes.dtype}: give {n} integer "
                "classes"
            )
        if n and (classes.min() < 0 or classes.max() >= n_classes):
            raise InputError(f"{name} holds a class outside 0..{n_classes - 1}")
        checked.append(classes)
    return checked


def _checked_proba(proba, n_classes=None) -> np.ndarray:
    """Probabilities (n, C), without NaN, for so many classes where the number is known."""
    proba = np.asarray(proba)
    if proba.ndim != 2 or n_classes not in (None, proba.shape[1]):
        columns = "each class" if n_classes is None else f"each of {n_classes} leaves"
        raise InputError(f"proba has shape {proba.shape}: give (n, C), a column for {columns}")
    check_no_nan(proba, "proba")
    return proba
