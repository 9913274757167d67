"""Algorithm 1 with its operations counted as printed."""

from __future__ import annotations

import numpy as np

from kronbench.pairs import SampledKroneckerOperator


def algorithm_1(
    M: np.ndarray,
    N: np.ndarray,
    p: np.ndarray,
    q: np.ndarray,
    r: np.ndarray,
    t: np.ndarray,
    v: np.ndarray,
) -> tuple[np.ndarray, int]:
    """The product u = R (M kron N) C' v by the package, and the operations of Algorithm 1.

    Parameters
    ----------
    M : (a, b) array
    N : (c, d) array
    p, q : (f,) integer arrays
        Rows of M and of N for each entry of u.
    r, t : (e,) integer arrays
        Columns of M and of N for each entry of v.
    v : (e,) array

    Returns
    -------
    u : (f,) array
    operations : int
        Multiplications and additions of the cheaper branch, counted as printed.
    """
    (a, b), (c, d), e, f = M.shape, N.shape, len(r), len(p)
    _, operations = branch(a * e + d * f < c * e + b * f, M, N, p, q, r, t, v)
    return SampledKroneckerOperator(N, M, q, p, t, r, method="sparse") @ v, operations


def branch(
    first: bool,
    M: np.ndarray,
    N: np.ndarray,
    p: np.ndarray,
    q: np.ndarray,
    r: np.ndarray,
    t: np.ndarray,
    v: np.ndarray,
) -> tuple[np.ndarray, int]:
    """Lines 2-11 (``first``) or 13-22 of Algorithm 1: the product, and the operations it took."""
    if first:
        terms = v[:, None] * M[:, r].T
        T = np.zeros((N.shape[1], M.shape[0]))
        np.add.at(T, t, terms)
        products = N[q] * T[:, p].T
    else:
        terms = v[:, None] * N[:, t].T
        S = np.zeros((M.shape[1], N.shape[0]))
        np.add.at(S, r, terms)
        products = S[:, q].T * M[p]
    return products.sum(axis=1), 2 * (terms.size + products.size)


def restricted(M: np.ndarray, N: np.ndarray, *pairs: np.ndarray) -> tuple[np.ndarray, ...]:
    """The matrices and p, q, r, t over the vertices that occur in these."""
    (p_used, p), (q_used, q), (r_used, r), (t_used, t) = (
        np.unique(index, return_inverse=True) for index in pairs
    )
    return M[np.ix_(p_used, r_used)], N[np.ix_(q_used, t_used)], p, q, r, t
