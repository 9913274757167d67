"""Leave-one-out of Kronecker ridge regression by retraining on submatrices of the kernels."""

from __future__ import annotations

import numpy as np


def retrained_kron_leave_one_out(
    setting: str,
    K: np.ndarray,
    G: np.ndarray,
    Y: np.ndarray,
    regs: np.ndarray,
    rows: np.ndarray | None = None,
    cols: np.ndarray | None = None,
    reuse: bool = False,
) -> np.ndarray:
    """Predictions (s, m, q) of labels without their row (B), column (C) or both (D).

    Stock et al. 2016, Section 6.1: in settings B and C one eigendecomposition of K (G) without
    row (column) i for each i, those of the other kernel made once; in setting D one of K without
    row i, and one of G without j for each pair (i, j). O(m^4 + s m^2 q) for s ``regs`` in B,
    O(m q (q^3 + m q (m + q) + s m q)) in D. Only the labels of ``rows`` and ``cols`` are
    predicted, by default all. With ``reuse`` setting D keeps the eigenpairs of G without j, q^3
    numbers, for all rows, and saves all but q of their decompositions.
    """
    rows = np.arange(len(K)) if rows is None else rows
    cols = np.arange(len(G)) if cols is None else cols
    if setting == "C":
        K, G, Y, rows, cols = G, K, Y.T, cols, rows
    if setting == "D":
        left_out = _left_out_pairs(K, G, Y, regs, rows, cols, reuse)
    else:
        left_out = _left_out_rows(K, G, Y, regs, rows, cols)
    predicted = np.empty((len(regs), len(rows), len(cols)))
    for at, F in enumerate(left_out):
        predicted[:, at] = F
    return predicted.transpose(0, 2, 1) if setting == "C" else predicted


def _left_out_rows(K, G, Y, regs, rows, cols):
    """Yield the predictions (s, len(cols)) of one row after another, for all values."""
    s, V = np.linalg.eigh(G)
    for i in rows:
        kept, x, U = _without(K, i)
        left = (K[i, kept] @ U)[:, None] * (U.T @ Y[kept] @ V)
        yield np.array([_responses(left, x, s, reg) for reg in regs]) @ (V[cols] * s).T


def _left_out_pairs(K, G, Y, regs, rows, cols, reuse):
    """The same without the column of each prediction either."""
    kept_cols = [_without(G, j) for j in cols] if reuse else []
    for i in rows:
        kept, x, U = _without(K, i)
        left, Z = K[i, kept] @ U, U.T @ Y[kept]
        F = np.empty((len(regs), len(cols)))
        for at, j in enumerate(cols):
            others, s, V = kept_cols[at] if reuse else _without(G, j)
            inner = left[:, None] * (Z[:, others] @ V)
            right = G[j, others] @ V
            F[:, at] = [_responses(inner, x, s, reg) @ right for reg in regs]
        yield F


def _without(kernel, i):
    """The indices that are left without i, and the eigenpairs of their block."""
    kept = np.delete(np.arange(len(kernel)), i)
    return kept, *np.linalg.eigh(kernel[np.ix_(kept, kept)])


def _responses(inner, x, s, reg):
    """Sum over a of inner_ab / (x_a s_b + reg), for eigenvalues cut at zero."""
    return np.sum(inner / (np.outer(np.maximum(x, 0.0), np.maximum(s, 0.0)) + reg), axis=0)
