"""Interaction concordance: whether a model has learned more than row and column effects."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from kronbench.errors import InputError
from kronbench.evaluation.ranking import checked_vectors, count_concordant, share_of

_ROUNDING = 1e-6  # of the range of the labels or scores: what six printed digits leave


def interaction_concordance(
    y: ArrayLike, score: ArrayLike, rows: ArrayLike, cols: ArrayLike
) -> float:
    """Share of 2 x 2 blocks of pairs whose interaction has the right sign.

    The interaction of rows a, b and columns c, d is f(a, c) - f(a, d) - f(b, c) + f(b, d). A block
    counts where all of its four pairs are given and its interaction of ``y`` is not zero; a zero
    interaction of ``score`` counts half. So every additive model, a row effect plus a column
    effect, has exactly one half; interactions below 1e-6 of the range of the values are zero. NaN
    where no block counts (Pahikkala, Numminen & Airola 2025, arXiv 2510.14419).

    Parameters
    ----------
    y, score : (n,) arrays of numbers
    rows, cols : (n,) integer arrays
        The vertices of each pair; a pair occurs once.

    Notes
    -----
    For two rows this is the concordance index of the differences f(a, c) - f(b, c) over the
    columns that both have. With m vertices on the side that has fewer: O(m n + m^2 q log q).
    """
    y, score = checked_vectors(y, score)
    y, rows, cols = y.astype(np.float64), np.asarray(rows), np.asarray(cols)
    if not (y.shape == rows.shape == cols.shape and len(y)):
        raise InputError(
            f"y, rows and cols have shapes {y.shape}, {rows.shape} and {cols.shape}: give (n,) "
            "arrays, one entry a pair"
        )
    (_, few), (_, many) = (np.unique(side, return_inverse=True) for side in (rows, cols))
    if few.max() > many.max():
        few, many = many, few
    order = np.lexsort((many, few))
    few, many = few[order], many[order]
    if ((np.diff(few) == 0) & (np.diff(many) == 0)).any():
        raise InputError("a pair occurs twice: give each pair once")
    bounds = np.searchsorted(few, np.arange(few.max() + 2))
    counts = _count_blocks(
        bounds, many, y[order], score[order], _ROUNDING * np.ptp(y), _ROUNDING * np.ptp(score)
    )
    return share_of(counts, "half")


@njit(cache=True, nogil=True)
def _count_blocks(bounds, others, y, score, y_least, score_least):
    """Concordant, tied and comparable blocks; the pairs are sorted by vertex, then by other."""
    longest = np.diff(bounds).max()
    y_gap, score_gap = np.empty(longest), np.empty(longest)
    concordant, tied, comparable = 0, 0, 0
    for a in range(len(bounds) - 1):
        for b in range(a + 1, len(bounds) - 1):
            i, j, n = bounds[a], bounds[b], 0
            while i < bounds[a + 1] and j < bounds[b + 1]:
                if others[i] == others[j]:
                    y_gap[n], score_gap[n] = y[i] - y[j], score[i] - score[j]
                    n += 1
                    i += 1
                    j += 1
                elif others[i] < others[j]:
                    i += 1
                else:
                    j += 1
            if n < 2:
                continue
            by_y = np.argsort(y_gap[:n])
            group = _places(y_gap[:n], by_y, y_least)
            rank = _places(score_gap[:n], np.argsort(score_gap[:n]), score_least)
            found = count_concordant(group[by_y], rank[by_y])
            concordant += found[0]
            tied += found[1]
            comparable += found[2]
    return concordant, tied, comparable


@njit(cache=True)
def _places(values, order, least):
    """Rank of each value; neighbours that differ by at most ``least`` share one."""
    rank = np.zeros(len(values), np.int64)
    for k in range(1, len(values)):
        step = values[order[k]] - values[order[k - 1]] > least
        rank[order[k]] = rank[order[k - 1]] + step
    return rank
