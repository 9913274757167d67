"""Variances learned with the numbers of steps that the paper prints, and its final fits."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from kronbench.class_tree import Tree, sharing_pattern
from kronbench.class_tree.criterion import Criterion, CrossValidation
from kronbench.class_tree.kernels import kernels_of
from kronbench.class_tree.printed_mode import PrintedNewton
from kronbench.class_tree.sharing import node_groups
from kronbench.linalg.quasi_newton import capped_bfgs
from kronbench.models import HierarchicalNewtonClassifier


@dataclass(frozen=True)
class PrintedLearning:
    """What a search by the printed iteration found.

    Attributes
    ----------
    model : HierarchicalNewtonClassifier
        Fitted to all rows in the printed steps of a final fit.
    variance : (P,) array
    value : float
        Psi as the fits in few steps leave it.
    evaluations : int
    products : float
        Of the search, with the kernel of all classes and one fold.
    """

    model: HierarchicalNewtonClassifier
    variance: np.ndarray
    value: float
    evaluations: int
    products: float


def learn_as_printed(
    method: str,
    X: np.ndarray | sparse.sparray,
    y: np.ndarray,
    parents: np.ndarray,
    folds: np.ndarray,
    *,
    steps: Mapping,
    start: float,
    bias_variance: float,
    noise: float,
    max_evaluations: int,
) -> PrintedLearning:
    """Learn the variances of F1, H1, F2 or H2 in few steps (Seeger 2006, sections 5, 6.1, 8.2).

    A fold has at most k1 Newton steps of k2 steps of conjugate gradients each (Eq. 6), from where
    the last evaluation left it, and k3 steps for its gradient; whether they converged is not
    asked. The quasi-Newton search is that of :class:`~kronbench.models.HierarchicalNewtonCV`.

    Parameters
    ----------
    method : {"F1", "H1", "F2", "H2"}
    X : (n, d) array or sparse matrix
    y : (n,) integer array
        Codes of the leaves.
    parents : (P + 1,) integer array
    folds : (n,) integer array
    steps : mapping
        ``learning``: k1, k2, k3; ``final``: k1, k2.
    start, bias_variance : float
    noise : float
        Relative; where the search ends.
    max_evaluations : int
    """
    pattern, sharing = sharing_pattern(method, parents)
    n_classes = Tree(parents).n_classes
    tree = Tree.flat(n_classes) if pattern is None else Tree(pattern)
    k1, k2, k3 = steps["learning"]
    criterion = Criterion(
        partial(kernels_of, X, "linear"),
        tree,
        CrossValidation(y, n_classes, folds, PrintedNewton(noise / 10, k1, k2, k3)),
        bias_variance=bias_variance,
        variance=np.full(tree.n_nodes, float(start)),
        gamma=np.ones(tree.n_nodes),
        variance_groups=node_groups(sharing, tree, "sharing"),
        gamma_groups=None,
        in_features=False,
    )
    products = 0.0

    def value_and_gradient(x):
        nonlocal products
        evaluation, gradient, _ = criterion.evaluate(x)
        products += evaluation.counts["n_products"]
        return evaluation.value, gradient

    search = capped_bfgs(
        value_and_gradient, criterion.start, noise=noise, max_evaluations=max_evaluations
    )
    variance = criterion.parameters(search.x)["variance"]
    k1, k2 = steps["final"]
    model = HierarchicalNewtonClassifier(
        pattern,
        classes=np.arange(n_classes),
        variance=variance,
        bias_variance=bias_variance,
        solver="printed",
        max_iter=k1,
        max_inner=k2,
        tol=noise / 10,
    )
    with warnings.catch_warnings():  # as many steps as printed, wherever they end
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    return PrintedLearning(model, variance, search.value, len(search.values), products)
