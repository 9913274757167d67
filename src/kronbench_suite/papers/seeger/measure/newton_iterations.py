"""How many kernel products a fit takes to a given accuracy: the printed iteration and ours.

Parameters
----------
variances : variances of the model
bias_variance : variance of the biases
accuracy : excess of the criterion at which a path ends
max_iter : most outer steps of the printed solver
k2 : inner steps of the printed solver, by tree
"""

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.class_tree import Tree
from kronbench.evaluation import two_thirds
from kronbench.models import HierarchicalNewtonClassifier
from kronbench_suite.runner.columns import REVERSED, Columns, beside
from kronbench_suite.runner.seeds import generator

COLUMNS = Columns(
    key=("model", "variance", "iteration", "newton_step"),
    rounding=(
        *("newton_step_reversed", "products_reversed", "inner_steps_reversed"),
        *("value_reversed", "excess_reversed", "gap_reversed"),
    ),
)

# The minimum is found to the first part of it. An excess below the second is told as that, since
# rounding decides its digits; there the printed iteration ends, which has no end of its own but
# where rounding no longer lets the objective fall.
_KNOWN, _DOWN_TO = 1e-12, 1e-10


def run(spec, data, rng):
    """One row after each Newton step (Seeger 2006, Algorithm 3, section 4, footnote 3).

    ``products`` counts the steps of conjugate gradients and one for each Newton step; ``excess``
    is (Phi - Phi*) / Phi*, or 1e-10 where it is less, and ``gap`` the certified bound on it, of
    ours alone. The printed iteration ends at 1e-10. ``reached`` marks the first row whose excess
    is at most ``spec["accuracy"]``. The numbers ``..._reversed`` are those with the features in
    the reverse order, where they differ: after the same step, and beside a row that is
    ``reached`` those of the row that is reached there.
    """
    tree, X, y = Tree(data["parents"]), data["X"], data["y"]
    train, _ = two_thirds(len(y), generator(spec["seed"], "thirds", data.name, 0))
    X, y = X[train], y[train]
    orders = X, X[:, ::-1]
    frames = []
    cases = [(name, variance) for name in ("flat", "tree") for variance in spec["variances"]]
    for name, variance in tqdm(cases, desc=data.name, unit="model"):
        common = {
            "tree": tree.parents if name == "tree" else None,
            "classes": np.arange(tree.n_classes),
            "variance": variance,
            "bias_variance": spec["bias_variance"],
        }
        # The minimum of the criterion, to which all paths are compared.
        best = HierarchicalNewtonClassifier(**common, tol=1e-12, max_inner=2000).fit(X, y)
        best = best.objective_path_[-1]
        # The printed iteration stops its inner steps after k2, ours by their residual.
        printed = {"solver": "printed", "max_iter": spec["max_iter"], "tol": 0.0}
        ours = {"tol": spec["accuracy"] / 10}
        iterations = {
            "printed": printed | {"max_inner": spec["k2"][name]},
            "ours": ours,
            "ours, tree preconditioner": ours | {"solver": "pcg"},
        }
        for iteration, options in iterations.items():
            paths = []
            # Each path also with sums in another order, beside the first one step by step.
            for order in orders:
                path = _path(HierarchicalNewtonClassifier(**common, **options), best, order, y)
                met = path["excess"] <= spec["accuracy"]
                paths.append(path.assign(reached=met & (met.cumsum() == 1)))
            names = [name.removesuffix(REVERSED) for name in COLUMNS.rounding]
            path = beside(paths[0], _in_step(*paths), names)
            path["excess"] = path["excess"].clip(lower=_DOWN_TO)
            frames.append(path.assign(model=name, variance=variance, iteration=iteration))
    return pd.concat(frames, ignore_index=True)


def _path(model, best, X, y):
    rows = []

    def record(mode):
        products, gap = mode.n_inner + mode.n_iter, mode.gaps[-1] if mode.gaps else np.nan
        rows.append((mode.n_iter, products, mode.n_inner, mode.value, gap))
        return model.solver == "printed" and mode.value / best - 1 <= _DOWN_TO

    model.fit(X, y, callback=record)
    columns = ["newton_step", "products", "inner_steps", "value", "gap"]
    frame = pd.DataFrame(rows, columns=columns)
    # the gap at the end of a step is known at the beginning of the next
    frame["gap"] = frame["gap"].shift(-1)
    if model.solver != "printed":
        frame.loc[frame.index[-1], "gap"] = model.gap_
    frame["gap"] /= best
    return frame.assign(excess=np.maximum(frame["value"] / best - 1, _KNOWN))


def _in_step(path, other):
    """The rows of another path for those of a path: it stays where it has ended."""
    at = np.minimum(np.arange(len(path)), len(other) - 1)
    if path["reached"].any() and other["reached"].any():
        at[np.argmax(path["reached"])] = np.argmax(other["reached"])
    return other.iloc[at].set_axis(path.index)
