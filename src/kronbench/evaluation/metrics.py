"""Scores of classification with many classes and with a class tree."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from kronbench.class_tree import Tree
from kronbench.errors import InputError


def precision(y: ArrayLike, proba: ArrayLike) -> float:
    """Mean reciprocal rank of the true class ("prec" of Seeger 2006, section 8.2).

    Parameters
    ----------
    y : (n,) integer array of true classes 0..C-1
    proba : (n, C) array of class probabilities or scores
        Equal ones share their mean rank, so that a constant prediction gains nothing.
    """
    proba = _checked_proba(proba)
    y = _checked_classes(y, len(proba), proba.shape[1], "y")
    true = np.take_along_axis(proba, y[:, None], axis=1)
    rank = (proba > true).sum(axis=1) + ((proba == true).sum(axis=1) + 1) / 2
    return float((1 / rank).mean())


def taxo_loss(y: ArrayLike, predicted: ArrayLike, tree: np.ndarray) -> float:
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


def parent_accuracy(y: ArrayLike, predicted: ArrayLike, tree: np.ndarray) -> float:
    """Share of predictions whose leaf has the true leaf's parent (Seeger 2006, section 8.2).

    Parameters as for :func:`taxo_loss`.
    """
    parents = _parents(tree)
    y, predicted = _checked_predictions(y, predicted, len(parents))
    return float((parents[y] == parents[predicted]).mean())


def taxo_decision(proba: ArrayLike, tree: np.ndarray) -> np.ndarray:
    """The classes (n,) that minimize the expected taxo-loss (Seeger 2006, section 8.2).

    With S(a) the mass of the leaves below node a, the expected loss of leaf c is, up to a
    constant, depth(c)/2 minus the sum of S over the path from c to just below the root: O(n C
    depth).

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


def parent_decision(proba: ArrayLike, tree: np.ndarray) -> np.ndarray:
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


def as_numbers(values: ArrayLike, name: str) -> np.ndarray:
    """Values as an array of real numbers; InputError where they are none, or hold NaN."""
    values = np.asarray(values)
    if values.dtype == object:
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError(f"{name} holds something other than numbers: give numbers") from None
    if values.dtype.kind not in "biuf":
        raise InputError(f"{name} has dtype {values.dtype}: give numbers")
    check_no_nan(values, name)
    return values


def check_no_nan(values: np.ndarray, name: str) -> None:
    """Raise InputError where an array holds NaN, which has no place in an order."""
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise InputError(f"{name} holds NaN: give a number for every entry")


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


def mean_log_loss(y: np.ndarray, proba: np.ndarray, floor: float = sys.float_info.min) -> float:
    """Mean over documents of minus the logarithm of the probability of the true class.

    ``y`` (n,) holds classes 0..C-1, ``proba`` (n, C) probabilities; those below ``floor`` count as
    ``floor``, so that a class that a model excludes does not make the mean infinite.
    """
    true = np.take_along_axis(proba, y[:, None], axis=1)
    return float(-np.log(np.maximum(true, floor)).mean())


def _checked_classes(classes, n, n_classes, name) -> np.ndarray:
    classes = np.asarray(classes)
    if classes.shape != (n,) or classes.dtype.kind not in "iu":
        raise InputError(
            f"{name} has shape {classes.shape} and dtype {classes.dtype}: give {n} integer classes"
        )
    if n and (classes.min() < 0 or classes.max() >= n_classes):
        raise InputError(f"{name} holds a class outside 0..{n_classes - 1}")
    return classes


def _checked_predictions(y, predicted, n_classes) -> tuple[np.ndarray, np.ndarray]:
    n = len(np.asarray(y))
    return (
        _checked_classes(y, n, n_classes, "y"),
        _checked_classes(predicted, n, n_classes, "predicted"),
    )


def _checked_proba(proba, n_classes=None) -> np.ndarray:
    proba = np.asarray(proba)
    if proba.ndim != 2 or n_classes not in (None, proba.shape[1]):
        columns = "each class" if n_classes is None else f"each of {n_classes} leaves"
        raise InputError(f"proba has shape {proba.shape}: give (n, C), a column for {columns}")
    check_no_nan(proba, "proba")
    return proba


def _parents(tree):
    """(C,) parents of the leaves."""
    tree = Tree(tree)
    return tree.parents[tree.leaves]
