"""How many kernel products a fit takes to a given accuracy: the printed iteration and ours."""

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.class_tree import Tree
from kronbench.evaluation import two_thirds
from kronbench.models import HierarchicalNewtonClassifier
from kronbench_suite.runner.columns import Columns
from kronbench_suite.runner.seeds import generator

COLUMNS = Columns(key=("model", "variance", "iteration", "newton_step"))

PARAMETERS = {
    "variances": "variances of the model",
    "bias_variance": "variance of the biases",
    "accuracy": "excess of the criterion at which a path ends",
    "max_iter": "most outer steps of the printed solver",
    "k2": "inner steps of the printed solver, by tree",
}


def run(spec, data, rng):
    """One row after each Newton step (Seeger 2006, Algorithm 3, section 4, footnote 3).

    ``products`` counts the steps of conjugate gradients and one for each Newton step; ``excess``
    is (Phi - Phi*) / Phi* and ``gap`` the certified bound on it, of ours alone. ``reached`` marks
    the first row whose excess is at most ``spec["accuracy"]``.
    """
    tree, X, y = Tree(data["parents"]), data["X"], data["y"]
    train, _ = two_thirds(len(y), generator(spec["seed"], "thirds", data.name, 0))
    X, y = X[train], y[train]
    frames = []
    cases = [(name, variance) for name in ("flat", "tree") for variance in spec["variances"]]
    for name, variance in tqdm(cases, desc=data.name, unit="model"):
        common = {
            "tree": tree.parents if name == "tree" else None,
            "classes": np.arange(tree.n_classes),
            "variance": variance,
            "bias_variance": spec["bias_variance"],
        }
        best = HierarchicalNewtonClassifier(**common, tol=1e-12, max_inner=2000).fit(X, y)
        best = best.objective_path_[-1]
        printed = {"solver": "printed", "max_iter": spec["max_iter"], "tol": 0.0}
        ours = {"tol": spec["accuracy"] / 10}
        iterations = {
            "printed": printed | {"max_inner": spec["k2"][name]},
            "ours": ours,
            "ours, tree preconditioner": ours | {"solver": "pcg"},
        }
        for iteration, options in iterations.items():
            path = _path(HierarchicalNewtonClassifier(**common, **options), X, y)
            path["excess"] = np.maximum(path["value"] / best - 1, 0)
            path["gap"] = path["gap"] / best
            met = path["excess"] <= spec["accuracy"]
            path["reached"] = met & (met.cumsum() == 1)
            frames.append(path.assign(model=name, variance=variance, iteration=iteration))
    return pd.concat(frames, ignore_index=True)


def _path(model, X, y):
    rows = []

    def record(mode):
        products, gap = mode.n_inner + mode.n_iter, mode.gaps[-1] if mode.gaps else np.nan
        rows.append((mode.n_iter, products, mode.n_inner, mode.value, gap))

    model.fit(X, y, callback=record)
    columns = ["newton_step", "products", "inner_steps", "value", "gap"]
    frame = pd.DataFrame(rows, columns=columns)
    # the gap at the end of a step is known at the beginning of the next
    frame["gap"] = frame["gap"].shift(-1)
    if model.solver != "printed":
        frame.loc[frame.index[-1], "gap"] = model.gap_
    return frame
