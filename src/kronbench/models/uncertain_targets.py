"""Expectation-maximization where a target is known by an inner node of the tree alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import clone

from kronbench.class_tree.tree import Tree
from kronbench.errors import InputError
from kronbench.models._parameters import AT_LEAST_0, COUNT, check_parameters
from kronbench.models._row_classifier import labelled_leaves
from kronbench.models.hierarchical_newton import HierarchicalNewtonClassifier


@dataclass(frozen=True)
class UncertainFit:
    """A fit to uncertain targets.

    Attributes
    ----------
    estimator : HierarchicalNewtonClassifier
        Fitted to the expected classes of the last iteration but one.
    responsibilities : (n, C) array
        Probability of each class of each row, given its known node.
    log_posterior_path, log_likelihood_path : lists of float
        Log posterior of the incomplete data after each fit, up to a constant, which never falls,
        and the log likelihood in it.
    """

    estimator: HierarchicalNewtonClassifier
    responsibilities: np.ndarray
    log_posterior_path: list
    log_likelihood_path: list


def fit_uncertain(
    estimator: HierarchicalNewtonClassifier,
    X: ArrayLike | sparse.sparray,
    nodes: np.ndarray,
    *,
    max_iter: int = 50,
    tol: float = 1e-6,
) -> UncertainFit:
    """Fit where a target may be an inner node: its class is one of the leaves below.

    Expectation-maximization (Seeger 2006, section 7.3): q_ic ~ [c below y_i] P(c | u_i), then a
    fit to q from the last mode, so that an iteration costs a fit or less.

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
    posteriors, likelihoods = [], []
    for _ in range(max_iter):
        mode = model._mode_of(covariance, shares, start=None if mode is None else mode.coef)
        reached = np.where(allowed, mode.probabilities, 0)
        sums = reached.sum(axis=1)
        likelihoods.append(float(np.log(sums).sum()))
        prior = 0.5 * float(np.vdot(mode.coef, mode.image))
        posteriors.append(likelihoods[-1] - prior)
        shares = reached / sums[:, None]
        if len(posteriors) > 1 and posteriors[-1] - posteriors[-2] <= tol * abs(posteriors[-1]):
            break
    return UncertainFit(model._keep(covariance, mode), shares, posteriors, likelihoods)
