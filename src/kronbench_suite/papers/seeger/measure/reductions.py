"""How hyperparameter learning reduces to kernel products: calls and shares of the time.

Parameters
----------
folds : number of folds
max_evaluations : evaluations of the criterion, by data set
start : variance at which the search begins
gamma : width of the Gaussian kernel
bias_variance : variance of the biases
dtype : precision
"""

import numpy as np
import pandas as pd
from sklearn.base import clone

from kronbench.class_tree import Tree
from kronbench.class_tree.covariance import FeatureCovariance
from kronbench.class_tree.kernels import GaussianKernels, SparseFeatures, StoredKernels
from kronbench.class_tree.softmax import SoftmaxLoss
from kronbench.evaluation import even_folds, two_thirds
from kronbench.models import HierarchicalNewtonClassifier, HierarchicalNewtonCV
from kronbench_suite.papers.seeger.measure.reject_curves import to_unit_range
from kronbench_suite.papers.seeger.measure.text_classification import text_model
from kronbench_suite.runner.clock import Stopwatch, watched_calls
from kronbench_suite.runner.columns import TIMING, Columns
from kronbench_suite.runner.seeds import generator

# What is at the bottom of everything, and the functions in which it is done.
_PRIMITIVES = {
    "kernel products": {
        SparseFeatures: ["product"],
        StoredKernels: ["product"],
        GaussianKernels: ["derivative"],
        FeatureCovariance: ["gather", "scores"],
    },
    "tree products": {Tree: ["couple", "sum_below"]},
    "likelihood": {SoftmaxLoss: ["evaluate", "gradient", "curvature", "held_out"]},
}

COLUMNS = TIMING | Columns(
    key=("kind", "name"),
    ratios_of_clock=("share of seconds",),
)


def run(spec, data, rng):
    """One row for each level of the reductions and each share of time (Seeger 2006, figure 2)."""
    X, y, tree, search = _problem(spec, data)
    folds = even_folds(len(y), spec["folds"], generator(spec["seed"], "folds", data.name))
    # a few rows load the compiled code
    clone(search.estimator).cv_log_likelihood(X[:400], y[:400], folds[:400])
    # One whole search with a watch on what is at the bottom of it.
    functions = {
        (kind, of_class, name): (of_class, name)
        for kind, classes in _PRIMITIVES.items()
        for of_class, names in classes.items()
        for name in names
    }
    with watched_calls(functions) as calls, Stopwatch() as watch:
        path = pd.DataFrame(search.fit(X, y, folds=folds).hyperparameter_path_)
    n_folds, n_evaluations = spec["folds"], len(path)
    # From the top to the bottom: how often each level calls the one below (figure 2).
    levels = {
        "hyperparameters": len(path["parameters"].iloc[0]),
        "Psi and its gradient": n_evaluations,
        "fits of a fold": n_folds * n_evaluations,
        "Newton systems": path["n_iter"].sum() + n_folds * n_evaluations,
        "products with the Hessian": path["n_inner"].sum() + path["n_adjoint"].sum(),
        "kernel products": path["n_products"].sum(),
    }
    rows = [{"kind": "level", "name": name, "calls": count} for name, count in levels.items()]
    # The seconds of the bottom, and what is left of all.
    spent = dict.fromkeys(_PRIMITIVES, 0.0)
    for (name, *_), call in calls.items():
        spent[name] += call.seconds
    spent["the rest"] = watch.seconds - sum(spent.values())
    timing = watch.timing().columns()
    common = {key: timing[key] for key in ("threads", "waiting", "busy")}
    for name, seconds in spent.items():
        time = {"seconds": seconds, "share of seconds": seconds / watch.seconds}
        rows.append({"kind": "time", "name": name, **time, **common})
    return pd.DataFrame(rows).assign(training=len(y), classes=tree.n_classes, nodes=tree.n_nodes)


def _problem(spec, data):
    """Rows, labels, the tree of the model, and the search for its hyperparameters."""
    X, y = data["X"], data["y"]
    if "parents" in data.arrays:
        # Texts: the model H1 on the training third, with linear kernels.
        tree = Tree(data["parents"])
        train, _ = two_thirds(len(y), generator(spec["seed"], "thirds", data.name, 0))
        model, sharing = text_model("H1", tree, spec, spec["bias_variance"])
    else:
        # Vectors in classes without a tree, with Gaussian kernels.
        train, tree, sharing = ~data["is_test"], Tree.flat(y.max() + 1), "all"
        X = to_unit_range(X, train)
        model = HierarchicalNewtonClassifier(
            classes=np.arange(tree.n_classes),
            kernel="gaussian",
            gamma=spec["gamma"],
            variance=spec["start"],
            bias_variance=1.0,
            dtype=spec["dtype"],
        )
    evaluations = spec["max_evaluations"]
    evaluations = evaluations.get(data.name, evaluations["others"])
    search = HierarchicalNewtonCV(model, sharing=sharing, max_iter=evaluations)
    return X[train], y[train], tree, search
