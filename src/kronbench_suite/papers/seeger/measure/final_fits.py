"""Running times of learning, flat and hierarchical.

Parameters
----------
methods : models and solvers, by data set
searches : methods that choose variances, by data set
variances : variances of the fits, by model
bias_variance : variance of the biases
steps : outer and inner steps of the printed solver, by model
folds : number of folds
timed_folds : folds that are measured, by data set
noise : gains below this part of the criterion end the search
tol : tolerance of a fit
time_cap : seconds, ten times those of a fit, beyond which no search is made
"""

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.class_tree import Tree
from kronbench.evaluation import even_folds, two_thirds
from kronbench.models import HierarchicalNewtonCV
from kronbench_suite.papers.seeger.measure.text_classification import text_model
from kronbench_suite.runner.clock import Stopwatch, measure, peak_mib
from kronbench_suite.runner.columns import TIMING, Columns
from kronbench_suite.runner.seeds import generator

_SOLVERS = {"": "cg", "preconditioned": "pcg", "printed": "printed"}

COLUMNS = TIMING | Columns(
    key=("method", "quantity", "evaluation"),
    clock=("seconds_per_product",),
)


def run(spec, data, rng):
    """One row for each method and quantity (Seeger 2006, table 2, section 5).

    "learning" and "evaluation" are a whole search and each evaluation of it; data sets with fewer
    than all folds in ``spec["timed_folds"]`` lack these. A search is made by the methods that
    ``spec["searches"]`` names for a data set, by all where it has none, and not by the printed
    iteration.
    """
    X, y, tree = data["X"], data["y"], Tree(data["parents"])
    draws = generator(spec["seed"], "thirds", data.name, 0)
    # The training third of table 1 and its five folds, of which some are timed.
    train, _ = two_thirds(len(y), draws)
    folds = even_folds(len(train), spec["folds"], draws)
    X, y = X[train], y[train]
    rows, skipped = [], []
    methods = spec["methods"].get(data.name, spec["methods"]["others"])
    searched = spec["searches"].get(data.name, methods)
    n_timed = spec["timed_folds"].get(data.name, spec["timed_folds"]["others"])
    whole = n_timed == spec["folds"]
    folds = np.where(folds < n_timed, folds, -1)
    for method in tqdm(methods, desc=data.name, unit="method"):
        # The final fit, as the paper times it.
        model, sharing = _model(spec, method, tree)
        fitted, timing = measure(lambda model=model: model.fit(X, y), max_seconds=2.0)
        row = {"method": method, "quantity": "final fit", **timing.columns()}
        row |= {"gap": fitted.gap_ / fitted.objective_path_[-1], "newton_steps": fitted.n_iter_}
        rows.append(row | {"products": fitted.n_products_, "peak_mib": round(peak_mib(), 1)})
        # The search for hyperparameters, unless a fold alone would take too long.
        if model.solver == "printed" or method not in searched:
            continue
        if 10 * timing.seconds > spec["time_cap"]:
            skipped.append(f"{data.name}, {method}: a cv fold would pass the time cap")
            continue
        search = HierarchicalNewtonCV(model, sharing=sharing, noise=spec["noise"])
        if not whole:
            search.set_params(max_iter=2)
        # Without all folds a search means nothing but the time of one fold.
        timed = _evaluations(search, X, y, folds, n_timed)
        rows += [{"method": method, **r} for r in timed if whole or r["quantity"] == "cv fold"]
    frame = pd.DataFrame(rows).assign(training=len(y), classes=tree.n_classes, nodes=tree.n_nodes)
    frame.attrs["skipped"] = skipped
    return frame


def _evaluations(search, X, y, folds, n_folds):
    """Yield rows of a whole search, of each evaluation in it, and of one fold of the second."""
    with Stopwatch() as watch:
        search.fit(X, y, folds=folds)
    timing = watch.timing().columns()
    # All evaluations of Psi and its gradient, then each of them.
    path = pd.DataFrame(search.hyperparameter_path_)
    common = {key: timing[key] for key in ("threads", "waiting", "busy")}
    common["n_variances"] = len(path["parameters"].iloc[0])
    whole = {"quantity": "learning", **timing, **common, "evaluations": len(path)}
    yield whole | {"products": path["n_products"].sum()}
    for number, step in path.iterrows():
        stage = {0: "first", len(path) - 1: "last"}.get(number, "between")
        row = {"quantity": "evaluation", "evaluation": number + 1, "stage": stage}
        seconds, products = step["seconds"], step["n_products"]
        row |= {
            "seconds": seconds,
            "products": products,
            "seconds_per_product": seconds / products,
        }
        yield row | {"newton_steps": step["n_iter"], **common}
    if len(path) > 1:
        # The second evaluation: the first one starts all fits from zero.
        second = path.iloc[1]
        of_fold = {
            "seconds": second["seconds"] / n_folds,
            "products": second["n_products"] / n_folds,
        }
        yield {"quantity": "cv fold", **of_fold, **common}


def _model(spec, method, tree):
    """A model of table 2 with the solver of a method, and the nodes that share variances."""
    # "H1, preconditioned" is a way to fit H1.
    pattern, _, way = method.partition(", ")
    start = spec["variances"][pattern]
    # H1 has a variance for each level of the tree, F1 one for all.
    start = np.asarray(start, float)[tree.levels] if pattern == "H1" else float(start)
    options = {**spec, "start": start, "solver": _SOLVERS[way]}
    model, sharing = text_model(pattern, tree, options, spec["bias_variance"])
    model.set_params(tol=spec["tol"])
    if way == "printed":
        # The printed numbers of Newton steps and of steps of conjugate gradients.
        k1, k2 = spec["steps"][pattern]
        model.set_params(max_iter=k1, max_inner=k2)
    return model, sharing
