"""Scores of predictions: areas under curves, and those of affinities that publications use.

One name is often several numbers: which ties, which squares, which interpolation. Here each has a
name of its own.

Areas under ROC curves are ours and not scikit-learn's, which sorts all scores with their labels:
one area takes it 2.9 s instead of 0.4 s at n = 6.25 million, the 500 areas of a matrix with 400
columns 0.7 s instead of 3 ms. A test AUC for each iteration, fold, weight and data set would take
longer than the solvers.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from kronbench.errors import InputError
from kronbench.evaluation.ranking import (
    checked_arrays,
    concordance_index,
    interaction_concordance,
    macro_concordance_index,
)

_SEARCH_LANES = 64  # binary searches that go in lockstep
_CLASSES_AT_A_TIME = 1000

AFFINITY_SCORES = {
    "ci": "concordance index, ties of the prediction count half",
    "ci_ties_zero": "concordance index, ties of the prediction count nothing",
    "ci_later": "the same with half ties, over pairs whose later entry is larger (get_cindex)",
    "ci_later_ties_zero": "the same without ties, over these pairs (cindex_score)",
    "ci_rows": "mean over row vertices of the concordance index among the pairs of each",
    "ci_cols": "mean over column vertices",
    "interaction": "share of 2 x 2 blocks whose interaction has the right sign",
    "mse": "mean squared error",
    "rm2": "r_m^2 as DeepDTA's code has it: r^2 (1 - sqrt|r^4 - r_0^4|)",
    "rm2_roy": "r_m^2 as Roy defines it: r^2 (1 - sqrt|r^2 - r_0^2|)",
    "auc": "area under the ROC curve, by the threshold",
    "aupr": "average precision: precision at each positive, by the threshold",
    "aupr_interpolated": "area under the precision-recall curve, interpolated between thresholds",
}


def affinity_scores(
    y: ArrayLike,
    score: ArrayLike,
    rows: ArrayLike,
    cols: ArrayLike,
    positive_above: float | None = None,
    names: Collection[str] = tuple(AFFINITY_SCORES),
    positive: ArrayLike | None = None,
) -> dict[str, float]:
    """Scores of :data:`AFFINITY_SCORES`, in its order.

    Parameters
    ----------
    y, score : (n,) arrays
        Affinities and their predictions, in the order of the published test set, on which the
        scores over later pairs depend.
    rows, cols : (n,) integer arrays of the vertices of each pair
    positive_above : float, optional
        An affinity above it is a positive: 7 for pKd, 12.1 for KIBA scores. NaN for the scores
        that need it where it is None or one class is empty.
    names : collection of str, optional
    positive : (n,) array of bool, optional
        Which affinities are positives, in place of ``positive_above``.
    """
    y, score = np.asarray(y, np.float64), np.asarray(score, np.float64)
    if unknown := set(names) - set(AFFINITY_SCORES):
        raise InputError(
            f"names has {', '.join(sorted(unknown))}: give some of {', '.join(AFFINITY_SCORES)}"
        )
    if positive_above is not None:
        positive = y > positive_above
    elif positive is None:
        positive = np.zeros(len(y))  # of one class: NaN
    # Only the scores that are asked for are computed.
    makers = {
        "ci": lambda: concordance_index(y, score),
        "ci_ties_zero": lambda: concordance_index(y, score, ties="zero"),
        "ci_later": lambda: concordance_index(y, score, pairs="later"),
        "ci_later_ties_zero": lambda: concordance_index(y, score, ties="zero", pairs="later"),
        "ci_rows": lambda: macro_concordance_index(y, score, rows),
        "ci_cols": lambda: macro_concordance_index(y, score, cols),
        "interaction": lambda: interaction_concordance(y, score, rows, cols),
        "mse": lambda: float(np.mean((y - score) ** 2)),
        "rm2": lambda: rm2(y, score),
        "rm2_roy": lambda: rm2(y, score, variant="roy"),
        "auc": lambda: roc_auc(positive, score),
        "aupr": lambda: aupr(positive, score),
        "aupr_interpolated": lambda: aupr(positive, score, interpolated=True),
    }
    return {name: makers[name]() for name in AFFINITY_SCORES if name in names}


def rm2(y: ArrayLike, score: ArrayLike, *, variant: str = "deepdta") -> float:
    """Modified squared correlation r_m^2 of a prediction.

    With r^2 the squared correlation and r_0^2 = 1 - sum (y - k p)^2 / sum (y - mean(y))^2 what a
    line through the origin explains, k = y'p / p'p (Roy et al. 2013), the ``variant`` "roy" is the
    published definition, r^2 (1 - sqrt|r^2 - r_0^2|), and "deepdta" what the code of DeepDTA
    computes and networks compared with it print, r^2 (1 - sqrt|r^4 - r_0^4|). ``y`` and ``score``
    are (n,) arrays; NaN where one is constant.
    """
    if variant not in ("deepdta", "roy"):
        raise InputError(f"variant={variant!r} is unknown: give 'deepdta' or 'roy'")
    y, score = checked_arrays(y, score)
    # Constant arrays are told by their range: their mean may round, and then they vary.
    if not len(y) or y.min() == y.max() or score.min() == score.max():
        return np.nan
    y_off, score_off = y - y.mean(), score - score.mean()
    whole, spread = y_off @ y_off, score_off @ score_off
    if not (whole and spread):
        return np.nan
    # r^2 is the squared correlation, r_0^2 what the line k p through the origin explains.
    r2 = (y_off @ score_off) ** 2 / (whole * spread)
    error = y - (y @ score) / (score @ score) * score
    r02 = 1 - error @ error / whole
    gap = r2**2 - r02**2 if variant == "deepdta" else r2 - r02
    return float(r2 * (1 - np.sqrt(abs(gap))))


def aupr(positive: ArrayLike, score: ArrayLike, *, interpolated: bool = False) -> float:
    """Area under the curve of precision over recall.

    Average precision, a step for each threshold, as scikit-learn has it; or ``interpolated``:
    between two thresholds false positives grow linearly with true ones, as in the program
    ``auc.jar``, which DeepDTA uses (Davis & Goadrich 2006). They differ where scores are tied.
    NaN where one class is empty; ``positive`` and ``score`` are (n,) arrays.
    """
    positive, score = checked_arrays(positive, score)
    n_positive = positive.sum()
    if n_positive in (0, len(positive)):
        return np.nan
    # The curve has a point for each threshold: true and false positives at or above it.
    order = np.argsort(-score, kind="stable")
    ordered = score[order]  # infinite ones have ties too, and no difference
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))  # of each threshold
    true = np.concatenate([[0.0], np.cumsum(positive[order])[last]])
    false = np.concatenate([[0.0], np.cumsum(1 - positive[order])[last]])
    gained, slipped = np.diff(true), np.diff(false)
    # Average precision is the sum of precisions, each times its gain of recall.
    if not interpolated:
        precision = true[1:] / (true[1:] + false[1:])
        return float(gained @ precision / n_positive)
    # The area is the integral of t / (t + f(t)) over the true positives t, with false positives
    # f(t) = f_0 + s (t - t_0) between two thresholds.
    rises = gained > 0
    t, end, f = true[:-1][rises], true[1:][rises], false[:-1][rises]
    slope = slipped[rises] / gained[rises]
    offset = f - slope * t  # t + f(t) = (1 + s) t + offset
    lengths = (end - t) / (1 + slope)
    curved = offset != 0
    logs = np.log(((1 + slope) * end + offset)[curved] / ((1 + slope) * t + offset)[curved])
    lengths[curved] -= (offset / (1 + slope) ** 2)[curved] * logs
    return float(lengths.sum() / n_positive)


def mean_of_models(scores: Sequence[ArrayLike], *, standardized: bool) -> np.ndarray:
    """Mean (n,) of the predictions of several models for the same n pairs.

    ``standardized`` brings those of each model to the mean 0 and the deviation 1 first, as scores
    of classes need, whose scales differ from model to model; affinities share a unit.
    """
    parts = [np.asarray(part, np.float64) for part in scores]
    if standardized:
        parts = [(part - part.mean()) / (part.std() or 1.0) for part in parts]
    return np.mean(parts, axis=0)


def roc_auc(y: ArrayLike, score: ArrayLike) -> float:
    """Area under the ROC curve: the share of (positive, negative) pairs that are in order.

    NaN unless there are two classes. O(P log P + n log P) for P entries of the rarer class.

    ``y`` (n,) has at most two different values, of which the larger one is positive; equal
    ``score`` (n,) count one half.
    """
    return _area(*_two_classes(y, score))


def macro_auc(Y_true: ArrayLike, Y_score: ArrayLike, axis: int) -> float:
    """Mean of the areas under the ROC curves along one axis of a label matrix.

    Both are (m, q), with two classes as for :func:`roc_auc`. ``axis`` 0 takes a curve for each
    column over its rows, 1 for each row over its columns; the mean is over those that have both
    classes, NaN where none has.
    """
    if axis not in (0, 1):
        raise InputError(f"axis={axis!r}: give 0 (a curve a column) or 1 (a curve a row)")
    positive, scores = _two_classes(Y_true, Y_score, ("Y_true", "Y_score"), 2)
    if axis == 0:
        positive, scores = (np.ascontiguousarray(M.T) for M in (positive, scores))
    # Curves without both classes are NaN, and not in the mean.
    areas = np.array([_area(*curve) for curve in zip(positive, scores, strict=True)])
    both = ~np.isnan(areas)
    return float(areas[both].mean()) if both.any() else np.nan


def micro_auc(Y_true: ArrayLike, Y_score: ArrayLike) -> float:
    """Area under the one ROC curve of all entries of a label matrix (m, q)."""
    positive, scores = _two_classes(Y_true, Y_score, ("Y_true", "Y_score"), 2)
    # The order of entries is free, and that of memory needs no copy.
    order = "F" if scores.flags.f_contiguous else "C"
    return _area(positive.ravel(order), scores.ravel(order))


def ranking_areas(features: np.ndarray, y: np.ndarray, coef: np.ndarray) -> dict[str, float]:
    """Areas under the ROC curves of the scores ``features @ coef``, a block of classes at a time.

    ``features`` are (n, d), ``coef`` (d, C), and ``y`` (n,) has the right class of each document.
    "instance_auc" is the mean over documents of the curve over classes, "macro_auc" the mean over
    the classes in ``y`` of the curve over documents.
    """
    features, coef = features.astype(np.float32), coef.astype(np.float32)
    # Each document has the score of its right class, (n,).
    right = np.einsum("ij,ij->i", features, coef[:, y].T)
    twice_below, macro, n_curves = np.zeros(len(y)), 0.0, 0
    for start in range(0, coef.shape[1], _CLASSES_AT_A_TIME):
        F = features @ coef[:, start : start + _CLASSES_AT_A_TIME]
        # Classes of this block that have documents have a curve over documents each.
        inside = np.flatnonzero((y >= start) & (y < start + F.shape[1]))
        classes = np.unique(y[inside]) - start
        if len(classes):
            positive = y[:, None] == classes + start
            macro += macro_auc(positive, F[:, classes], axis=0) * len(classes)
            n_curves += len(classes)
        # The right class is no competitor of itself, whatever the rounding of its score. Another
        # counts two where it is below and one where it is tied, which makes twice the area.
        F[inside, y[inside] - start] = np.inf
        twice_below += np.sum(F < right[:, None], axis=1) + np.sum(F <= right[:, None], axis=1)
    return {
        "instance_auc": np.mean(twice_below) / (2 * (coef.shape[1] - 1)),
        "macro_auc": macro / n_curves,
    }


def _area(positive, scores):
    """The area under the ROC curve by the Mann-Whitney statistic: P log P + n log P steps."""
    # The rarer class is sorted, and each score of the other is looked up in it.
    few, many = scores[positive], scores[~positive]
    flip = len(few) > len(many)
    if flip:
        few, many = many, few
    if not len(few):
        return np.nan
    # This is the share of pairs in which the rarer class is below, which is the wrong order where
    # it is the positive one.
    few.sort()
    area = float(_twice_places(few, many) / (2 * len(few) * len(many)))
    return area if flip else 1.0 - area


@njit(cache=True, nogil=True)
def _twice_places(few, scores):
    """Twice the number of entries of sorted ``few`` below each of ``scores``, ties once, summed.

    _SEARCH_LANES searches go in lockstep. With a fixed number of lanes and unsigned positions (no
    negative indices) the steps become vector gathers: 10 times as fast as one after the other.
    """
    low, block = np.empty(_SEARCH_LANES, np.uint64), np.empty(_SEARCH_LANES)
    one, twice = np.uint64(1), np.int64(0)
    for start in range(0, len(scores), _SEARCH_LANES):
        filled = min(_SEARCH_LANES, len(scores) - start)
        block[:filled] = scores[start : start + filled]
        # Each lane halves the same length, so that no lane branches: the number of entries below
        # its score is between ``low`` and ``low`` + ``length``.
        low[:] = 0
        length = len(few)
        while length > 1:
            half = length // 2
            step = np.uint64(half)
            for k in range(_SEARCH_LANES):
                at = low[k] + step
                low[k] = at if few[at - one] < block[k] else low[k]
            length -= half
        # The last step is one lane at a time; ties are looked up where there are any.
        for k in range(filled):
            place = np.int64(low[k])
            if few[place] < block[k]:
                place += 1
            twice += 2 * place
            if place < len(few) and few[place] == block[k]:
                twice += np.searchsorted(few[place:], block[k], side="right")
    return twice


def _two_classes(y, score, names=("y", "score"), ndim=1):
    """Where the larger one of at most two labels is, and the scores."""
    y, score = checked_arrays(y, score, names, ndim)
    positive = y == y.max(initial=-np.inf)
    if not (positive | (y == y.min(initial=np.inf))).all():
        raise InputError(f"{names[0]} has more than two different values: AUC needs two classes")
    return positive, score
