"""Running times of learning, flat and hierarchical."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.class_tree import Tree, sharing_pattern
from kronbench.evaluation import even_folds, two_thirds
from kronbench.models import HierarchicalNewtonClassifier, HierarchicalNewtonCV
from kronbench.runner.clock import Stopwatch, measure, peak_mib
from kronbench.runner.columns import TIMING, Columns, Parameter
from kronbench.runner.seeds import generator

if TYPE_CHECKING:
    from kronbench.datasets import Dataset

_SOLVERS = {"": "cg", "preconditioned": "pcg", "printed": "printed"}

COLUMNS = TIMING | Columns(
    key=("method", "quantity", "evaluation"),
    clock=("seconds_per_product",),
    counts=(
        *("training", "classes", "nodes"),
        *("newton_steps", "evaluations", "n_variances"),
    ),
    numbers=("gap", "products"),
    texts=("stage",),
    values={
        "method": (Parameter(("methods", "*")),),
        "quantity": ("final fit", "learning", "evaluation", "cv fold"),
        "stage": ("first", "between", "last"),
    },
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each method and quantity (Seeger 2006, table 2, section 5).

    ``spec["methods"]`` are those of a data set, with ``spec["variances"]``; after a comma
    "preconditioned" is the tree preconditioner, and "printed" the paper's iteration in the k1 and
    k2 steps of ``spec["steps"]``. "final fit": two thirds of the documents, from nothing to a
    duality gap of ``spec["tol"]`` of the objective, or, as printed, until it falls by less than
    that in a Newton step; ``gap`` is what was certified at the end. "cv fold": a fold's share of
    the second evaluation of Psi and its gradient, that is a new fit from the last one and the
    accumulation. "learning" and "evaluation": a whole search and each evaluation of it. These
    three are left out where ten times the final fit passes the time cap, of the printed
    iteration, and of the methods that ``spec["searches"]`` does not name where it has a list for
    the data set. Data sets with fewer than all folds in ``spec["timed_folds"]`` have the "cv
    fold" alone, from two evaluations of so many folds.
    """
    X, y, tree = data["X"], data["y"], Tree(data["parents"])
    draws = generator(spec["seed"], "thirds", data.name, 0)
    train, _ = two_thirds(len(y), draws)
    folds = even_folds(len(train), spec["folds"], draws)
    X, y = X[train], y[train]
    rows, skipped = [], []
    methods = spec["methods"].get(data.name, spec["methods"]["others"])
    searched = spec["searches"].get(data.name, methods)
    n_timed = spec["timed_folds"].get(data.name, spec["timed_folds"]["others"])
    folds = np.where(folds < n_timed, folds, -1)
    for method in tqdm(methods, desc=data.name, unit="method"):
        model, sharing = _model(spec, method, tree)
        fitted, timing = measure(lambda model=model: model.fit(X, y), patience=2.0)
        shape = {
            "method": method,
            "training": len(y),
            "classes": tree.n_classes,
            "nodes": tree.n_nodes,
        }
        rows.append(
            {
                **shape,
                "quantity": "final fit",
                **timing.columns(),
                "gap": fitted.gap_ / fitted.objective_path_[-1],
                "newton_steps": fitted.n_iter_,
                "products": fitted.n_products_,
                "peak_mib": round(peak_mib(), 1),
            }
        )
        if model.solver == "printed" or method not in searched:
            continue
        if 10 * timing.seconds > spec["time_cap"]:
            skipped.append(f"{data.name}, {method}: a cv fold would pass the time cap")
            continue
        search = HierarchicalNewtonCV(model, sharing=sharing, noise=spec["noise"])
        if n_timed < spec["folds"]:
            search.set_params(max_iter=2)
        timed = [{**shape, **row} for row in _evaluations(search, X, y, folds)]
        whole = n_timed == spec["folds"]
        rows += [row for row in timed if whole or row["quantity"] == "cv fold"]
    frame = pd.DataFrame(rows)
    frame.attrs["skipped"] = skipped
    return frame


def _evaluations(search, X, y, folds):
    n_folds = len(np.unique(folds[folds >= 0]))
    with Stopwatch() as watch:
        search.fit(X, y, folds=folds)
    timing = watch.timing()
    path = pd.DataFrame(search.hyperparameter_path_)
    common = {key: timing.columns()[key] for key in ("threads", "waiting", "busy")}
    yield {
        "quantity": "learning",
        **timing.columns(),
        "evaluations": len(path),
        "products": path["n_products"].sum(),
        "n_variances": len(path["parameters"].iloc[0]),
    }
    for number, step in path.iterrows():
        yield {
            "quantity": "evaluation",
            "evaluation": number + 1,
            "stage": {0: "first", len(path) - 1: "last"}.get(number, "between"),
            "seconds": step["seconds"],
            "products": step["n_products"],
            "seconds_per_product": step["seconds"] / step["n_products"],
            "newton_steps": step["n_iter"],
            "n_variances": len(step["parameters"]),
            **common,
        }
    if len(path) > 1:
        yield {
            "quantity": "cv fold",
            "seconds": path["seconds"].iloc[1] / n_folds,
            "products": path["n_products"].iloc[1] / n_folds,
            "n_variances": len(path["parameters"].iloc[0]),
            **common,
        }


def _model(spec, method, tree):
    """The model of a method, and the nodes whose variances it shares."""
    pattern, _, way = method.partition(", ")
    variance = np.asarray(spec["variances"][pattern], float)
    if pattern == "H1":
        variance = variance[tree.levels]
    parents, sharing = sharing_pattern(pattern, tree.parents)
    model = HierarchicalNewtonClassifier(
        parents,
        classes=np.arange(tree.n_classes),
        variance=variance if variance.size > 1 else float(variance),
        bias_variance=spec["bias_variance"],
        dtype=spec["dtype"],
        solver=_SOLVERS[way],
        tol=spec["tol"],
    )
    if way == "printed":
        k1, k2 = spec["steps"][pattern]
        model.set_params(max_iter=k1, max_inner=k2)
    return model, sharing
