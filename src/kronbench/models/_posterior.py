"""The posterior variance of the Gaussian process whose mean a KronRidge predicts."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.sparse.linalg import LinearOperator
from sklearn.exceptions import ConvergenceWarning

from kronbench.errors import InputError
from kronbench.linalg import KernelColumns, cg
from kronbench.linalg.blas1 import dot, norm
from kronbench.linalg.gram_matrix import squared_lengths
from kronbench.linalg.krylov import Operator
from kronbench.linalg.lowrank import TOLERANCE
from kronbench.models._ridge_path import is_thin, products, scaled, weighted
from kronbench.pairs import PairData
from kronbench.pairs.data import known_vertices, used_vertices

_BATCH_PAIRS = 64  # pairs whose kernel with the training pairs is in memory at a time
# Distance of the bounds, in units of k(x, x), at which conjugate gradients end; the second value
# is for batches with pairs of which the first leaves doubt.
_BOUND_DISTANCES = (1e-13, 1e-16)
# Distance of the bounds of a standard deviation, relative to it, from which a warning tells.
_LARGEST_STD_DISTANCE = 0.05
_MOST_PRODUCTS = 2000  # iterations of conjugate gradients for a pair


class FittedProcess(NamedTuple):
    """The Gaussian process of a fitted model: its parameters, and how it makes its operators.

    ``gram_operator(X_fit, X)`` is the kernel between pairs, with X_fit itself for X=None.
    ``design(X)`` are the features of row and of column vertices and the places of the pairs in
    them, None in the dual form, and ``design_operator`` makes an operator of these. ``root`` (n,)
    are the roots of the weights of the training pairs, if they have weights.
    """

    model: Any
    gram_operator: Callable[..., Operator]
    design: Callable[[PairData], tuple] | None
    design_operator: Callable[..., Operator]
    root: np.ndarray | None


def posterior_variance(process: FittedProcess, X: PairData) -> np.ndarray:
    """k(x, x) - k_x' (Q + reg I)^-1 k_x for the pairs x of X, (t,).

    In the primal form that is reg phi' (X'X + reg I)^-1 phi with the features phi of x, and what
    k(x, x) is more than |phi|^2, for new vertices and a kernel of many. A thin design is
    decomposed. Elsewhere conjugate gradients give bounds, and the upper one is returned. A
    ConvergenceWarning counts the pairs whose bounds differ.
    """
    model, root = process.model, process.root
    X, bounds = _over_fitted_kernels(model, X), None
    if process.design:
        # The primal system is X'X, an operator or, where features are few, decomposed.
        training = row_features, col_features, *_ = process.design(model.X_fit_)
        if is_thin(len(model.X_fit_), row_features.shape[1] * col_features.shape[1]):
            bounds = _bounds_by_qr(process, training, X)
        A = weighted(process.design_operator(*training), root, dual=False)
        A = LinearOperator(
            (A.shape[1],) * 2, dtype=A.dtype, matvec=lambda v, X=A: X.rmatvec(X.matvec(v))
        )
    else:
        # The dual system is Q.
        A = weighted(process.gram_operator(model.X_fit_), root, dual=True)
    if bounds is None:
        parts = [slice(first, first + _BATCH_PAIRS) for first in range(0, len(X), _BATCH_PAIRS)]
        bounds = np.hstack([_bounds_of_few(process, A, X[part]) for part in parts])
    low, high = bounds
    doubtful = _doubtful(bounds)
    if doubtful.any():
        with np.errstate(divide="ignore"):
            worst = np.sqrt(np.max(high[doubtful] / low[doubtful]))
        warnings.warn(
            f"predict_std of {doubtful.sum()} of {len(X)} pairs may be too large, up to "
            f"{worst:.3g} times, because of rounding or {_MOST_PRODUCTS} iterations: scale the "
            "features, or give a larger reg or double precision",
            ConvergenceWarning,
            stacklevel=3,
        )
    return high


def _doubtful(bounds):
    """Of which pairs the bounds of the variance leave the standard deviation in doubt."""
    low, high = bounds
    # The variance is a square, and so is the largest ratio of its bounds.
    return high > (1 + _LARGEST_STD_DISTANCE) ** 2 * low


def _over_fitted_kernels(model, X):
    """X over the precomputed kernels that were fitted, which have k(x, x)."""
    X = copy(X)
    for side in ("row", "col"):
        name = f"{side}_features"
        if getattr(model, f"{side}_kernel") == "precomputed":
            index = known_vertices(X, model.X_fit_, side)[getattr(X, f"{side}s")]
            if index.min() < 0:
                raise InputError(
                    f"{name} is a precomputed kernel of new vertices, which lacks their kernel "
                    "with themselves: give the features, or pairs of the PairData that was fitted"
                )
            kernel = getattr(model.X_fit_, name)
            X.__dict__ |= {name: kernel, f"{side}s": index, f"n_{side}s": kernel.shape[0]}
    return X


def _bounds_by_qr(process, training, X):
    """|sqrt(reg) R'^-1 phi|^2 with R'R = X'X + reg I, twice, in double precision.

    R is of a QR decomposition of X above sqrt(reg) I. In it, as in triangular solves, each column
    has its own scale, so that a large one costs the others no digits. The lower bound is zero
    where rounding has left nothing of what a column adds to those before it.
    """
    row_features, col_features, *places = training
    features = products(row_features.astype(float), col_features.astype(float), *places)
    rows = scaled(process.root, features)
    below = np.sqrt(process.model.reg) * np.eye(rows.shape[1])
    triangle = np.asarray(np.linalg.qr(np.vstack([rows, below]), mode="r"))
    rounding = 10 * np.finfo(float).eps * np.linalg.norm(triangle, axis=0)
    kept = (np.abs(triangle.diagonal()) > rounding).all()
    row_features, col_features, *places = design = process.design(X)
    variance = _beyond_features(process, X, design)
    # reg phi'(R'R)^-1 phi is reg |R'^-1 phi|^2, a triangular solve for each pair.
    for first in range(0, len(X), _BATCH_PAIRS):
        part = slice(first, first + _BATCH_PAIRS)
        pairs = (index[part] for index in places)
        few = products(row_features.astype(float), col_features.astype(float), *pairs)
        images = solve_triangular(triangle, few.T, trans="T", check_finite=False)
        variance[part] += process.model.reg * np.einsum("ij,ij->j", images, images)
    return kept * variance, variance


def _bounds_of_few(process, A, X):
    """Bounds (2, t) of the variance of a few pairs."""
    model, primal = process.model, process.design is not None
    if primal:
        # b is phi, and the form phi'(X'X + reg I)^-1 phi at most |phi|^2 / reg.
        design = process.design(X)
        cross, scale = process.design_operator(*design), _squares(*design) / model.reg
    else:
        # b is k_x, and the form k_x'(Q + reg I)^-1 k_x at most k(x, x).
        cross, scale = process.gram_operator(model.X_fit_, X), _prior(process, X)
    B = cross.rmatmat(np.eye(len(X), dtype=A.dtype))
    B = B if primal else scaled(process.root, B)
    # The rounding of a difference is that of its larger term.
    rounding = 4 * float(np.finfo(A.dtype).eps) * scale
    for distance in _BOUND_DISTANCES:
        pairs = zip(B.T, distance * scale, strict=True)
        forms = [_inverse_form(A, *pair, model.reg) for pair in pairs]
        low, high = np.clip(np.transpose(forms), 0, scale)
        if primal:
            bounds = _beyond_features(process, X, design) + model.reg * np.array([low, high])
        else:
            bounds = np.maximum([scale - high - rounding, scale - low + rounding], 0)
        if not _doubtful(bounds).any():
            break
    return bounds


def _inverse_form(A, b, atol, reg):
    """Bounds of b'(A + reg I)^-1 b within ``atol``, or those of all products or of rounding.

    With an iterate x and its residual r the form is (b + r)'x + r'(A + reg I)^-1 r, and the last
    term is at most ||r||^2 / reg. Without rounding r'x is zero.
    """
    b = np.ascontiguousarray(b)
    shifted = LinearOperator(A.shape, dtype=A.dtype, matvec=lambda v: A.matvec(v) + reg * v)
    # The bounds are ||r||^2 / reg apart, which fixes how far the residual must fall.
    tol = np.sqrt(atol * reg) / (norm(b) or 1.0)
    solution = cg(shifted, b, tol=tol, max_iter=_MOST_PRODUCTS, verify=False)
    # The residual of the recurrence may have parted from that of x, which has rounding of its own.
    residual, eps = b - shifted.matvec(solution.x), float(np.finfo(b.dtype).eps)
    gram_norm = norm(shifted.matvec(b)) / (norm(b) or 1.0)
    # Rounding, too, makes a curvature that is not positive, but a small one.
    if solution.stop == "breakdown" and dot(residual, shifted.matvec(residual)) < (
        -np.sqrt(eps) * gram_norm * norm(residual) ** 2
    ):
        raise InputError(
            "the kernel of the training pairs is not positive semidefinite: give one that is"
        )
    # The first term is the lower bound; each end moves out by the rounding of its products.
    length, low = norm(solution.x), dot(b + residual, solution.x)
    rounding = eps * gram_norm * length
    high = low + (norm(residual) + rounding) ** 2 / reg
    return low - rounding * length, high + rounding * length


def _prior(process, X):
    """k(x, x) of each pair, (t,)."""
    if process.model.pairwise == "kronecker":
        return _vertex_prior(process.model, X, "row") * _vertex_prior(process.model, X, "col")
    return np.diagonal(process.gram_operator(X).matmat(np.eye(len(X))))


def _squares(row_features, col_features, rows, cols):
    """|phi|^2 of each pair, (t,)."""
    sides = row_features, col_features
    of_rows, of_cols = (squared_lengths(Z.astype(np.float64, copy=False)) for Z in sides)
    return of_rows[rows] * of_cols[cols]


def _beyond_features(process, X, design):
    """What k(x, x) of each pair is more than |phi|^2, (t,); zero where factors say no less."""
    prior, by_features = _prior(process, X), _squares(*design)
    beyond = prior - by_features
    # Pivoted Cholesky factors stop at this share of the kernel.
    return np.where(beyond > TOLERANCE[design[0].dtype] * prior, beyond, 0)


def _vertex_prior(model, X, side):
    """k(d, d) or g(t, t) of the vertex of each pair, (t,), with the vertex effect."""
    features, index = getattr(X, f"{side}_features"), getattr(X, f"{side}s")
    kernel, gamma = getattr(model, f"{side}_kernel"), getattr(model, f"{side}_gamma")
    if kernel == "precomputed":
        values = features.diagonal()[index]
    else:
        used, position = used_vertices(index, features.shape[0])
        values = KernelColumns(features[used], kernel, gamma).diagonal()[position]
    return values + getattr(model, f"{side}_effect")
