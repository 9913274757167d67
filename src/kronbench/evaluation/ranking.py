"""Areas under ROC curves of label matrices, for many score matrices at once."""

from __future__ import annotations

import numpy as np
from numba import njit

from kronbench.errors import InputError

_LANES = 64


def macro_auc(Y_true, Y_score, axis):
    """Mean of the areas under the ROC curves along one axis of a label matrix.

    Parameters
    ----------
    Y_true : (m, q) array
        Labels of at most two different values; the larger one is positive.
    Y_score : (..., m, q) float array
        Scores; ties count one half. Leading axes hold several score matrices.
    axis : {0, 1}
        0 takes a curve for each column over its rows, 1 for each row over its columns.

    Returns
    -------
    float, or (...) array
        The mean over columns (rows) that have both classes; NaN where none has.

    Raises
    ------
    InputError
        Shapes differ, scores hold NaN, or there are more than two labels.

    Notes
    -----
    The rarer class of each curve is sorted, the other looks up its places in it: for P positives
    of N labels O(P log P + N log P). One thread, without the interpreter's lock: the threads of a
    BLAS that made the scores go on spinning, and two pools fight for the cores.
    """
    if axis not in (0, 1):
        raise InputError(f"axis={axis!r}: give 0 (a curve a column) or 1 (a curve a row)")
    positive, scores = _checked(Y_true, Y_score)
    if axis == 0:
        positive, scores = positive.T, np.swapaxes(scores, -1, -2)
    count = positive.sum(axis=1)
    both = np.flatnonzero((count > 0) & (count < positive.shape[1]))
    if not len(both):
        return _shaped(np.full(scores.shape[:-2], np.nan))
    positive = np.ascontiguousarray(positive[both])
    flat = scores.reshape(-1, *scores.shape[-2:])
    means = np.empty(len(flat))
    for i, matrix in enumerate(flat):
        means[i] = _curve_areas(positive, np.ascontiguousarray(matrix[both])).mean()
    return _shaped(means.reshape(scores.shape[:-2]))


def micro_auc(Y_true, Y_score):
    """Area under the one ROC curve of all entries of a label matrix.

    Parameters, errors and cost as for :func:`macro_auc`.

    Returns
    -------
    float, or (...) array; NaN where there is one class only.
    """
    positive, scores = _checked(Y_true, Y_score)
    shape = scores.shape[:-2]
    if positive.all() or not positive.any():
        return _shaped(np.full(shape, np.nan))
    flat = scores.reshape(-1, *scores.shape[-2:])
    areas = np.empty(len(flat))
    for i, matrix in enumerate(flat):
        # the order of entries is free: that of memory needs no copy
        order = "F" if matrix.flags.f_contiguous else "C"
        areas[i] = _area(positive.ravel(order), matrix.ravel(order))
    return _shaped(areas.reshape(shape))


def _area(positive, scores):
    few, many = scores[positive], scores[~positive]
    flip = len(few) > len(many)
    if flip:
        few, many = many, few
    few.sort()
    area = _twice_places(few, many) / (2 * len(few) * len(many))
    return area if flip else 1.0 - area


@njit(cache=True, nogil=True)
def _curve_areas(positive, scores):
    """Area of each row, all of which have both classes."""
    n_rows, n = scores.shape
    areas = np.empty(n_rows)
    for r in range(n_rows):
        n_positive = positive[r].sum()
        rare = 2 * n_positive <= n
        n_few = n_positive if rare else n - n_positive
        few, many = np.empty(n_few), np.empty(n - n_few)
        a, b = 0, 0
        for e in range(n):
            if positive[r, e] == rare:
                few[a] = scores[r, e]
                a += 1
            else:
                many[b] = scores[r, e]
                b += 1
        few.sort()
        area = _twice_places(few, many) / (2 * n_few * (n - n_few))
        areas[r] = 1.0 - area if rare else area
    return areas


@njit(cache=True, nogil=True)
def _twice_places(few, scores):
    """Twice the number of entries of sorted ``few`` below each of ``scores``, ties once, summed.

    _LANES searches go in lockstep. With a fixed number of lanes and unsigned positions (no
    negative indices) the steps become vector gathers: 10 times as fast as one after the other.
    """
    low, block = np.empty(_LANES, np.uint64), np.empty(_LANES)
    one, twice = np.uint64(1), 0
    for start in range(0, len(scores), _LANES):
        filled = min(_LANES, len(scores) - start)
        block[:filled] = scores[start : start + filled]
        low[:] = 0
        length = len(few)
        while length > 1:
            half = length // 2
            step = np.uint64(half)
            for k in range(_LANES):
                at = low[k] + step
                low[k] = at if few[at - one] < block[k] else low[k]
            length -= half
        for k in range(filled):
            place = np.int64(low[k])
            if few[place] < block[k]:
                place += 1
            twice += 2 * place
            if place < len(few) and few[place] == block[k]:
                twice += np.searchsorted(few[place:], block[k], side="right")
    return twice


def _checked(Y_true, Y_score):
    Y_true = np.asarray(Y_true)
    scores = np.asarray(Y_score, dtype=np.float64)
    if Y_true.ndim != 2 or scores.ndim < 2 or scores.shape[-2:] != Y_true.shape:
        raise InputError(
            f"Y_true has shape {Y_true.shape} and Y_score {scores.shape}: the last two axes of "
            "the scores must be those of the labels"
        )
    if np.isnan(scores).any():
        raise InputError("Y_score holds NaN: give a number for every pair")
    if not Y_true.size:
        raise InputError("Y_true is empty: give at least one label")
    positive = Y_true == Y_true.max()
    lowest = Y_true.min()
    if not (positive | (Y_true == lowest)).all():
        raise InputError("Y_true has more than two different values: AUC needs two classes")
    return positive, scores


def _shaped(values):
    return values if values.ndim else float(values)
