"""The regularization weight and the kernel widths by inner folds of the training pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from kronbench.errors import InputError
from kronbench.evaluation import SettingKFold, roc_auc
from kronbench.linalg import dense
from kronbench.linalg.gram_matrix import squared_distances
from kronbench.models import CompleteKronRidge
from kronbench.own_pairs.recipe import INNER_FOLDS, Recipe
from kronbench.pairs import PairData
from kronbench.pairs.data import used_vertices

# Decades of reg, in units of the mean diagonal of the product kernel.
_REGS = 10.0 ** np.arange(-5, 3)
# Of 1 / the median squared distance; both sides move together.
_WIDTHS = np.array([0.1, 0.3, 1.0, 3.0])
_MOST_DISTANCES = 1000  # vertices of a side that the median looks at
_MOST_VERTICES = 3000  # of a side whose eigenpairs are found to leave out single pairs


@dataclass(frozen=True)
class Choice:
    """What was chosen, ``chosen`` alone and in a recipe, and ``how``, in words.

    ``score`` is the area under the ROC curve, or minus the mean squared error: the mean over the
    inner folds, or that of all pairs, each left out in turn. ``on_edge`` has, of chosen values at
    an end of their grid, the next one beyond, which may be better.
    """

    recipe: Recipe
    chosen: dict[str, float]
    score: float
    on_edge: dict[str, float]
    how: str


def n_fits(recipe: Recipe, setting: str) -> int:
    """How many fits a choice takes."""
    n_regs = 1 if "reg" in recipe.parameters else len(_REGS)
    n_widths = len(_WIDTHS) if recipe.open_widths() else 1
    return n_regs * n_widths * SettingKFold(setting, INNER_FOLDS).get_n_splits()


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
    setting: str,
    seed: int,
    progress: Callable[[int], object] = lambda n: None,
) -> Choice:
    """Choose ``reg``, and the widths of Gaussian kernels that are not set, in one setting.

    By inner folds of the setting. For KronRidge in the dual form a fold has all weights from one
    Krylov solve (:meth:`KronRidge.path`), each with the iterate that a fit to it alone ends with.
    In setting A, where every pair of up to 3000 vertices a side is known once, ridge regression
    with the Kronecker kernel is scored on every pair as predicted by the optimum for all others
    (:meth:`CompleteKronRidge.loo`), with no folds.
    """
    (reg_names, regs), (width_names, widths) = grids = _grids(recipe, X)
    score = roc_auc if len(np.unique(y)) == 2 else _minus_mse
    if reg_names and _is_ridge_of_complete_data(recipe, X, setting):
        how = "by leaving out each pair in turn"
        scores_of = partial(_leaving_one_out, X=X, y=y, score=score, progress=progress)
    else:
        how = f"on inner folds of setting {setting}"
        folds = list(SettingKFold(setting, INNER_FOLDS, random_state=seed).split(X, y))
        from_path = reg_names and recipe.solver == "KronRidge"
        by = _from_one_path if from_path and recipe.parameter("form") == "dual" else _fit_by_fit
        scores_of = partial(_over_folds, by, X=X, y=y, folds=folds, score=score, progress=progress)
    columns = []
    for width in widths:
        trial = recipe.with_parameters(_named(width_names, width))
        columns.append(scores_of([trial.with_parameters(_named(reg_names, reg)) for reg in regs]))
    scores = np.transpose(columns)
    if not np.isfinite(scores).any():
        raise InputError(f"no inner fold of setting {setting} has both labels: give more pairs")
    # of equals the smallest weight, and then the smallest widths
    best = np.unravel_index(np.nanargmax(scores), scores.shape)
    chosen: dict = {}
    edges: dict = {}
    for (names, grid), position in zip(grids, map(int, best), strict=True):
        chosen |= _named(names, grid[position])
        inner = {0: 1, len(grid) - 1: -2}
        if names and position in inner:  # one step beyond, as wide as the last one
            edges |= _named(names, grid[position] ** 2 / grid[inner[position]])
    return Choice(recipe.with_parameters(chosen), chosen, float(scores[best]), edges, how)


def _over_folds(by, trials, X, y, folds, score, progress):
    """Mean score of each trial over the folds with both labels; NaN without any."""
    found = np.full((len(folds), len(trials)), np.nan)
    for k, (train, test) in enumerate(folds):
        if len(np.unique(y[train])) > 1:
            scores = by(trials, X[train], y[train], X[test])
            found[k] = [score(y[test], values) for values in scores]
        progress(len(trials))
    finite = np.isfinite(found)
    sums = np.where(finite, found, 0).sum(axis=0)
    nothing = np.full(len(trials), np.nan)
    return np.divide(sums, finite.sum(axis=0), out=nothing, where=finite.any(axis=0))


def _fit_by_fit(trials, X, y, X_test):
    """Scores of the test pairs by each of some trials that differ in reg alone."""
    before = trials[0].before(X)
    return [trial.fit(X, y, before=before).scores(X_test) for trial in trials]


def _from_one_path(trials, X, y, X_test):
    """The same from one Krylov solve."""
    before, estimator = trials[0].before(X), trials[0].estimator()
    regs = [trial.parameters["reg"] for trial in trials]
    path = estimator.path(before.transform(X), y, regs, before.transform(X_test))
    return path.final_test_scores(estimator.tol)


def _leaving_one_out(trials, X, y, score, progress):
    """Scores where every pair is predicted from all others, by the shortcut for the optimum.

    Labels are centred by the mean of the others, so that the mean is left out with them. The
    predictions are linear in the labels: ``ones`` are those of a label 1 everywhere.
    """
    regs = [trial.parameters["reg"] for trial in trials]
    names = ("row_kernel", "col_kernel", "row_gamma", "col_gamma")
    model = CompleteKronRidge(**{name: trials[0].parameter(name) for name in names})
    features = trials[0].before(X).transform(X)
    cells = tuple(np.unique(side, return_inverse=True)[1] for side in (X.rows, X.cols))
    of_labels, of_ones = (
        [left_out[cells] for _, left_out in model.fit(features, labels).loo_grid("A", regs)]
        for labels in (y, np.ones(len(y)))
    )
    others = (y.sum() - y) / (len(y) - 1)
    if trials[0].parameter("fit_intercept") is False:
        others = np.zeros(len(y))
    progress(INNER_FOLDS * len(trials))  # as many as folds would have taken
    return [
        score(y, values + others * (1 - ones))
        for values, ones in zip(of_labels, of_ones, strict=True)
    ]


def _minus_mse(y, scores):
    return -np.mean((scores - y) ** 2)


def _is_ridge_of_complete_data(recipe, X, setting):
    """Whether the shortcut leaves out pairs as new as those to predict, and of this model."""
    if setting != "A" or recipe.solver not in ("KronRidge", "CompleteKronRidge"):
        return False
    if any(recipe.landmarks):  # of all vertices, also of those that a fold leaves out
        return False
    plain = {"pairwise": "kronecker", "row_effect": 0, "col_effect": 0}
    plain |= {"filter": "tikhonov", "loss": "squared"}
    if any(recipe.parameter(name) not in (value, None) for name, value in plain.items()):
        return False
    n_rows, n_cols = (len(np.unique(index)) for index in (X.rows, X.cols))
    cells = np.unique(X.rows.astype(np.int64) * X.n_cols + X.cols)
    return len(cells) == len(X) == n_rows * n_cols and max(n_rows, n_cols) <= _MOST_VERTICES


def _named(names, values):
    return dict(zip(names, map(float, values), strict=True))


def _grids(recipe, X):
    """Names and grids of reg (s, 1) and of the widths (l, p): without names a single point."""
    if any(recipe.scaled):
        X = replace(recipe, landmarks=(None, None)).before(X).transform(X)
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
    regs: Any = ((), np.empty((1, 0)))
    widths = regs
    if "reg" not in recipe.parameters:
        regs = ("reg",), _REGS[:, None] * (level or 1.0)
    if names := recipe.open_widths():
        bases = [1 / _median_distance(sides[name]) for name in names]
        widths = names, _WIDTHS[:, None] * np.array(bases)
    return regs, widths


def _median_distance(features):
    step = -(-len(features) // _MOST_DISTANCES)
    some = features[::step]
    distances = squared_distances(some)[np.triu_indices(len(some), 1)]
    positive = distances[distances > 0]
    return float(np.median(positive)) if positive.size else 1.0
