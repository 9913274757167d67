"""Expectation-maximization where a target is known by an inner node of the tree alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import clone

from kronbench.class_tree.tree import Tree
from kronbench.errors import InputError
from kronbench.models._parameters import AT_LEAST_0, COUNT, check_parameters
from kronbench.models._row_classifier import labelled_leaves
from kronbench.models.hierarchical_newton import HierarchicalNewtonClassifier


def fit_uncertain(
    estimator: HierarchicalNewtonClassifier,
    X: ArrayLike | sparse.sparray,
    nodes: np.ndarray,
    *,
    max_iter: int = 50,
    tol: float = 1e-6,
) -> HierarchicalNewtonClassifier:
    """Fit where a target may be an inner node: its class is one of the leaves below.

    Expectation-maximization (Seeger 2006, section 7.3): q_ic ~ [c below y_i] P(c | u_i), then a
    fit to q from the last mode, so that an iteration costs a fit or less. The result is fitted to
    the expected classes of the last iteration but one; its ``objective_path_`` has minus the log
    posterior of the incomplete data after each fit, up to a constant, which never rises.

    Parameters
    ----------
    estimator : HierarchicalNewtonClassifier
        With a tree; it is not changed.
    X : (n, d) array or sparse matrix; (n, n) kernel matrix when kernel is "precomputed"
    nodes : (n,) integer array
        A node of the tree for each row, a leaf where the class is known.
    max_iter : int
        Fits at most.
    tol : float
        Stops when the log posterior rises by at most this part of it.
    """
    check_parameters(
        {"max_iter": [COUNT], "tol": [AT_LEAST_0]},
        {"max_iter": max_iter, "tol": tol},
        "fit_uncertain",
    )
    if estimator.tree is None:
        raise InputError("tree is None: uncertain targets are nodes of a tree, so give one")
    tree = Tree(estimator.tree)
    nodes = np.asarray(nodes)
    if nodes.dtype.kind not in "iu" or nodes.ndim != 1:
        raise InputError(f"nodes has dtype {nodes.dtype}: give one node of the tree for a row")
    below = {node: tree.members(node) for node in np.unique(nodes)}
    allowed = np.stack([below[node] for node in nodes])
    model = clone(estimator)
    some_leaf = np.argmax(allowed, axis=1)
    X, _, coupling = model._checked(X, labelled_leaves(tree, None, model.classes)[some_leaf])
    covariance, mode = model._covariance_of(X, coupling), None
    shares = allowed / allowed.sum(axis=1, keepdims=True)
    path: list[float] = []
    for _ in range(max_iter):
        mode = model._mode_of(covariance, shares, start=None if mode is None else mode.coef)
        reached = np.where(allowed, mode.probabilities, 0)
        sums = reached.sum(axis=1)
        path.append(0.5 * float(np.vdot(mode.coef, mode.image)) - float(np.log(sums).sum()))
        shares = reached / sums[:, None]
        if len(path) > 1 and path[-2] - path[-1] <= tol * abs(path[-1]):
            break
    model._keep(covariance, mode).objective_path_ = np.array(path)
    return model
