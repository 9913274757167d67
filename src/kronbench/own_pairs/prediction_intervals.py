"""Prediction intervals whose radius is a quantile of errors on pairs that were left out.

A pair is as new as its vertices: none is (setting A), its row (B), its column (C), or both (D).
The errors of a setting are those of training pairs that were left out as it says: by their label
alone, or with all labels of the row, of the column, or of both. The radius at a level p is the
ceil((n + 1) p)-th smallest of n errors, which is the rule of split conformal prediction.

These are errors of models of slightly fewer labels, around the prediction of the model of all.
For that theory has no bound without stability of the model; jackknife+ and CV+ cover 2 p - 1 at
least, and p in practice, but keep all models (Barber, Candes, Ramdas & Tibshirani, Annals of
Statistics 49, 2021). Errors of one row are alike. Coverage is marginal: that of pairs of a random
new row (B), column (C) or both (D), and not of the pairs of each. So u rows count as u errors,
and fewer than p / (1 - p) say nothing at the level p. The share p (1 + 1/u) of the errors, in
place of p (1 + 1/n), would be that of a theorem for calibration rows of their own (Lee, Barber &
Willett, arXiv:2306.06342), and covers too much here. Rakhshaninejad, Juergens, Dewolf & Waegeman
(arXiv:2505.18890) have the four settings, with calibration pairs of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from sklearn.base import is_classifier

from kronbench.errors import InputError
from kronbench.evaluation import SettingKFold, VertexDisjointKFold
from kronbench.models import CompleteKronRidge, KronRidge
from kronbench.own_pairs.recipe import Fitted, Recipe
from kronbench.own_pairs.selection import convergence_kept_back
from kronbench.pairs import PairData

if TYPE_CHECKING:
    from kronbench.own_pairs.model_file import Model

# How many pairs or vertices were left out in a setting, and sorted absolute errors (k,)
LeftOut: TypeAlias = tuple[int, np.ndarray]

_MOST_FOLDS = 10
_MOST_KEPT = 1000  # errors of a setting; the level is rounded up by as much
UNITS = {"A": "pairs", "B": "rows", "C": "columns", "D": "rows or columns"}


def check_intervals(recipe: Recipe, level: float = 0.5) -> None:
    """InputError for a classifier, and unless the level is between 0 and 1."""
    if is_classifier(recipe.estimator()):
        raise InputError(
            f"intervals are for numbers, and {recipe.solver} is a classifier: give KronRidge"
        )
    if not 0 < level < 1:
        raise InputError(f"--interval is {level:g}: give a level between 0 and 1, such as 0.9")


def left_out(recipe: Recipe, fitted: Fitted, X: PairData, y: np.ndarray, setting: str) -> LeftOut:
    """Errors of a recipe, fitted to X and y (n,), on its pairs when they are left out.

    Where all pairs of the vertices are labelled, by the exact shortcuts of the closed forms,
    whose optimum KronRidge has too, with the scaling and the mean label of all pairs; else by ten
    folds of pairs (A), rows (B) or columns (C), or the ten blocks in which the k-th part of the
    rows meets the k-th of the columns (D), with a fit each.
    """
    rows, cols = (len(np.unique(index)) for index in (X.rows, X.cols))
    units = {"A": len(X), "B": rows, "C": cols, "D": min(rows, cols)}[setting]
    if units < 2:
        raise InputError(f"only {units} of the {UNITS[setting]} has pairs: give two or more")
    predicted = _by_shortcut(fitted, X, y, setting)
    if predicted is None:
        with convergence_kept_back():  # the fit to all has told
            predicted = _by_folds(recipe, X, y, setting, min(_MOST_FOLDS, units))
    errors = np.sort(np.abs(predicted - y)[np.isfinite(predicted)])
    if not len(errors):
        raise InputError("no part of the rows has a pair with the same part of the columns")
    # Of very many errors those at even ranks are kept, with the largest.
    kept = min(len(errors), _MOST_KEPT)
    return min(units, len(errors)), errors[-(-np.arange(1, kept + 1) * len(errors) // kept) - 1]


def radius(errors: Mapping[str, LeftOut], setting: str, level: float) -> float:
    """Half the width of the intervals for pairs of a setting, at a level between 0 and 1."""
    units, sizes = errors[setting]
    needed = int(np.ceil(level / (1 - level) - 1e-9))
    if units < needed:
        what = UNITS[setting]
        raise InputError(
            f"setting {setting} has the errors of {units} {what} that were left out, and the "
            f"level {level:g} needs {needed}: give a lower level, or fit to more {what}"
        )
    rank = int(np.ceil(level * (len(sizes) + 1) - 1e-9))
    return float(sizes[min(rank, len(sizes)) - 1])


def half_widths(model: Model, level: float, X: PairData) -> tuple[np.ndarray, np.ndarray]:
    """Half the width (t,) of the interval of each pair of X, and its setting (t,).

    A vertex is known where it has a training pair of the model and X has the features of these, by
    reference. InputError where the model has no errors of a setting, or too few for the level.
    """
    check_intervals(model.recipe, level)
    new = [
        (getattr(X, f"{side}_features") is not getattr(model.data, f"{side}_features"))
        | ~np.isin(getattr(X, f"{side}s"), getattr(model.data, f"{side}s"))
        for side in ("row", "col")
    ]
    settings, errors = np.array([*"ABCD"])[new[0] + 2 * new[1]], model.left_out or {}
    half = np.empty(len(X))
    for setting in np.unique(settings).tolist():
        if setting not in errors:
            why = "its fit said why" if errors else "fit again with --intervals"
            raise InputError(f"the model has no intervals for pairs of setting {setting}: {why}")
        half[settings == setting] = radius(errors, setting, level)
    return half, settings


def _by_shortcut(fitted, X, y, setting):
    """Exact predictions (n,) of all pairs without themselves, or None where folds are needed."""
    rows, row = np.unique(X.rows, return_inverse=True)
    cols, col = np.unique(X.cols, return_inverse=True)
    if not len(X) == len(np.unique(row * len(cols) + col)) == len(rows) * len(cols):
        return None
    model, shift = fitted.estimator, fitted.offset
    if type(model) is KronRidge:
        # The optimum for complete labels is that of the closed form.
        names = ("reg", "row_kernel", "col_kernel", "row_gamma", "col_gamma")
        optimum = model.pairwise == "kronecker" and model.solver == "auto"
        others = model.row_effect, model.col_effect, model.row_landmarks, model.col_landmarks
        if not optimum or any(others):
            return None
        shift += model.intercept_
        closed = CompleteKronRidge(**{name: getattr(model, name) for name in names})
        model = closed.fit(fitted.before.transform(X), y - shift)
    try:
        return model.loo(setting)[row, col] + shift
    except (AttributeError, InputError):  # a model, a filter or a loss without a shortcut
        return None


def _by_folds(recipe, X, y, setting, n_folds):
    """Predictions (n,) by fits without a fold; NaN for pairs outside the blocks of setting D."""
    splits = SettingKFold(setting, n_folds, random_state=recipe.seed).split(X, y)
    if setting == "D":
        # All blocks would take n_folds^2 fits; those on the diagonal leave out each vertex once.
        rows, cols = VertexDisjointKFold(n_folds, n_folds, recipe.seed).blocks(X)
        splits = (
            (np.flatnonzero((rows != k) & (cols != k)), np.flatnonzero((rows == k) & (cols == k)))
            for k in range(n_folds)
        )
    predicted = np.full(len(X), np.nan)
    for train, test in splits:
        if len(test):
            predicted[test] = recipe.fit(X[train], y[train]).scores(X[test])
    return predicted
