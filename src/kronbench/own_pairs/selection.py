"""The regularization weight and the kernel widths by inner folds of the training pairs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

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
# Times as many iterations are made where the smallest weight that was reached is the best one, if
# so many vectors of a path take no more numbers than this, 1 GiB.
_MORE, _MOST_NUMBERS = 4, 1 << 27


@dataclass(frozen=True)
class Choice:
    """What was chosen, ``chosen`` alone and in a recipe, with the mean score of the inner folds.

    ``on_edge`` has, of chosen values at an end of their grid, the next one beyond, and
    ``max_iter`` where the next smaller weight was left out: iterations ended before its optimum.
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

    By inner folds of the recipe's setting. A weight is left out where iterations end before its
    optimum, which a ConvergenceWarning tells, unless all do: what such a fit predicts is chosen by
    the number of iterations. For KronRidge in the dual form a fold has all weights from one Krylov
    solve (:meth:`KronRidge.path`), each with the iterate that a fit to it alone ends with; there
    four times the iterations are made, and kept in the recipe, where the best weight is next to
    one that was left out and ``max_iter`` is not given.
    """
    choice = _select(recipe, X, y, progress)
    more = {"max_iter": choice.on_edge.get("max_iter")}
    numbers = len(y) * (more["max_iter"] or 0)
    given = recipe.parameters.keys() & more.keys()
    if 0 < numbers <= _MOST_NUMBERS and not given and _has_path(recipe, X):
        longer = replace(recipe, parameters={**recipe.parameters, **more})
        choice = _select(longer, X, y, lambda n: None)
    return choice


def _select(recipe, X, y, progress):
    regs, widths = grids = _grids(recipe, X)
    two_classes = len(np.unique(y)) == 2
    splitter = SettingKFold(recipe.setting, INNER_FOLDS, random_state=recipe.seed)
    folds = list(splitter.split(X, y))
    scores = np.full((len(folds), len(regs), len(widths)), np.nan)
    failed = np.zeros(scores.shape, bool)
    for j, width in enumerate(widths):
        known = {**recipe.parameters, **width}
        trials = [replace(recipe, parameters={**known, **reg}) for reg in regs]
        for k, (train, test) in enumerate(folds):
            if len(np.unique(y[train])) > 1:
                found_of, failed[k, :, j] = _predicted(trials, X[train], y[train], X[test])
                for i, found in enumerate(found_of):
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
    offered = np.isfinite(means) & ~failed.any(axis=0)
    offered = offered if offered.any() else np.isfinite(means)
    means[~offered] = np.nan
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
    max_iter = recipe.parameter("max_iter")
    if best[0] > 0 and not offered[best[0] - 1, best[1]] and max_iter:
        edges["max_iter"] = _MORE * max_iter
    recipe = replace(recipe, parameters={**recipe.parameters, **chosen})
    return Choice(recipe, chosen, float(means[best]), edges)


def _has_path(recipe, X):
    return recipe.solver == "KronRidge" and not recipe.estimator().is_primal(X)


def _predicted(trials, X, y, X_test):
    """Scores of the test pairs by each of some trials that differ in reg alone, and which failed.

    That is, ended their iterations with a ConvergenceWarning.
    """
    first, found, failed = trials[0], [], []
    if _has_path(first, X) and len(trials) > 1:
        before, estimator = first.before(X), first.estimator()
        regs = [trial.parameters["reg"] for trial in trials]
        with convergence_kept_back():
            path = estimator.path(before.transform(X), y, regs, before.transform(X_test))
        return path.final_test_scores(estimator.tol), path.failed or False
    for trial in trials:
        with convergence_kept_back() as told:
            found.append(trial.fit(X, y).scores(X_test))
        failed.append(bool(told))
    return found, failed


@contextmanager
def convergence_kept_back() -> Iterator[list]:
    """A list that has, at the end, the ConvergenceWarnings from within; other warnings pass."""
    told: list = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        yield told
    for one in caught:
        if issubclass(one.category, ConvergenceWarning):
            told.append(one)
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


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
