"""Scores of predictions: ranking of pairs, and classification with a class tree."""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy import sparse

from kronbench.errors import InputError
from kronbench.operators import Tree


def roc_auc(y, score) -> float:
    """Area under the ROC curve: the share of (positive, negative) pairs that are in order.

    Parameters
    ----------
    y : (n,) array with at most two different values; the larger one is positive
    score : (n,) float array; ties count one half

    Returns
    -------
    float; NaN where ``y`` has one class only, because there is then nothing to order.

    Raises
    ------
    InputError
        Lengths differ, ``score`` holds NaN, ``y`` has more than two values.
    """
    y, score = _checked(y, score)
    positive = y == y.max() if len(y) else y
    if positive.all():
        return np.nan
    rest = y[~positive]
    if (rest != rest[0]).any():
        raise InputError("y has more than two different values: AUC needs two classes")
    # scikit-learn's roc_auc_score gives the same number in 4.4 ms instead of 0.3 ms at n = 10,000
    # (3.2 s instead of 0.7 s at n = 6.25 million): with a test AUC for each iteration, fold, reg
    # and data set of figures 3 to 5 it would take longer than the solvers.
    few, many = np.sort(score[positive]), np.sort(score[~positive])
    flip = len(few) > len(many)
    if flip:
        few, many = many, few
    below = int(many.searchsorted(few, "left").sum()) + int(many.searchsorted(few, "right").sum())
    auc = below / (2 * len(few) * len(many))
    return 1.0 - auc if flip else auc


def concordance_index(y, score) -> float:
    """Share of the pairs with different ``y`` that ``score`` orders alike; its ties count half.

    Equal to the AUC for two classes. O(n log n), counted in integers.

    Parameters
    ----------
    y, score : (n,) arrays of numbers

    Returns
    -------
    float; NaN where all ``y`` are equal, because there is then nothing to order.
    """
    y, score = _checked(y, score)
    order = np.argsort(y, kind="stable")
    _, group = np.unique(y[order], return_inverse=True)
    _, rank = np.unique(score[order], return_inverse=True)
    twice_concordant, comparable = _count_concordant(group, rank)
    return twice_concordant / (2 * comparable) if comparable else np.nan


def precision(y, proba) -> float:
    """Mean reciprocal rank of the true class ("prec" of Seeger 2006, section 8.2).

    Parameters
    ----------
    y : (n,) integer array of true classes 0..C-1
    proba : (n, C) array of class probabilities or scores
        Equal ones share their mean rank, so that a constant prediction gains nothing.
    """
    proba = np.asarray(proba)
    y = _checked_classes(y, len(proba), proba.shape[1], "y")
    true = np.take_along_axis(proba, y[:, None], axis=1)
    rank = (proba > true).sum(axis=1) + ((proba == true).sum(axis=1) + 1) / 2
    return float((1 / rank).mean())


def taxo_loss(y, predicted, tree) -> float:
    """Mean of half the number of edges between true and predicted leaf (Seeger 2006, section 8.2).

    Parameters
    ----------
    y, predicted : (n,) integer arrays of classes 0..C-1
    tree : (P,) integer array
        Parent of each node, ``tree[0] == -1`` the root; its leaves in increasing order of
        node are the classes.
    """
    paths = Tree(tree).paths
    y, predicted = _checked_predictions(y, predicted, len(paths))
    depth = (paths >= 0).sum(axis=1)
    shared = ((paths[y] == paths[predicted]) & (paths[y] >= 0)).sum(axis=1)
    return float(((depth[y] + depth[predicted]) / 2 - shared).mean())


def parent_accuracy(y, predicted, tree) -> float:
    """Share of predictions whose leaf has the true leaf's parent (Seeger 2006, section 8.2).

    Parameters as for :func:`taxo_loss`.
    """
    parents = _parents(tree)
    y, predicted = _checked_predictions(y, predicted, len(parents))
    return float((parents[y] == parents[predicted]).mean())


