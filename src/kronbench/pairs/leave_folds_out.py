"""Exact predictions of ridge regression on complete data for parts that are left out together.

Settings, symbols and the two forms with H and I - H are those of :mod:`.leave_one_out`. Without
the labels of a part P ridge regression with the hat matrix H predicts f, where

    (I - H)_PP f = (H Z)_P = -((I - H) Z)_P    for Z, the labels with zeros in P

(Pahikkala, Boberg & Salakoski 2006). ``folds`` has numbers of parts, equal for what is left out
together: ((m,),) of the rows in setting B, ((q,),) of the columns in C, both in D, ((m, q),) of
the pairs in A.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from scipy.sparse.linalg import LinearOperator
from sklearn.exceptions import ConvergenceWarning

from kronbench.linalg import cg
from kronbench.linalg.eigen import Spectrum
from kronbench.pairs.leave_one_out import kron_both

_CHUNK_BYTES = 1 << 25  # of the blocks of some columns
_TOL, _MOST_ITERATIONS = 1e-13, 5000  # of the systems of parts of the pairs

Folds = tuple[np.ndarray, ...]


def kron_leave_folds_out(
    setting: str, rows: Spectrum, cols: Spectrum, Y: np.ndarray, regs: np.ndarray, folds: Folds
) -> Iterator[np.ndarray]:
    """Yield the predictions (m, q) of Kronecker ridge regression for each of regs.

    The spectra are full. k parts of the rows cost O(m^2 q + m^3 q / k) a value in B, for in the
    direction of each eigenvector of G they are parts of a ridge regression of its own; in D as in
    leave-one-out and, for each node, O(m^3 / k + q^3 / l). In A O(m q (m + q)) an iteration.
    """
    if setting == "C":
        for F in kron_leave_folds_out("B", cols, rows, Y.T, regs, folds):
            yield F.T
        return
    coordinates = rows.coordinates(Y) @ cols.vectors
    for reg in regs:
        products = np.outer(rows.values, cols.values)
        hat, rest = products / (products + reg), reg / (products + reg)
        if setting == "A":
            yield _left_out_pairs(rows, cols, hat, rest, Y, folds[0])
        elif setting == "B":
            yield _left_out_rows(rows, hat, rest, Y @ cols.vectors, folds[0]) @ cols.vectors.T
        else:
            yield kron_both(rows, cols, coordinates, reg, [parts(fold) for fold in folds])


def two_step_leave_folds_out(
    setting: str,
    rows: Spectrum,
    cols: Spectrum,
    Y: np.ndarray,
    regs_rows: np.ndarray,
    regs_cols: np.ndarray,
    folds: Folds,
) -> Iterator[tuple[tuple[int, int], np.ndarray]]:
    """Yield ((i, j), F): the predictions F (m, q) for regs_rows[i] and regs_cols[j].

    Each side smooths or leaves out parts, in O(m q q) a point and O(m^3 / k + q^3 / l) for k and l
    parts; in A the model is that of Theorem 2 of Stock et al. 2016, as in its Corollary 2.
    """
    row_fold = folds[0] if setting in "BD" else None
    col_fold = folds[-1] if setting in "CD" else None
    for i, reg_rows in enumerate(regs_rows):
        row_weights = _weights(rows, reg_rows)
        left = Y if setting == "A" else _one_side(rows, *row_weights, Y, row_fold).T
        for j, reg_cols in enumerate(regs_cols):
            col_weights = _weights(cols, reg_cols)
            if setting == "A":
                (x, y), (s, t) = row_weights, (weights.T for weights in col_weights)
                yield (i, j), _left_out_pairs(rows, cols, x * s, y + t - y * t, Y, folds[0])
            else:
                yield (i, j), _one_side(cols, *col_weights, left, col_fold).T


def ridge_leave_folds_out(
    setting: str, rows: Spectrum, Y: np.ndarray, regs: np.ndarray, folds: Folds
) -> Iterator[np.ndarray]:
    """Yield the predictions (m, q) of each column's own ridge regression for each of regs."""
    for reg in regs:
        weights = _weights(rows, reg)
        if setting == "B":
            yield _left_out_rows(rows, *weights, Y, folds[0])
        else:
            columns = zip(Y.T[:, :, None], folds[0].T, strict=True)
            yield np.hstack([_left_out_rows(rows, *weights, y, fold) for y, fold in columns])


def parts(fold: np.ndarray) -> list[np.ndarray]:
    """Positions with the same number, in the array as one row: a list of the parts."""
    _, counts = np.unique(fold, return_counts=True)
    return np.split(np.argsort(fold, axis=None, kind="stable"), np.cumsum(counts)[:-1])


def _weights(spectrum, reg):
    """Eigenvalues (k, 1) of H and of I - H of one side."""
    values = spectrum.values[:, None]
    return values / (values + reg), reg / (values + reg)


def _one_side(spectrum, hat, rest, Y, fold):
    if fold is None:
        return spectrum.vectors @ (hat * spectrum.coordinates(Y))
    return _left_out_rows(spectrum, hat, rest, Y, fold)


def _left_out_rows(spectrum, hat, rest, Y, fold):
    """Rows of Y (n, p) predicted without those of their part.

    ``hat`` and ``rest`` are eigenvalues of H and I - H, one column for all of Y or one for each.
    """
    near = spectrum.full & (rest.max(axis=0) < hat.max(axis=0))
    weights, coordinates = np.where(near, -rest, hat), spectrum.coordinates(Y)
    F = np.empty(Y.shape)
    for part in parts(fold):
        U = spectrum.vectors[part]
        sides = U @ (weights * (coordinates - U.T @ Y[part]))
        outside = 0.0 if spectrum.full else np.eye(len(part)) - U @ U.T
        if rest.shape[1] == 1:
            F[part] = np.linalg.solve((U * rest.T) @ U.T + outside, sides)
            continue
        step = max(1, _CHUNK_BYTES // (8 * U.size))
        for some in (slice(at, at + step) for at in range(0, Y.shape[1], step)):
            blocks = (U * rest.T[some, None]) @ U.T
            F[part, some] = np.linalg.solve(blocks, sides.T[some, :, None])[..., 0].T
    return F


def _left_out_pairs(rows, cols, hat, rest, Y, fold):
    """Entries of Y (m, q) predicted without those of their part, by conjugate gradients."""
    full = rows.full and cols.full
    near = full and rest.max() < hat.max()
    F, stops = np.empty(Y.size), set()

    def filtered(weights, Z):
        inner = weights * (rows.coordinates(Z) @ cols.vectors)
        return rows.vectors @ inner @ cols.vectors.T

    def complement(v):
        """(I - H)_PP v."""
        Z = np.zeros(Y.shape)
        Z.flat[part] = v
        return (filtered(rest, Z) if full else Z - filtered(hat, Z)).flat[part]

    for part in parts(fold):
        Z = Y.copy()
        Z.flat[part] = 0.0
        side = (filtered(-rest, Z) if near else filtered(hat, Z)).flat[part]
        system = LinearOperator((len(part),) * 2, matvec=complement, dtype=np.float64)
        found = cg(system, side, tol=_TOL, max_iter=_MOST_ITERATIONS)
        F[part] = found.x
        stops.add(found.stop)
    return F.reshape(Y.shape)
