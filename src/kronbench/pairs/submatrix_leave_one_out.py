"""Leave-one-out for Kronecker ridge regression, one submatrix of a kernel after another."""

from __future__ import annotations

import numpy as np

from kronbench.errors import InputError, check_positive


def kron_by_submatrices(setting, K, G, Y, regs, rows=None, cols=None) -> np.ndarray:
    """Predictions of labels by a model without their row (B), column (C) or both (D).

    Stock et al. 2016, Section 6.1: in settings B and C one eigendecomposition of K (G) without
    row (column) i for each i, those of the other kernel made once; in setting D one of K without
    row i, and one of G without j for each pair (i, j), so that one of each is in memory at a time.
    O(m^4 + s m^2 q) for s weights in B, O(m q (q^3 + m q (m + q) + s m q)) in D.
    ``CompleteKronRidge.loo_grid`` gives the same by shortcuts.

    Parameters
    ----------
    setting : {"B", "C", "D"}
    K : (m, m) array
        Positive semidefinite, like G.
    G : (q, q) array
    Y : (m, q) array
    regs : (s,) array of positive numbers
    rows, cols : integer arrays, optional
        Predict the labels of these rows and columns alone, a sample of what is to be left out; all
        where not given. Nothing is decomposed for the others.

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
            f"setting={setting!r}: give 'B', 'C' or 'D'; leaving out single pairs leaves no "
            "Kronecker product"
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
    predicted = np.empty((len(regs), len(rows), len(cols)))
    for at, F in enumerate(_left_out_rows(K, G, Y, regs, rows, cols, pairwise=setting == "D")):
        predicted[:, at] = F
    return predicted.transpose(0, 2, 1) if setting == "C" else predicted


def _left_out_rows(K, G, Y, regs, rows, cols, pairwise):
    """Yield the predictions (s, len(cols)) of one row after another, for all weights."""
    whole = None if pairwise else np.linalg.eigh(G)
    for i in rows:
        kept = np.delete(np.arange(len(K)), i)
        x, U = np.linalg.eigh(K[np.ix_(kept, kept)])
        left, Z = K[i, kept] @ U, U.T @ Y[kept]
        if not pairwise:
            s, V = whole
            inner = left[:, None] * (Z @ V)
            yield np.array([_responses(inner, x, s, reg) for reg in regs]) @ (V[cols] * s).T
            continue
        F = np.empty((len(regs), len(cols)))
        for at, j in enumerate(cols):
            others = np.delete(np.arange(len(G)), j)
            s, V = np.linalg.eigh(G[np.ix_(others, others)])
            inner = left[:, None] * (Z[:, others] @ V)
            right = G[j, others] @ V
            F[:, at] = [_responses(inner, x, s, reg) @ right for reg in regs]
        yield F


def _responses(inner, x, s, reg):
    """Sum over a of inner_ab / (x_a s_b + reg), for eigenvalues cut at zero."""
    return np.sum(inner / (np.outer(np.maximum(x, 0.0), np.maximum(s, 0.0)) + reg), axis=0)
