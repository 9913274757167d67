"""The best of all pairs of some vertices, found in blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from kronbench.errors import InputError
from kronbench.pairs.data import PairData
from kronbench.progress import progress
from kronbench.solvers import scores_of

# Rows and columns of a block: its million predictions, their pairs and the kernel values of its
# vertices are all that is in memory, beside the best pairs so far.
_BLOCK = 2048, 512


def screen(
    model: Any,
    X: PairData,
    top: int | None = 100,
    per_row: int | None = None,
    *,
    smallest: bool = False,
    verbose: bool = False,
) -> tuple[PairData, np.ndarray]:
    """The pairs of the vertices of X that a fitted model predicts highest, without those in X.

    Parameters
    ----------
    model : estimator of pairs
        Ranked is its ``decision_function``, or what it predicts where it has none.
    X : PairData
        All pairs of its m row and q column vertices are ranked. The pairs that it has are known,
        and left out: the training pairs, or none, as in ``PairData(rows, cols, [], [])``.
    top : int or None, default 100
        How many pairs are wanted; None for all that ``per_row`` leaves.
    per_row : int, optional
        The most pairs of a row vertex.
    smallest : bool, default False
        Whether small predictions are best, as of a dissociation constant.
    verbose : bool, default False
        Whether to show progress.

    Returns
    -------
    PairData of k pairs over the same vertices, the best first, and their predictions (k,)
        Equal predictions come in the order of the rows, then of the columns.

    Notes
    -----
    It takes the time of m q predictions, and memory of a million of them and of 3 k numbers.
    InputError where a prediction is not finite.
    """
    for name, value in (("top", top), ("per_row", per_row)):
        if value is not None and not (isinstance(value, int | np.integer) and value >= 1):
            raise InputError(f"{name}={value!r}: give a whole number of at least 1, or None")
    pairs = X[:0]

    def predict(rows, cols):
        pairs.rows, pairs.cols = rows, cols
        return scores_of(model, pairs)

    shape = X.n_rows, X.n_cols
    known = sparse.csr_array((np.ones(len(X), bool), (X.rows, X.cols)), shape)
    pairs.rows, pairs.cols, scores = best_pairs(predict, known, top, per_row, smallest, verbose)
    return pairs, scores


def best_pairs(
    predict: Callable[[np.ndarray, np.ndarray], np.ndarray],
    known: sparse.csr_array,
    top: int | None,
    per_row: int | None = None,
    smallest: bool = False,
    verbose: bool = True,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows (k,), columns (k,) and predictions (k,) of the best pairs, as :func:`screen` has them.

    ``predict`` takes rows (t,) and columns (t,), ``known`` (m, q) is true where a pair is left
    out.
    """
    (m, q), sign = known.shape, -1.0 if smallest else 1.0
    best: list = [(np.empty(0), *np.empty((2, 0), np.intp))]
    with progress(m * q, "screen", "pair", verbose) as bar:
        for first in range(0, m, _BLOCK[0]):
            rows = np.arange(first, min(first + _BLOCK[0], m))
            strip: list = []
            for start in range(0, q, _BLOCK[1]):
                cols = np.arange(start, min(start + _BLOCK[1], q))
                # A block is predicted whole, for which the models have their fastest products.
                scores = predict(np.repeat(rows, len(cols)), np.tile(cols, len(rows)))
                if not np.isfinite(scores).all():
                    raise InputError("some predictions are not finite: scale the features")
                block = sign * np.reshape(scores, (len(rows), len(cols))).astype(np.float64)
                block[known[first : rows[-1] + 1, start : cols[-1] + 1].nonzero()] = -np.inf
                i, j = _high(block, top, per_row)
                part = block[i, j], rows[i], cols[j]
                strip = [_best([*strip, part], top, per_row)]
                bar.update(block.size)
            # The rows of a strip come in no other, so that per_row is done with.
            best = [*best, *strip] if top is None else [_best([*best, *strip], top)]
    scores, of_rows, of_cols = _best(best, top)
    return of_rows, of_cols, sign * scores


def _high(block, top, per_row):
    """Places of all entries that may be among the best, with those equal to the last of them."""
    high = block > -np.inf
    if per_row is not None and (cut := block.shape[1] - per_row) > 0:
        high &= block >= np.partition(block, cut, axis=1)[:, [cut]]
    if top is not None and np.count_nonzero(high) > top:
        high &= block >= np.partition(block[high], -top)[-top]
    return np.nonzero(high)


def _best(parts, top, per_row=None):
    """The best of several (scores, rows, cols), in order."""
    parts = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
    scores, rows, cols = parts
    order = np.lexsort((cols, rows, -scores))
    if per_row is not None:
        # Sorted by rows, those of a row stay in order; the place of each counts from its first.
        by_row = np.argsort(rows[order], kind="stable")
        of_rows = rows[order][by_row]
        place = np.arange(len(order)) - np.searchsorted(of_rows, of_rows)
        order = order[np.sort(by_row[place < per_row])]
    return tuple(array[order[:top]] for array in parts)
