"""How hyperparameter learning reduces to kernel products: calls and shares of the time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from kronbench.bench.call_times import watched_calls
from kronbench.bench.clock import Stopwatch
from kronbench.bench.columns import TIMING, Columns
from kronbench.bench.seeds import generator
from kronbench.classes import Tree, sharing_pattern
from kronbench.classes.covariance import FeatureCovariance
from kronbench.classes.kernels import SparseFeatures
from kronbench.classes.softmax import SoftmaxLoss
from kronbench.evaluation import even_folds, two_thirds
from kronbench.models import HierarchicalNewtonClassifier, HierarchicalNewtonCV

if TYPE_CHECKING:
    from kronbench.datasets import Dataset

# What is at the bottom of everything, and the functions in which it is done.
_PRIMITIVES = {
    "kernel products": [
        (SparseFeatures, "product"),
        (FeatureCovariance, "gather"),
        (FeatureCovariance, "scores"),
    ],
    "tree products": [(Tree, "couple"), (Tree, "adjoint")],
    "likelihood": [
        (SoftmaxLoss, "evaluate"),
        (SoftmaxLoss, "gradient"),
        (SoftmaxLoss, "curvature"),
        (SoftmaxLoss, "held_out"),
    ],
}

COLUMNS = TIMING | Columns(
    key=("kind", "name"),
    ratios_of_clock=("share of seconds",),
    counts=("training", "classes", "nodes"),
    numbers=("calls",),
    values={
        "kind": ("level", "time"),
        "name": (
            *("hyperparameters", "Psi and its gradient", "fits of a fold", "Newton systems"),
            *("products with the Hessian", "kernel products", "tree products", "likelihood"),
            "the rest",
        ),
    },
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each level of the reductions and each share of time (Seeger 2006, figure 2).

    Model H1, learned on two thirds of the documents. ``calls`` counts evaluations of Psi and its
    gradient, fits of a fold, Newton systems (those of the gradient included), products with the
    Hessian, and kernel products for all classes. ``kind`` is "level" or "time"; the rows of the
    latter hold ``seconds`` and the ``share of seconds`` of the learning; "the rest" are sums
    of vectors, line searches and the search itself.
    """
    tree = Tree(data["parents"])
    draws = generator(spec["seed"], "thirds", data.name, 0)
    train, _ = two_thirds(len(data["y"]), draws)
    folds = even_folds(len(train), spec["folds"], draws)
    X, y = data["X"][train], data["y"][train]

    parents, sharing = sharing_pattern("H1", tree.parents)
    model = HierarchicalNewtonClassifier(
        parents,
        classes=np.arange(tree.n_classes),
        variance=spec["start"],
        bias_variance=spec["bias_variance"],
        dtype=spec["dtype"],
    )
    search = HierarchicalNewtonCV(model, sharing=sharing, max_iter=spec["max_evaluations"])
    model.cv_log_likelihood(X, y, folds)  # loads compiled code
    functions = {(name, *place): place for name, places in _PRIMITIVES.items() for place in places}
    with watched_calls(functions) as calls, Stopwatch() as watch:
        path = pd.DataFrame(search.fit(X, y, folds=folds).hyperparameter_path_)
    shape = {"training": len(y), "classes": tree.n_classes, "nodes": tree.n_nodes}
    systems = path["n_iter"].sum() + spec["folds"] * len(path)
    levels = {
        "hyperparameters": len(path["parameters"].iloc[0]),
        "Psi and its gradient": len(path),
        "fits of a fold": spec["folds"] * len(path),
        "Newton systems": systems,
        "products with the Hessian": path["n_inner"].sum() + path["n_adjoint"].sum(),
        "kernel products": path["n_products"].sum(),
    }
    rows = [{"kind": "level", "name": name, "calls": count} for name, count in levels.items()]
    spent = dict.fromkeys(_PRIMITIVES, 0.0)
    for (name, *_), call in calls.items():
        spent[name] += call.seconds
    spent["the rest"] = watch.seconds - sum(spent.values())
    timing = watch.timing().columns()
    common = {key: timing[key] for key in ("threads", "waiting", "busy")}
    for name, seconds in spent.items():
        time = {"seconds": seconds, "share of seconds": seconds / watch.seconds}
        rows.append({"kind": "time", "name": name, **time, **common})
    return pd.DataFrame(rows).assign(**shape)
