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

# The grid of reg: decades, in units of the mean diagonal of the product kernel.
_REGS = 10.0 ** np.arange(-5, 3)
# The grid of widths, in units of 1 / the median squared distance; both sides move together.
_WIDTHS = (0.1, 0.3, 1.0, 3.0)
_MOST_VERTICES = 1000  # of a side, whose distances the median is taken of
# The factor on the iterations where the smallest weight that they reached is the best one.
_MORE_ITERATIONS = 4
_MOST_PATH_NUMBERS = 1 << 27  # in all vectors of such a longer path, 1 GiB


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
    parameters = recipe.estimator().get_params()
    if "regs" in parameters:
        raise InputError(f"{recipe.solver} chooses its weights itself: leave out --select")
    if "reg" not in parameters:
        raise InputError(f"{recipe.solver} has no reg to select: set its parameters with --set")
    if "reg" in recipe.parameters and not recipe.open_widths():
        raise InputError("reg is set: leave out either --set reg or --select")


def choose(
    recipe: Recipe, X: PairData, y: np.ndarray, progress: Callable[[int], object] = lambda n: None
) -> Choice:
    """Choose ``reg``, and the widths of Gaussian kernels that are not set.

    By inner folds of the recipe's setting. A weight is left out where iterations end before its
    optimum, which a ConvergenceWarning tells, unless all do: what such a fit predicts is chosen by
    the number of iterations. For KronRidge in the dual form, or with form="primal", a fold has all
    weights from one Krylov solve (:meth:`KronRidge.path`), each with the iterate that a fit to it
    alone ends with; there four times the iterations are made, and kept in the recipe, where the
    best weight is next to one that was left out and ``max_iter`` is not given.
    """
    choice = _chosen_on_folds(recipe, X, y, progress)
    more = {"max_iter": choice.on_edge.get("max_iter")}
    numbers = len(y) * (more["max_iter"] or 0)
    is_set = "max_iter" in recipe.parameters
    if 0 < numbers <= _MOST_PATH_NUMBERS and not is_set and _has_path(recipe, X):
        longer = replace(recipe, parameters={**recipe.parameters, **more})
        choice = _chosen_on_folds(longer, X, y, lambda n: None)
    return choice


def _chosen_on_folds(recipe, X, y, progress):
    """The choice of one round: the best mean score over the inner folds, and what lies beyond."""
    # Score every point of the grid on every inner fold that has both labels.
    regs, widths = grids = _grids(recipe, X)
    two_classes = len(np.unique(y)) == 2
    splitter = SettingKFold(recipe.setting, INNER_FOLDS, random_state=recipe.seed)
    folds = list(splitter.split(X, y))
    scores = np.full((len(folds), len(regs), len(widths)), np.nan)
    failed = np.zeros(scores.shape, bool)
    for j, width in enumerate(widths):
        trials = [
            replace(recipe, parameters={**recipe.parameters, **width, **reg}) for reg in regs
        ]
        for k, (train, test) in enumerate(folds):
            if len(np.unique(y[train])) > 1:
                predictions, failed[k, :, j] = _trial_scores(trials, X[train], y[train], X[test])
                for i, predicted in enumerate(predictions):
                    error = np.mean((predicted - y[test]) ** 2)
                    scores[k, i, j] = roc_auc(y[test], predicted) if two_classes else -error
            progress(len(trials))
    scores[~np.isfinite(scores)] = np.nan
    if np.isnan(scores).all():
        raise InputError(
            f"no inner fold of setting {recipe.setting} has both labels: give more pairs"
        )
    # Average over the folds, without what ended before its optimum unless all did.
    with warnings.catch_warnings(action="ignore"):  # of trials without any score
        means = np.nanmean(scores, axis=0)
    offered = np.isfinite(means) & ~failed.any(axis=0)
    offered = offered if offered.any() else np.isfinite(means)
    means[~offered] = np.nan
    # Of equal points the best is that of the smallest weight, then of the smallest widths.
    best = np.unravel_index(np.nanargmax(means), means.shape)
    # Tell the next value where the best one is at an end of its grid.
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
        edges["max_iter"] = _MORE_ITERATIONS * max_iter
    recipe = replace(recipe, parameters={**recipe.parameters, **chosen})
    return Choice(recipe, chosen, float(means[best]), edges)


def _has_path(recipe, X):
    # The form "auto" has one path, that of the dual.
    primal = recipe.parameter("form") == "primal"
    return recipe.solver == "KronRidge" and (primal or not recipe.estimator().is_primal(X))


def _trial_scores(trials, X, y, X_test):
    """Scores of the test pairs by each of some trials that differ in reg alone, and which failed.

    That is, ended their iterations with a ConvergenceWarning.
    """
    first, predictions, failed = trials[0], [], []
    if _has_path(first, X) and len(trials) > 1:
        before, estimator = first.before(X), first.estimator()
        regs = [trial.parameters["reg"] for trial in trials]
        with convergence_kept_back():
            path = estimator.path(before.transform(X), y, regs, before.transform(X_test))
        return path.final_test_scores(estimator.tol), path.failed or False
    for trial in trials:
        with convergence_kept_back() as told:
            predictions.append(trial.fit(X, y).scores(X_test))
        failed.append(bool(told))
    return predictions, failed


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
    for side, features, index in (
        ("row", X.row_features, X.rows),
        ("col", X.col_features, X.cols),
    ):
        kernel = recipe.parameter(f"{side}_kernel")
        if kernel == "tanimoto":  # its diagonal is 1, and fingerprints stay sparse
            continue
        used, _ = used_vertices(index, features.shape[0])
        features = features[used]
        if kernel == "precomputed":
            level *= float(np.mean(dense(features)[:, used].diagonal()))
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
    some = dense(features[:: -(-features.shape[0] // _MOST_VERTICES)])
    distances = squared_distances(some)[np.triu_indices(some.shape[0], 1)]
    positive = distances[distances > 0]
    return float(np.median(positive)) if positive.size else 1.0
