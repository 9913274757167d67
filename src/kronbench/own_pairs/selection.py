"""The regularization weight and the kernel widths by inner folds of the training pairs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kronbench.errors import InputError
from kronbench.evaluation import SettingKFold, roc_auc
from kronbench.linalg import dense
from kronbench.linalg.gram_matrix import squared_distances
from kronbench.own_pairs.recipe import INNER_FOLDS, Recipe
from kronbench.pairs import PairData
from kronbench.pairs.data import used_vertices

# Decades of reg, in units of the mean diagonal of the product kernel.
_REGS = 10.0 ** np.arange(-5, 3)
# Of 1 / the median squared distance; both sides move together.
_WIDTHS = (0.1, 0.3, 1.0, 3.0)
_MOST_DISTANCES = 1000  # vertices of a side that the median looks at


@dataclass(frozen=True)
class Choice:
    """What was chosen, ``chosen`` alone and in a recipe, with the mean score of the inner folds.

    ``on_edge`` has, of chosen values at an end of their grid, the next one beyond.
    """

    recipe: Recipe
    chosen: dict[str, float]
    score: float
    on_edge: dict[str, float]


def n_fits(recipe: Recipe) -> int:
    """How many fits a choice takes."""
    n_regs = 1 if "reg" in recipe.parameters else len(_REGS)
    n_widths = len(_WIDTHS) if recipe.open_widths() else 1
    return n_regs * n_widths * SettingKFold(recipe.setting, INNER_FOLDS).get_n_splits()


def check_selects(recipe: Recipe) -> None:
    """InputError unless the solver has something to choose that is not set."""
    known = recipe.estimator().get_params()
    if "regs" in known:
        raise InputError(f"{recipe.solver} chooses its weights itself: leave out --select")
    if "reg" not in known:
        raise InputError(f"{recipe.solver} has no reg to select: set its parameters with --set")
    if "reg" in recipe.parameters and not recipe.open_widths():
        raise InputError("reg is set: leave out either --set reg or --select")


def select(
    recipe: Recipe,
    X: PairData,
    y: np.ndarray,
    progress: Callable[[int], object] = lambda n: None,
) -> Choice:
    """Choose ``reg``, and the widths of Gaussian kernels that are not set.

    By inner folds of the recipe's setting. For KronRidge in the dual form a fold has all weights
    from one Krylov solve (:meth:`KronRidge.path`), each with the iterate that a fit to it alone
    ends with.
    """
    regs, widths = grids = _grids(recipe, X)
    two_classes = len(np.unique(y)) == 2
    splitter = SettingKFold(recipe.setting, INNER_FOLDS, random_state=recipe.seed)
    folds = list(splitter.split(X, y))
    scores = np.full((len(folds), len(regs), len(widths)), np.nan)
    for j, width in enumerate(widths):
        known = {**recipe.parameters, **width}
        trials = [replace(recipe, parameters={**known, **reg}) for reg in regs]
        for k, (train, test) in enumerate(folds):
            if len(np.unique(y[train])) > 1:
                for i, found in enumerate(_predicted(trials, X[train], y[train], X[test])):
                    error = np.mean((found - y[test]) ** 2)
                    scores[k, i, j] = roc_auc(y[test], found) if two_classes else -error
            progress(len(trials))
    scores[~np.isfinite(scores)] = np.nan
    if np.isnan(scores).all():
        raise InputError(
            f"no inner fold of setting {recipe.setting} has both labels: give more pairs"
        )
    with warnings.catch_warnings(action="ignore"):  # of trials without any score
        means = np.nanmean(scores, axis=0)
    # of equals the smallest weight, and then the smallest widths
    best = np.unravel_index(np.nanargmax(means), means.shape)
    chosen: dict = {}
    edges: dict = {}
    for grid, position in zip(grids, map(int, best), strict=True):
        chosen |= grid[position]
        inner = {0: 1, len(grid) - 1: -2}
        if position in inner:  # one step beyond, as wide as the last one
            for name, value in grid[position].items():
                edges[name] = value * value / grid[inner[position]][name]
    recipe = replace(recipe, parameters={**recipe.parameters, **chosen})
    return Choice(recipe, chosen, float(means[best]), edges)


def _predicted(trials, X, y, X_test):
    """Scores of the test pairs by each of some trials that differ in reg alone."""
    first = trials[0]
    before, estimator = first.before(X), first.estimator()
    from_path = first.solver == "KronRidge" and not estimator.is_primal(X)
    if not from_path or len(trials) == 1:
        return [trial.fit(X, y).scores(X_test) for trial in trials]
    regs = [trial.parameters["reg"] for trial in trials]
    path = estimator.path(before.transform(X), y, regs, before.transform(X_test))
    return path.final_test_scores(estimator.tol)


def _grids(recipe, X):
    """Grids of reg and of the widths, as parameters; what is set is a single empty point."""
    X = recipe.before(X).transform(X)
    level, sides = 1.0, {}
    for side, given, index in (("row", X.row_features, X.rows), ("col", X.col_features, X.cols)):
        kernel = recipe.parameter(f"{side}_kernel")
        if kernel == "tanimoto":  # its diagonal is 1, and fingerprints stay sparse
            continue
        used, _ = used_vertices(index, given.shape[0])
        features = dense(given)[used]
        if kernel == "precomputed":
            level *= float(np.mean(np.diagonal(features[:, used])))
        elif kernel == "linear":
            level *= float(np.mean(np.sum(features**2, axis=1)))
        sides[f"{side}_gamma"] = features
    regs: list[dict[str, float]] = [{}]
    widths = regs
    if "reg" not in recipe.parameters:
        regs = [{"reg": reg} for reg in (_REGS * (level or 1.0)).tolist()]
    if names := recipe.open_widths():
        bases = {name: 1 / _median_distance(sides[name]) for name in names}
        widths = [{name: width * base for name, base in bases.items()} for width in _WIDTHS]
    return regs, widths


def _median_distance(features):
    some = features[:: -(-len(features) // _MOST_DISTANCES)]
    distances = squared_distances(some)[np.triu_indices(len(some), 1)]
    positive = distances[distances > 0]
    return float(np.median(positive)) if positive.size else 1.0
