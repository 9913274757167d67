"""Concordance: how many pairs, or 2 x 2 blocks of pairs, a prediction puts in the right order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from kronbench.errors import InputError

# Differences up to this share of the range of labels or scores are ties: six printed digits leave
# as much.
_TIE_SHARE_OF_RANGE = 1e-6


def concordance_index(
    y: ArrayLike, score: ArrayLike, *, ties: str = "half", pairs: str = "all"
) -> float:
    """Share of the pairs with different ``y`` that ``score`` orders alike.

    Equal to the AUC for two classes. Counted in integers, in O(n log n), and O(n^2) for
    ``pairs="later"``. NaN where no pair can be compared.

    Parameters
    ----------
    y, score : (n,) arrays of numbers
    ties : {"half", "zero"}
        What a pair with equal scores counts. "zero" is what ``cindex_score`` of DeepDTA's
        repository gives with TensorFlow 1, where a comparison with zero is one of identities.
    pairs : {"all", "later"}
        "later": only pairs whose later entry has the larger ``y``, so that the order of the
        entries matters, as in both functions of DeepDTA's repository, ``cindex_score`` and
        ``get_cindex`` (with ``ties="half"``).
    """
    y, score = checked_arrays(y, score)
    if ties not in ("half", "zero"):
        raise InputError(f"ties={ties!r} is unknown: give 'half' or 'zero'")
    if pairs not in ("all", "later"):
        raise InputError(f"pairs={pairs!r} is unknown: give 'all' or 'later'")
    # Values are replaced by their ranks, so that all comparisons are of integers.
    order = np.argsort(y, kind="stable") if pairs == "all" else np.arange(len(y))
    _, group = np.unique(y[order], return_inverse=True)
    _, rank = np.unique(score[order], return_inverse=True)
    count = _count_concordant if pairs == "all" else _count_later
    return _share(count(group, rank), 0.5 if ties == "half" else 0.0)


def macro_concordance_index(y: ArrayLike, score: ArrayLike, vertices: ArrayLike) -> float:
    """Mean of the concordance indices among the pairs of each vertex, say of each row.

    ``vertices`` (n,) are the row vertices of the pairs, or their column vertices: positions or
    names. The mean is over those that have two different ``y``; NaN where none has.
    """
    y, score = checked_arrays(y, score)
    vertices = np.asarray(vertices)
    if vertices.shape != y.shape:
        raise InputError(f"vertices has shape {vertices.shape}: give one for each of {len(y)} y")
    # Each part has the positions of the pairs of one vertex.
    _, vertices = np.unique(vertices, return_inverse=True)
    order = np.argsort(vertices, kind="stable")
    begins = np.flatnonzero(np.diff(vertices[order], prepend=-1))
    parts = np.split(order, begins[1:])
    indices = np.array([concordance_index(y[part], score[part]) for part in parts])
    indices = indices[~np.isnan(indices)]
    return float(indices.mean()) if len(indices) else np.nan


def interaction_concordance(
    y: ArrayLike, score: ArrayLike, rows: ArrayLike, cols: ArrayLike
) -> float:
    """Share of 2 x 2 blocks of pairs whose interaction has the right sign.

    The interaction of rows a, b and columns c, d is f(a, c) - f(a, d) - f(b, c) + f(b, d). A block
    counts where all of its four pairs are given and its interaction of ``y`` is not zero; a zero
    interaction of ``score`` counts half. So every additive model, a row effect plus a column
    effect, has exactly one half: this asks whether a model has learned more. Interactions below
    1e-6 of the range of the values are zero. NaN where no block counts (Pahikkala, Numminen &
    Airola 2025, arXiv 2510.14419).

    All are (n,) arrays, one entry a pair; a pair occurs once. For two rows this is the concordance
    index of the differences f(a, c) - f(b, c) over the columns that both have. With m vertices on
    the side that has fewer: O(m n + m^2 q log q).
    """
    y, score = checked_arrays(y, score)
    rows, cols = np.asarray(rows), np.asarray(cols)
    if not (y.shape == rows.shape == cols.shape and len(y)):
        raise InputError(
            f"y, rows and cols have shapes {y.shape}, {rows.shape} and {cols.shape}: give (n,) "
            "arrays, one entry a pair"
        )
    # Rows a, b of a block are of the side with fewer vertices, columns c, d those that both have.
    (_, few), (_, many) = (np.unique(side, return_inverse=True) for side in (rows, cols))
    if few.max() > many.max():
        few, many = many, few
    order = np.lexsort((many, few))
    few, many = few[order], many[order]
    if ((np.diff(few) == 0) & (np.diff(many) == 0)).any():
        raise InputError("a pair occurs twice: give each pair once")
    bounds = np.searchsorted(few, np.arange(few.max() + 2))
    least = [_TIE_SHARE_OF_RANGE * np.ptp(values) for values in (y, score)]
    return _share(_count_blocks(bounds, many, y[order], score[order], *least), 0.5)


def _share(counts, tie):
    """The index of so many concordant, tied and comparable pairs; NaN where there are none."""
    concordant, tied, comparable = counts
    return (concordant + tie * tied) / comparable if comparable else np.nan


@njit(cache=True)
def _count_concordant(group, rank):
    """Concordant, tied and comparable pairs; ``group`` is sorted (0, 0, 1, ...)."""
    # A Fenwick tree counts the entries of the lower groups by rank: a sum up to a rank, and one
    # more entry, take O(log n) each.
    n = len(group)
    tree = np.zeros(n + 1, np.int64)
    concordant, tied, comparable, start = 0, 0, 0, 0
    while start < n:
        # Each entry of a group is compared with all entries of the lower groups.
        stop = start
        while stop < n and group[stop] == group[start]:
            below = _prefix(tree, rank[stop])
            concordant += below
            tied += _prefix(tree, rank[stop] + 1) - below
            stop += 1
        # Only then do its own entries join them: pairs within a group are not comparable.
        comparable += start * (stop - start)
        for i in range(start, stop):
            node = rank[i] + 1
            while node <= n:
                tree[node] += 1
                node += node & -node
        start = stop
    return concordant, tied, comparable


@njit(cache=True)
def _prefix(tree, n):
    """Sum of the first n entries."""
    total = 0
    while n > 0:
        total += tree[n]
        n &= n - 1
    return total


@njit(cache=True)
def _count_later(group, rank):
    """The same of the pairs whose later entry is of the higher group."""
    concordant, tied, comparable = 0, 0, 0
    for later in range(len(group)):
        for i in range(later):
            if group[i] < group[later]:
                comparable += 1
                concordant += rank[i] < rank[later]
                tied += rank[i] == rank[later]
    return concordant, tied, comparable


@njit(cache=True, nogil=True)
def _count_blocks(bounds, others, y, score, y_least, score_least):
    """Concordant, tied and comparable blocks; the pairs are sorted by vertex, then by other."""
    longest = np.diff(bounds).max()
    y_gap, score_gap = np.empty(longest), np.empty(longest)
    concordant, tied, comparable = 0, 0, 0
    for a in range(len(bounds) - 1):
        for b in range(a + 1, len(bounds) - 1):
            # The columns that both rows have are merged out of their sorted lists.
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
            # Columns c, d make a concordant block where y and score order their gaps
            # f(a, .) - f(b, .) alike.
            by_y = np.argsort(y_gap[:n])
            group = _places(y_gap[:n], by_y, y_least)
            rank = _places(score_gap[:n], np.argsort(score_gap[:n]), score_least)
            counts = _count_concordant(group[by_y], rank[by_y])
            concordant += counts[0]
            tied += counts[1]
            comparable += counts[2]
    return concordant, tied, comparable


@njit(cache=True)
def _places(values, order, least):
    """Rank of each value; neighbours that differ by at most ``least`` share one."""
    rank = np.zeros(len(values), np.int64)
    for k in range(1, len(values)):
        step = values[order[k]] - values[order[k - 1]] > least
        rank[order[k]] = rank[order[k - 1]] + step
    return rank


def checked_arrays(
    y: ArrayLike, score: ArrayLike, names: Sequence[str] = ("y", "score"), ndim: int = 1
) -> list[np.ndarray]:
    """Labels and scores as two arrays of float64; InputError where they are not."""
    arrays = []
    for array, name in zip((y, score), names, strict=True):
        values = np.asarray(array)
        if values.dtype == object:
            try:
                values = values.astype(np.float64)
            except (TypeError, ValueError):
                raise InputError(
                    f"{name} holds something other than numbers: give numbers"
                ) from None
        if values.dtype.kind not in "biuf":
            raise InputError(f"{name} has dtype {values.dtype}: give numbers")
        check_no_nan(values, name)
        arrays.append(values.astype(np.float64, copy=False))
    shapes = [array.shape for array in arrays]
    if shapes[0] != shapes[1] or len(shapes[0]) != ndim:
        raise InputError(
            f"{names[0]} has shape {shapes[0]} and {names[1]} {shapes[1]}: give two "
            f"{'(n,)' if ndim == 1 else '(m, q)'} arrays"
        )
    return arrays


def check_no_nan(values: np.ndarray, name: str) -> None:
    """InputError where an array holds NaN, which has no place in an order."""
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise InputError(f"{name} holds NaN: give a number for every entry")
