"""Exact predictions of ridge regression on complete data for what is left out together.

Settings, symbols and the two forms with H and I - H are those of :mod:`.leave_one_out`. Without
the labels of a part P ridge regression with the hat matrix H predicts f, where

    (I - H)_PP f = (H Z)_P = -((I - H) Z)_P    for Z, the labels with zeros in P

(Pahikkala, Boberg & Salakoski 2006). ``folds`` has numbers of parts, equal for what is left out
together: ((m,),) of the rows in setting B, ((q,),) of the columns in C, both in D, ((m, q),) of
the pairs in A.

Where rows and columns are the same vertices, in the same order, a ``symmetric`` shortcut leaves
out (i, j) and (j, i) (A), whose labels may tell of each other; or a vertex of rows and columns (B
predicts its row, C its column), or the two vertices of a pair (D). Labels need no symmetry, and
the sides may have kernels of their own. There R = I - H of the rows, S of the columns.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from scipy.sparse.linalg import LinearOperator
from sklearn.exceptions import ConvergenceWarning

from kronbench.linalg import cg
from kronbench.linalg.adi_nodes import reciprocal_factors
from kronbench.linalg.eigen import Spectrum
from kronbench.pairs.leave_one_out import kron_both

_CHUNK_BYTES = 1 << 25  # of the blocks of some columns
_SYSTEM_TOL, _MOST_ITERATIONS = 1e-13, 1000  # of the systems of parts of the pairs
_RESIDUAL_TO_WARN_OF = 1e-9  # relative to the right-hand side

Folds = tuple[np.ndarray, ...]


def kron_leave_folds_out(
    setting: str, rows: Spectrum, cols: Spectrum, Y: np.ndarray, regs: np.ndarray, folds: Folds
) -> Iterator[np.ndarray]:
    """Yield the predictions (m, q) of Kronecker ridge regression for each of regs.

    The spectra are full, but for D. In the direction of each eigenvector of G parts of the rows
    (B) are those of a ridge regression of its own: k parts cost O(m^2 q + (m + q) N m^2 / k +
    q m^3 / k^2) a value, with N terms of a separable expansion of the hat matrices, and as many
    blocks (m/k, m/k) of memory. D costs as in leave-one-out, and O(m^3 / k + q^3 / l) for each of
    N nodes; A costs O(m^2 q + m q^2) an iteration.
    """
    if setting == "C":
        for F in kron_leave_folds_out("B", cols, rows, Y.T, regs, folds):
            yield F.T
        return
    for reg in regs:
        # These are the eigenvalues (m, q) of the hat matrix of G kron K and of its complement.
        products = np.outer(rows.values, cols.values)
        hat, rest = products / (products + reg), reg / (products + reg)
        if setting == "A":
            yield _parts_of_pairs(rows, cols, hat, rest, Y, folds[0])
        elif setting == "B":
            # The columns of Y V are ridge regressions of their own, with the kernels s_b K.
            factors, turned = separable_rest(rows, cols, reg), Y @ cols.vectors
            yield _parts_of_rows(rows, hat, rest, turned, folds[0], factors) @ cols.vectors.T
        else:
            yield kron_both(rows, cols, Y, reg, [parts(fold) for fold in folds])


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
    # A side without folds smooths: rows in C, columns in B.
    row_fold = folds[0] if setting in "BD" else None
    col_fold = folds[-1] if setting in "CD" else None
    for i, reg_rows in enumerate(regs_rows):
        row_weights = _weights(rows, reg_rows)
        left = Y if setting == "A" else _one_side(rows, *row_weights, Y, row_fold).T
        for j, reg_cols in enumerate(regs_cols):
            col_weights = _weights(cols, reg_cols)
            # The hat matrix of Theorem 2 is a product: with eigenvalues x of one side and s of the
            # other, y = 1 - x and t = 1 - s, its own are x s, and their complements y + t - y t.
            if setting == "A":
                (x, y), (s, t) = row_weights, (weights.T for weights in col_weights)
                yield (i, j), _parts_of_pairs(rows, cols, x * s, y + t - y * t, Y, folds[0])
            else:
                yield (i, j), _one_side(cols, *col_weights, left, col_fold).T


def ridge_leave_folds_out(
    setting: str, rows: Spectrum, Y: np.ndarray, regs: np.ndarray, folds: Folds
) -> Iterator[np.ndarray]:
    """Yield the predictions (m, q) of each column's own ridge regression for each of regs."""
    for reg in regs:
        weights = _weights(rows, reg)
        if setting == "B":
            yield _parts_of_rows(rows, *weights, Y, folds[0])
        else:
            # Each column has parts of its own in A.
            columns = zip(Y.T[:, :, None], folds[0].T, strict=True)
            yield np.hstack([_parts_of_rows(rows, *weights, y, fold) for y, fold in columns])