def taxo_decision(proba, tree) -> np.ndarray:
    """The classes (n,) that minimize the expected taxo-loss (Seeger 2006, section 8.2).

    With S(a) the mass of the leaves below node a, the expected loss of leaf c is, up to a
    constant, depth(c)/2 minus the sum of S over the path from c to just below the root: the cost
    is O(n C depth), and no C x C matrix is formed.

    Parameters
    ----------
    proba : (n, C) class probabilities
    tree : (P,) integer array, as for :func:`taxo_loss`
    """
    paths = Tree(tree).paths
    proba = _checked_proba(proba, len(paths))
    leaf, level = np.nonzero(paths >= 0)
    above = sparse.csr_array(
        (np.ones(len(leaf)), (leaf, paths[leaf, level])), shape=(len(paths), len(tree))
    )
    depth = (paths >= 0).sum(axis=1)
    return np.argmax((proba @ above) @ above.T - depth / 2, axis=1)


def parent_decision(proba, tree) -> np.ndarray:
    """The classes (n,) that minimize the expected parent error (Seeger 2006, footnote 12).

    The most probable leaf below the parent whose leaf children have the largest mass.

    Parameters as for :func:`taxo_decision`.
    """
    parents = _parents(tree)
    proba = _checked_proba(proba, len(parents))
    _, group = np.unique(parents, return_inverse=True)
    members = sparse.csr_array((np.ones(len(group)), (np.arange(len(group)), group)))
    best = np.argmax(proba @ members, axis=1)
    return np.argmax(np.where(group == best[:, None], proba, -1.0), axis=1)


def hierarchy_scores(y, proba, tree) -> dict:
    """The six scores of Seeger (2006, section 8.2) from class probabilities.

    Parameters
    ----------
    y : (n,) integer array of true classes 0..C-1
    proba : (n, C) array
    tree : (P,) integer array, as for :func:`taxo_loss`

    Returns
    -------
    dict
        ``acc`` and ``prec``; ``taxo`` and ``pacc`` of the decisions of least expected loss,
        ``taxo01`` and ``pacc01`` of the most probable classes.
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


@njit(cache=True)
def _count_concordant(group, rank):
    """Twice the concordant pairs, and the comparable ones; ``group`` is sorted (0, 0, 1, ...)."""
    n = len(group)
    tree = np.zeros(n + 1, np.int64)  # Fenwick tree: counts by rank of the lower groups
    twice, comparable, start = 0, 0, 0
    while start < n:
        stop = start
        while stop < n and group[stop] == group[start]:
            at_most, below = 0, 0
            node = rank[stop] + 1
            while node > 0:
                at_most += tree[node]
                node &= node - 1
            node = rank[stop]
            while node > 0:
                below += tree[node]
                node &= node - 1
            twice += at_most + below
            stop += 1
        comparable += start * (stop - start)
        for i in range(start, stop):
            node = rank[i] + 1
            while node <= n:
                tree[node] += 1
                node += node & -node
        start = stop
    return twice, comparable


def _checked(y, score):
    y, score = np.asarray(y), np.asarray(score)
    if y.ndim != 1 or y.shape != score.shape:
        raise InputError(f"y has shape {y.shape} and score {score.shape}: give two (n,) arrays")
    if np.isnan(score).any():
        raise InputError("score holds NaN: give a number for every pair")
    return y, score


def _checked_classes(classes, n, n_classes, name):
    classes = np.asarray(classes)
    if classes.shape != (n,) or classes.dtype.kind not in "iu":
        raise InputError(
            f"{name} has shape {classes.shape} and dtype {classes.dtype}: give {n} integer classes"
        )
    if n and (classes.min() < 0 or classes.max() >= n_classes):
        raise InputError(f"{name} holds a class outside 0..{n_classes - 1}")
    return classes


def _checked_predictions(y, predicted, n_classes):
    y = np.asarray(y)
    return (
        _checked_classes(y, len(y), n_classes, "y"),
        _checked_classes(predicted, len(y), n_classes, "predicted"),
    )


def _checked_proba(proba, n_classes):
    proba = np.asarray(proba)
    if proba.ndim != 2 or proba.shape[1] != n_classes:
        raise InputError(
            f"proba has shape {proba.shape}, but the tree has {n_classes} leaves: "
            "give one column for each leaf"
        )
    return proba


def _parents(tree):
    """(C,) parents of the leaves."""
    tree = Tree(tree)
    return tree.parents[tree.leaves]
