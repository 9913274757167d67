"""The regularization weight and the kernel widths by inner folds of the training pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from kronbench.errors import InputError
from kronbench.evaluation import SettingKFold, roc_auc
from kronbench.linalg import dense
from kronbench.linalg.gram_matrix import squared_distances
from kronbench.models import VertexScaler
from kronbench.own_pairs.recipe import Recipe
from kronbench.pairs import PairData
from kronbench.pairs.data import used_vertices

INNER_FOLDS = 3
# Decades of reg, in units of the mean diagonal of the product kernel.
_REGS = 10.0 ** np.arange(-5, 3)
# Of 1 / the median squared distance; both sides move together.
_WIDTHS = np.array([0.1, 0.3, 1.0, 3.0])
_MOST_DISTANCES = 1000  # vertices of a side that the median looks at


@dataclass(frozen=True)
class Choice:
    """What inner folds chose.

    Attributes
    ----------
    recipe : Recipe
        With the chosen values.
    chosen : dict
        They alone.
    score : float
        Mean over the inner folds: the area under the ROC curve, or minus the mean squared error.
    on_edge : tuple of str
        Chosen values at an end of their grid, where the best one may lie beyond.
    """

    recipe: Recipe
    chosen: dict[str, float]
    score: float
    on_edge: tuple[str, ...]


def n_fits(recipe: Recipe, setting: str) -> int:
    """How many fits a choice takes."""
    n_regs = 1 if "reg" in recipe.parameters else len(_REGS)
    n_widths = len(_WIDTHS) if _open_widths(recipe) else 1
    return n_regs * n_widths * SettingKFold(setting, INNER_FOLDS).get_n_splits()


def check_selects(recipe: Recipe) -> None:
    """InputError unless the solver has something to choose that is not set."""
    if "reg" not in recipe.estimator().get_params():
        raise InputError(f"{recipe.solver} has no reg to select: set its parameters")
    if "reg" in recipe.parameters and not _open_widths(recipe):
        raise InputError("reg is set: leave it to the selection, or do not select")


def select(
    recipe: Recipe,
    X: PairData,
    y: np.ndarray,
    setting: str,
    seed: int,
    progress: Callable[[], object] = lambda: None,
) -> Choice:
    """Choose ``reg``, and the widths of Gaussian kernels that are not set, in one setting.

    Parameters
    ----------
    recipe : Recipe
        What it sets is kept.
    X, y : the training pairs and their labels
    setting : {"A", "B", "C", "D"}
        The inner test pairs are as new as those to predict later.
    seed : int
        Of the inner folds.
    progress : callable, optional
        Called after each fit.

    Raises
    ------
    InputError
        There are too few pairs or vertices for inner folds, or none of them has two labels.
    """
    grids = _grids(recipe, X)
    two = len(np.unique(y)) == 2
    folds = list(SettingKFold(setting, INNER_FOLDS, random_state=seed).split(X, y))
    scores = {}
    for values in product(*map(range, map(len, grids.values()))):
        # parameters whose grid moves with another's share its position
        trial = recipe.with_parameters(_at(grids, values))
        scores[values] = _mean_score(trial, X, y, folds, two, progress)
    if not np.isfinite(list(scores.values())).any():
        raise InputError(f"no inner fold of setting {setting} has both labels: give more pairs")
    best = max(scores, key=lambda values: np.nan_to_num(scores[values], nan=-np.inf))
    chosen = _at(grids, best)
    edges = [
        name
        for names, position in zip(grids, best, strict=True)
        for name in names
        if position in (0, len(grids[names]) - 1)
    ]
    return Choice(recipe.with_parameters(chosen), chosen, scores[best], tuple(edges))


def _mean_score(recipe, X, y, folds, two, progress):
    found = []
    for train, test in folds:
        if len(np.unique(y[train])) > 1:
            scores = recipe.fit(X[train], y[train]).scores(X[test])
            found.append(roc_auc(y[test], scores) if two else -np.mean((scores - y[test]) ** 2))
        progress()
    found = [score for score in found if np.isfinite(score)]
    return float(np.mean(found)) if found else np.nan


def _at(grids, position):
    values = {}
    for (names, grid), i in zip(grids.items(), position, strict=True):
        values |= dict(zip(names, map(float, grid[i]), strict=True))
    return values


def _grids(recipe, X):
    """Grids (k, p) by the tuple of the p parameters that move together."""
    if any(recipe.scaled):
        X = VertexScaler(rows=recipe.scaled[0], cols=recipe.scaled[1]).fit_transform(X)
    grids, level = {}, 1.0
    sides = {
        "row": _used(X.row_features, X.rows, recipe.parameter("row_kernel")),
        "col": _used(X.col_features, X.cols, recipe.parameter("col_kernel")),
    }
    for side, features in sides.items():
        kernel = recipe.parameter(f"{side}_kernel")
        if kernel == "precomputed":
            level *= float(np.mean(np.diagonal(features)))
        elif kernel == "linear":
            level *= float(np.mean(np.sum(features**2, axis=1)))
    if "reg" not in recipe.parameters:
        grids["reg",] = _REGS[:, None] * (level or 1.0)
    names = _open_widths(recipe)
    if names:
        bases = [1 / _median_distance(sides[name.removesuffix("_gamma")]) for name in names]
        grids[names] = _WIDTHS[:, None] * np.array(bases)
    return grids


def _open_widths(recipe):
    """The widths to choose."""
    return tuple(
        f"{side}_gamma"
        for side in ("row", "col")
        if recipe.parameter(f"{side}_kernel") == "gaussian"
        and recipe.parameters.get(f"{side}_gamma") is None
    )


def _used(features, index, kernel):
    used, _ = used_vertices(index, features.shape[0])
    features = dense(features)[used]
    return features[:, used] if kernel == "precomputed" else features


def _median_distance(features):
    step = -(-len(features) // _MOST_DISTANCES)
    some = features[::step]
    distances = squared_distances(some)[np.triu_indices(len(some), 1)]
    positive = distances[distances > 0]
    return float(np.median(positive)) if positive.size else 1.0
