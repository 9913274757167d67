"""What row and column effects alone predict: the floor under every model of pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.linalg import lsqr

from kronbench.errors import InputError
from kronbench.pairs import PairData


def additive_scores(train: PairData, y: ArrayLike, test: PairData, reg: float = 1.0) -> np.ndarray:
    """Predictions by a mean, an effect of the row vertex and one of the column vertex.

    Minimizes sum_h (y_h - mean(y) - a[row] - b[col])^2 + reg (||a||^2 + ||b||^2). A vertex without
    training pairs has the effect 0: scores of new rows depend on the column only, and pairs that
    are new on both sides all get the mean. A model that is no better has only learned which
    vertices have high labels. Scores are rounded to 1e-9 of the largest deviation from the mean,
    so that vertices with equal effects are tied on every machine.

    ``y`` (n,) are numbers, ``test`` are t pairs over the vertices of ``train``, and ``reg`` is in
    units of pairs: with 1, the effect of a vertex with one training pair is halved.
    """
    if (train.n_rows, train.n_cols) != (test.n_rows, test.n_cols):
        raise InputError(
            f"train is over {train.n_rows} x {train.n_cols} vertices and test over "
            f"{test.n_rows} x {test.n_cols}: give pairs of the same vertices"
        )
    # Labels of largest size one give effects whose rounding does not depend on their unit.
    y = np.asarray(y, dtype=np.float64)
    mean = y.mean()
    scale = np.abs(y - mean).max() or 1.0
    # LSQR minimizes ||Z e - y||^2 + damp^2 ||e||^2 over the effects e of rows, then of columns.
    effects = lsqr(_indicators(train), (y - mean) / scale, np.sqrt(reg), atol=0, btol=1e-14)[0]
    # Rounding must not rank vertices with equal effects.
    return mean + scale * np.round(_indicators(test) @ effects, 9)


def _indicators(X):
    """(n, m + q): ones at the row and at the column vertex of each pair."""
    # Each row of the CSR matrix has two entries.
    columns = np.column_stack([X.rows, X.n_rows + X.cols]).ravel()
    entries = np.ones(len(columns)), columns, np.arange(0, len(columns) + 1, 2)
    return sparse.csr_array(entries, shape=(len(X), X.n_rows + X.n_cols))
