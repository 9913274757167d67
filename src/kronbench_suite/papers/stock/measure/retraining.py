"""Leave-one-out of Kronecker ridge regression by retraining on submatrices of the kernels."""

import numpy as np


def retrained_kron_leave_one_out(setting, K, G, Y, regs, rows=None, cols=None, reuse=False):
    """Predictions (s, m, q) of labels without their row (B), column (C) or both (D).

    Stock et al. 2016, Section 6.1: in settings B and C one eigendecomposition of K (G) without
    row (column) i for each i, those of the other kernel made once; in setting D one of K without
    row i, and one of G without j for each pair (i, j), kept for all rows with ``reuse``.
    O(m^4 + s m^2 q) for s ``regs`` in B, O(m q (q^3 + m q (m + q) + s m q)) in D. Only the labels
    of ``rows`` and ``cols`` are predicted, by default all.
    """
    rows = np.arange(len(K)) if rows is None else rows
    cols = np.arange(len(G)) if cols is None else cols
    # Setting C is setting B of the transposed problem.
    if setting == "C":
        K, G, Y, rows, cols = G, K, Y.T, cols, rows
    predicted = np.empty((len(regs), len(rows), len(cols)))
    if setting == "D":
        kept_cols = [_without(G, j) for j in cols] if reuse else []
    else:
        # The eigenpairs of the other kernel are made once for all.
        s, V = np.linalg.eigh(G)
    for at, i in enumerate(rows):
        # Without row i: the eigenpairs of what is left, and its kernel values.
        kept, x, U = _without(K, i)
        left, Z = K[i, kept] @ U, U.T @ Y[kept]
        if setting != "D":
            # The whole row at every weight.
            inner = left[:, None] * (Z @ V)
            responses = np.array([_responses(inner, x, s, reg) for reg in regs])
            predicted[:, at] = responses @ (V[cols] * s).T
            continue
        for place, j in enumerate(cols):
            # Setting D: without column j too, one label at a time.
            others, s, V = kept_cols[place] if reuse else _without(G, j)
            inner, right = left[:, None] * (Z[:, others] @ V), G[j, others] @ V
            predicted[:, at, place] = [_responses(inner, x, s, reg) @ right for reg in regs]
    return predicted.transpose(0, 2, 1) if setting == "C" else predicted


def _without(kernel, i):
    """The indices that are left without i, and the eigenpairs of their block."""
    kept = np.delete(np.arange(len(kernel)), i)
    return kept, *np.linalg.eigh(kernel[np.ix_(kept, kept)])


def _responses(inner, x, s, reg):
    """Sum over a of inner_ab / (x_a s_b + reg), for eigenvalues cut at zero."""
    return np.sum(inner / (np.outer(np.maximum(x, 0.0), np.maximum(s, 0.0)) + reg), axis=0)
