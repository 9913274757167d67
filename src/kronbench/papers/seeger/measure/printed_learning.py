"""Variances learned with the numbers of steps that the paper prints, and its final fits."""

import warnings
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kronbench.class_tree import Tree, sharing_pattern
from kronbench.class_tree.criterion import Criterion, CrossValidation
from kronbench.class_tree.kernels import kernels_of
from kronbench.class_tree.printed_mode import PrintedNewton
from kronbench.class_tree.sharing import node_groups
from kronbench.linalg.quasi_newton import capped_bfgs
from kronbench.models import HierarchicalNewtonClassifier


def learn_as_printed(
    method,
    X,
    y,
    parents,
    folds,
    bias_variance,
    spec,
):
    """The final fit, the variances (P,), and columns that tell of the search.

    Learns those of F1, H1, F2 or H2 (Seeger 2006, sections 5, 6.1, 8.2). A fold has at most k1
    Newton steps of k2 steps of conjugate gradients each (Eq. 6), from where the last evaluation
    left it, and k3 steps for its gradient; whether they converged is not asked. ``spec["steps"]``
    has k1, k2, k3 of ``learning`` and k1, k2 of the ``final`` fit.
    """
    pattern, sharing = sharing_pattern(method, parents)
    steps, noise = spec["steps"][method], spec["noise"]
    n_classes = Tree(parents).n_classes
    tree = Tree.flat(n_classes) if pattern is None else Tree(pattern)
    printed = PrintedNewton(noise / 10, *steps["learning"])
    criterion = Criterion(
        partial(kernels_of, X, "linear"),
        tree,
        CrossValidation(y, n_classes, folds, printed),
        bias_variance=bias_variance,
        variance=np.full(tree.n_nodes, float(spec["start"])),
        gamma=np.ones(tree.n_nodes),
        variance_groups=node_groups(sharing, tree, "sharing"),
        gamma_groups=None,
        in_features=False,
    )
    products = []

    def value_and_gradient(x):
        evaluation, gradient, _ = criterion.evaluate(x)
        products.append(evaluation.counts["n_products"])
        return evaluation.value, gradient

    search = capped_bfgs(
        value_and_gradient,
        criterion.start,
        noise=noise,
        max_evaluations=spec["max_evaluations"],
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
    found = {
        "psi": search.value / len(y),
        "evaluations": len(search.values),
        "products": sum(products),
    }
    return model, variance, found
