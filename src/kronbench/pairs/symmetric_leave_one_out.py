"""Leave-one-out predictions where rows and columns are the same vertices, in the same order.

The label of (j, i) tells that of (i, j) where labels are symmetric or antisymmetric, so that both
are left out (A); a vertex is left out of rows and columns (B its row, C its column is predicted),
or the two vertices of a pair are (D). Labels need no symmetry, and the sides may have kernels of
their own. R = I - H of the rows, S of the columns, as in :mod:`.leave_one_out`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kronbench.linalg.eigen import Spectrum
from kronbench.pairs.leave_folds_out import separable_rest


def kron_symmetric_pairs(
    rows: Spectrum, cols: Spectrum, Y: np.ndarray, regs: np.ndarray
) -> Iterator[np.ndarray]:
    """Yield the predictions (m, m) of Kronecker ridge regression without (i, j) and (j, i).

    The entry of the hat matrix between both is a sum over products of eigenvectors, for all pairs
    O(m^3) for each term of a separable expansion of their weights. The spectra are full.
    """
    U, V = rows.vectors, cols.vectors
    coordinates = rows.coordinates(Y) @ V
    for reg in regs:
        rest = reg / (np.outer(rows.values, cols.values) + reg)
        between = np.zeros(Y.shape)
        for x, s in zip(*separable_rest(rows, cols, reg), strict=True):
            between += ((U * x) @ U.T) * ((V * s) @ V.T)
        residual = U @ (rest * coordinates) @ V.T
        yield _without_both(Y, residual, rows.squared @ rest @ cols.squared.T, between)


def two_step_symmetric(
    setting: str,
    rows: Spectrum,
    cols: Spectrum,
    Y: np.ndarray,
    regs_rows: np.ndarray,
    regs_cols: np.ndarray,
) -> Iterator[tuple[tuple[int, int], np.ndarray]]:
    """Yield ((i, j), F): two-step predictions F (m, m) for regs_rows[i], regs_cols[j]; O(m^3)."""
    predicted = {"A": _pairs, "B": _row, "C": _col, "D": _both_vertices}[setting]
    for i, reg_rows in enumerate(regs_rows):
        R = _complement(rows, reg_rows)
        for j, reg_cols in enumerate(regs_cols):
            yield (i, j), predicted(R, _complement(cols, reg_cols), Y)


def _complement(spectrum, reg):
    """I - H (n, n)."""
    U, rest = spectrum.vectors, reg / (spectrum.values + reg)
    return (U * rest) @ U.T + (0.0 if spectrum.full else np.eye(len(U)) - U @ U.T)


def _without_both(Y, residual, diagonal, between):
    """Two equations for each pair: ``diagonal`` and ``between`` are the entries of I - H."""
    np.fill_diagonal(between, 0.0)
    determinant = diagonal * diagonal.T - between**2
    return Y - (diagonal.T * residual - between * residual.T) / determinant


def _pairs(R, S, Y):
    RY, r, s = R @ Y, np.diagonal(R)[:, None], np.diagonal(S)
    return _without_both(Y, RY + Y @ S - RY @ S, r + s - r * s, -R * S)


def _row(R, S, Y):
    """Row i by R without i, smoothed by I - S without i; (i, i) as if it were left out twice."""
    left = Y - R @ Y / np.diagonal(R)[:, None]
    turned = left @ S
    own = np.diagonal(turned) / np.diagonal(S)
    F = left - turned + own[:, None] * S
    np.fill_diagonal(F, np.diagonal(left) - own)
    return F


def _col(R, S, Y):
    return _row(S, R, Y.T).T


def _both_vertices(R, S, Y):
    """(e_i - a R_i - b R_j)' Y (e_j - c S_i - d S_j), each side zero at i and at j."""
    r, s = np.diagonal(R)[:, None], np.diagonal(S)[:, None]
    of_rows, of_cols = r * r.T - R * R, s * s.T - S * S  # determinants
    for determinant in (of_rows, of_cols):
        np.fill_diagonal(determinant, 1.0)  # of a pair (i, i), which is set below
    a, b, c, d = r.T / of_rows, -R / of_rows, -S / of_cols, s / of_cols
    RY, YS = R @ Y, Y @ S
    RYS = RY @ S
    ry, ys, rys = map(np.diagonal, (RY, YS, RYS))
    F = Y - a * RY - b * ry - c * ys[:, None] - d * YS
    F += a * (c * rys[:, None] + d * RYS) + b * (c * RYS.T + d * rys)
    np.fill_diagonal(F, np.diagonal(_row(R, S, Y)))
    return F
