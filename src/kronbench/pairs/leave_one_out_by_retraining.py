"""Leave-one-out of Kronecker ridge regression by retraining on submatrices of the kernels."""

from __future__ import annotations

import numpy as np

from kronbench.errors import InputError, check_positive


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
    """Predictions of labels by a model without their row (B), column (C) or both (D).

    Stock et al. 2016, Section 6.1: in settings B and C one eigendecomposition of K (G) without
    row (column) i for each i, those of the other kernel made once; in setting D one of K without
    row i, and one of G without j for each pair (i, j). O(m^4 + s m^2 q) for s regularization
    values in B, O(m q (q^3 + m q (m + q) + s m q)) in D. ``CompleteKronRidge.loo_grid`` gives the
    same by shortcuts.

    Parameters
    ----------
    setting : {"B", "C", "D"}
    K, G : (m, m), (q, q) arrays
        Positive semidefinite.
    Y : (m, q) array
    regs : (s,) array of positive numbers
    rows, cols : integer arrays, optional
        Predict only the labels of these rows and columns; default: all.
    reuse : bool
        Whether setting D keeps the eigenpairs of G without j, q^3 numbers, for all rows, and
        saves all but q of their decompositions.

    Returns
    -------
    (s, m, q) array, or (s, len(rows), len(cols))

    Raises
    ------
    InputError
        Another setting, shapes that do not fit, or a weight that is not positive.
    """
    if setting not in ("B", "C", "D"):
        raise InputError(
            f"setting={setting!r}: give 'B', 'C' or 'D'; without a single pair the kernel "
            "matrix is not a Kronecker product"
        )
    K, G, Y = (np.asarray(array, dtype=np.float64) for array in (K, G, Y))
    if Y.ndim != 2 or (K.shape, G.shape) != ((len(Y), len(Y)), (Y.shape[1], Y.shape[1])):
        raise InputError(
            f"K, G and Y have shapes {K.shape}, {G.shape} and {Y.shape}: give (m, m), (q, q) and "
            "(m, q)"
        )
    regs = np.array([check_positive(reg, "regs") for reg in np.atleast_1d(regs).tolist()])
    rows = np.arange(len(K)) if rows is None else np.asarray(rows, dtype=int)
    cols = np.arange(len(G)) if cols is None else np.asarray(cols, dtype=int)
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