def separable_rest(rows: Spectrum, cols: Spectrum, reg: float) -> tuple[np.ndarray, np.ndarray]:
    """Factors (N, m), (N, q) of reg / (x s + reg), by :func:`reciprocal_factors`."""
    # It is 1 / (1 + kappa x s) for eigenvalues over the largest of their side.
    (x, most), (s, largest) = ((side.values, side.values[-1] or 1.0) for side in (rows, cols))
    return reciprocal_factors(x / most, s / largest, most * largest / reg)


def parts(fold: np.ndarray) -> list[np.ndarray]:
    """Positions with the same number, in the array as one row: a list of the parts."""
    _, counts = np.unique(fold, return_counts=True)
    return np.split(np.argsort(fold, axis=None, kind="stable"), np.cumsum(counts)[:-1])


def _weights(spectrum, reg) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues (k, 1) of H and of I - H of one side."""
    values = spectrum.values[:, None]
    return values / (values + reg), reg / (values + reg)


def _one_side(spectrum, hat, rest, Y, fold):
    """H Y, or with a fold each row of it without the labels of its part."""
    if fold is None:
        return spectrum.vectors @ (hat * spectrum.coordinates(Y))
    return _parts_of_rows(spectrum, hat, rest, Y, fold)


def _parts_of_rows(spectrum, hat, rest, Y, fold, factors=None):
    """Rows of Y (n, p) predicted without those of their part.

    ``hat`` and ``rest`` are eigenvalues of H and I - H, (n, 1), or (n, p) with a column for each
    of Y; then ``factors`` (N, n) and (N, p) have ``rest`` as their product.
    """
    # Columns where the complement is the smaller matrix take the right-hand side -((I - H) Z)_P,
    # the others (H Z)_P.
    by_rest = spectrum.full & (rest.max(axis=0) < hat.max(axis=0))
    weights, coordinates = np.where(by_rest, -rest, hat), spectrum.coordinates(Y)
    F = np.empty(Y.shape)
    for part in parts(fold):
        # Z has the coordinates of Y less those of the rows that are left out.
        U = spectrum.vectors[part]
        sides = U @ (weights * (coordinates - U.T @ Y[part]))
        # One matrix (I - H)_PP serves all columns, with 1 for the eigenvectors that are left out.
        if factors is None:
            outside = 0.0 if spectrum.full else np.eye(len(part)) - U @ U.T
            F[part] = np.linalg.solve((U * rest.T) @ U.T + outside, sides)
            continue
        # Each column has a matrix of its own: all are sums of the same N terms with other factors.
        terms = np.array([(U * factor) @ U.T for factor in factors[0]])
        step = max(1, _CHUNK_BYTES // terms[0].nbytes)
        for some in (slice(at, at + step) for at in range(0, Y.shape[1], step)):
            blocks = np.tensordot(factors[1][:, some], terms, (0, 0))
            F[part, some] = np.linalg.solve(blocks, sides.T[some, :, None])[..., 0].T
    return F


def _parts_of_pairs(rows, cols, hat, rest, Y, fold):
    """Entries of Y (m, q) predicted without those of their part, by conjugate gradients."""
    full = rows.full and cols.full
    by_rest = full and rest.max() < hat.max()
    F, inexact = np.empty(Y.size), False

    def filtered(weights, Z):
        """U (weights o (U' Z V)) V', a function of the hat matrix applied to Z (m, q)."""
        inner = weights * (rows.coordinates(Z) @ cols.vectors)
        return rows.vectors @ inner @ cols.vectors.T

    def complement(v):
        """(I - H)_PP v."""
        Z = np.zeros(Y.shape)
        Z.flat[part] = v
        return (filtered(rest, Z) if full else Z - filtered(hat, Z)).flat[part]

    # The labels with zeros in a part give its right-hand side; conjugate gradients need products
    # with (I - H)_PP alone, whose size is that of the part.
    for part in parts(fold):
        Z = Y.copy()
        Z.flat[part] = 0.0
        side = (filtered(-rest, Z) if by_rest else filtered(hat, Z)).flat[part]
        system = LinearOperator((len(part),) * 2, matvec=complement, dtype=np.float64)
        solution = cg(system, side, tol=_SYSTEM_TOL, max_iter=_MOST_ITERATIONS)
        F[part], left = solution.x, np.linalg.norm(solution.residual)
        inexact |= bool(left > _RESIDUAL_TO_WARN_OF * np.linalg.norm(side))
    if inexact:
        warnings.warn(
            f"predictions of left-out pairs are not exact after {_MOST_ITERATIONS} iterations: "
            "give a larger regularization weight",
            ConvergenceWarning,
            stacklevel=4,
        )
    return F.reshape(Y.shape)


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
        # The entry of I - H between (i, j) and (j, i) is sum_ab U_ia U_ja rest_ab V_jb V_ib. Each
        # term of the expansion of ``rest`` makes it a product of an entry of each side.
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
    for i, reg_rows in enumerate(regs_rows):
        R = _complement(rows, reg_rows)
        for j, reg_cols in enumerate(regs_cols):
            S = _complement(cols, reg_cols)
            if setting == "A":
                RY, r, s = R @ Y, np.diagonal(R)[:, None], np.diagonal(S)
                F = _without_both(Y, RY + Y @ S - RY @ S, r + s - r * s, -R * S)
            elif setting == "D":
                F = _without_both_vertices(R, S, Y)
            else:
                F = _without_vertex(R, S, Y) if setting == "B" else _without_vertex(S, R, Y.T).T
            yield (i, j), F


def _complement(spectrum, reg):
    """I - H (n, n)."""
    U, rest = spectrum.vectors, reg / (spectrum.values + reg)
    return (U * rest) @ U.T + (0.0 if spectrum.full else np.eye(len(U)) - U @ U.T)


def _without_both(Y, residual, diagonal, between):
    """Two equations for each pair: ``diagonal`` and ``between`` are the entries of I - H."""
    np.fill_diagonal(between, 0.0)
    # Cramer's rule solves the block (I - H)_PP of (i, j) and (j, i); (i, i) has one equation.
    determinant = diagonal * diagonal.T - between**2
    return Y - (diagonal.T * residual - between * residual.T) / determinant


def _without_vertex(R, S, Y):
    """Row i by R without i, smoothed by I - S without i; (i, i) as if it were left out twice."""
    # Theorem 7 on the rows gives Y_i - (R Y)_i / R_ii.
    left = Y - R @ Y / np.diagonal(R)[:, None]
    # On the columns the label of i is replaced by its own prediction without i, which is
    # Theorem 7 again: it lies this far from the label, and I - S carries that to all columns.
    turned = left @ S
    change = np.diagonal(turned) / np.diagonal(S)
    F = left - turned + change[:, None] * S
    np.fill_diagonal(F, np.diagonal(left) - change)
    return F


def _without_both_vertices(R, S, Y):
    """(e_i - a R_i - b R_j)' Y (e_j - c S_i - d S_j), each side zero at i and at j."""
    # The blocks of R and of S at i and j have these determinants; Cramer's rule gives a, b, c, d.
    r, s = np.diagonal(R)[:, None], np.diagonal(S)[:, None]
    of_rows, of_cols = r * r.T - R * R, s * s.T - S * S
    for determinant in (of_rows, of_cols):
        np.fill_diagonal(determinant, 1.0)  # of a pair (i, i), which is set below
    a, b, c, d = r.T / of_rows, -R / of_rows, -S / of_cols, s / of_cols
    # The product has nine terms, of which those with one vertex twice come from diagonals.
    RY, YS = R @ Y, Y @ S
    RYS = RY @ S
    ry, ys, rys = map(np.diagonal, (RY, YS, RYS))
    F = Y - a * RY - b * ry - c * ys[:, None] - d * YS
    F += a * (c * rys[:, None] + d * RYS) + b * (c * RYS.T + d * rys)
    np.fill_diagonal(F, np.diagonal(_without_vertex(R, S, Y)))
    return F
