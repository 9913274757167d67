"""The posterior variance of the Gaussian process whose mean a KronRidge predicts."""

from __future__ import annotations

import warnings
from copy import copy

import numpy as np
from scipy.linalg import solve_triangular
from scipy.sparse.linalg import LinearOperator
from sklearn.exceptions import ConvergenceWarning

from kronbench.errors import InputError
from kronbench.linalg import KernelColumns, cg
from kronbench.linalg.blas1 import dot, norm
from kronbench.linalg.lowrank import TOLERANCE
from kronbench.models._product_kernel_model import ProductKernelModel
from kronbench.models._ridge_path import is_thin, products, scaled, weighted
from kronbench.pairs import PairData
from kronbench.pairs.data import known_vertices, used_vertices

_TOGETHER = 64  # pairs whose kernel with the training pairs is in memory at a time
# Where bounds are so close, in units of k(x, x), conjugate gradients end; the second value is for
# pairs of which the first leaves doubt.
_EXACT = (1e-13, 1e-16)
_DOUBT = 0.05  # between the bounds of a standard deviation, relative to it


def posterior_variance(model: ProductKernelModel, X: PairData) -> np.ndarray:
    """k(x, x) - k_x' (Q + reg I)^-1 k_x for the pairs x of X, (t,).

    In the primal form that is reg phi' (X'X + reg I)^-1 phi with the features phi of x, and what
    k(x, x) is more than |phi|^2, for new vertices and a kernel of many. A thin design is
    decomposed. Elsewhere conjugate gradients give bounds, and the upper one is returned. A
    ConvergenceWarning counts the pairs whose bounds differ.
    """
    X, bounds = _of_the_fit(model, X), None
    if hasattr(model, "coef_"):
        T, D, *pairs = model._design(model.feature_maps_, model.X_fit_)
        if is_thin(len(model.X_fit_), T.shape[1] * D.shape[1]):
            bounds = _bounds_by_qr(model, (T, D, *pairs), X)
        A = weighted(model._design_operator(T, D, *pairs), model._root, dual=False)
        A = LinearOperator(
            (A.shape[1],) * 2, dtype=A.dtype, matvec=lambda v, X=A: X.rmatvec(X.matvec(v))
        )
    else:
        A = weighted(model._gram_operator(model.X_fit_), model._root, dual=True)
    if bounds is None:
        parts = [slice(first, first + _TOGETHER) for first in range(0, len(X), _TOGETHER)]
        bounds = np.hstack([_bounds_of_few(model, A, X[part]) for part in parts])
    low, high = bounds
    doubtful = _doubtful(bounds)
    if doubtful.any():
        with np.errstate(divide="ignore"):
            worst = np.sqrt(np.max(high[doubtful] / low[doubtful]))
        warnings.warn(
            f"predict_std of {doubtful.sum()} of {len(X)} pairs may be too large, up to "
            f"{worst:.3g} times, because of rounding or 2000 iterations: scale the features, or "
            "give a larger reg or double precision",
            ConvergenceWarning,
            stacklevel=3,
        )
    return high


def _doubtful(bounds):
    low, high = bounds
    return high > (1 + _DOUBT) ** 2 * low  # The variance is a square, and so is the doubt.


def _of_the_fit(model, X):
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


def _bounds_by_qr(model, training, X):
    """|sqrt(reg) R'^-1 phi|^2 with R'R = X'X + reg I, twice, in double precision.

    R is of a QR decomposition of X above sqrt(reg) I. In it, as in triangular solves, each column
    has its own scale, so that a large one costs the others no digits. The lower bound is zero
    where rounding has left nothing of what a column adds to those before it.
    """
    T, D, *pairs = training
    rows = scaled(model._root, products(T.astype(float), D.astype(float), *pairs))
    below = np.sqrt(model.reg) * np.eye(rows.shape[1])
    triangle = np.asarray(np.linalg.qr(np.vstack([rows, below]), mode="r"))
    rounding = 10 * np.finfo(float).eps * np.linalg.norm(triangle, axis=0)
    kept = (np.abs(triangle.diagonal()) > rounding).all()
    T, D, *pairs = design = model._design(model.feature_maps_, X)
    variance = _beyond_features(model, X, design)
    for first in range(0, len(X), _TOGETHER):
        part = slice(first, first + _TOGETHER)
        few = products(T.astype(float), D.astype(float), *(index[part] for index in pairs))
        images = solve_triangular(triangle, few.T, trans="T", check_finite=False)
        variance[part] += model.reg * np.einsum("ij,ij->j", images, images)
    return kept * variance, variance


def _bounds_of_few(model, A, X):
    """Bounds (2, t) of the variance of a few pairs."""
    if primal := hasattr(model, "coef_"):
        design = model._design(model.feature_maps_, X)
        cross, scale = model._design_operator(*design), _squares(*design) / model.reg
    else:
        cross, scale = model._gram_operator(model.X_fit_, X), _prior(model, X)
    B = cross.rmatmat(np.eye(len(X), dtype=A.dtype))
    B = B if primal else scaled(model._root, B)
    # The rounding of a difference is that of its larger term.
    rounding = 4 * float(np.finfo(A.dtype).eps) * scale
    for exact in _EXACT:
        pairs = zip(B.T, exact * scale, strict=True)
        forms = [_inverse_form(A, *pair, model.reg) for pair in pairs]
        low, high = np.clip(np.transpose(forms), 0, scale)
        if primal:
            bounds = _beyond_features(model, X, design) + model.reg * np.array([low, high])
        else:
            bounds = np.maximum([scale - high - rounding, scale - low + rounding], 0)
        if not _doubtful(bounds).any():
            break
    return bounds


def _inverse_form(A, b, atol, reg):
    """Bounds of b'(A + reg I)^-1 b within ``atol``, or those of 2000 iterations or of rounding.

    With an iterate x and its residual r the form is (b + r)'x + r'(A + reg I)^-1 r, and the last
    term is at most ||r||^2 / reg. Without rounding r'x is zero.
    """
    b = np.ascontiguousarray(b)
    shifted = LinearOperator(A.shape, dtype=A.dtype, matvec=lambda v: A.matvec(v) + reg * v)
    tol = np.sqrt(atol * reg) / (norm(b) or 1.0)
    found = cg(shifted, b, tol=tol, max_iter=2000, verify=False)
    # The residual of the recurrence may have parted from that of x, which has rounding of its own.
    residual, eps = b - shifted.matvec(found.x), float(np.finfo(b.dtype).eps)
    gram_norm = norm(shifted.matvec(b)) / (norm(b) or 1.0)
    # Rounding, too, makes a curvature that is not positive, but a small one.
    if found.stop == "breakdown" and dot(residual, shifted.matvec(residual)) < (
        -np.sqrt(eps) * gram_norm * norm(residual) ** 2
    ):
        raise InputError(
            "the kernel of the training pairs is not positive semidefinite: give one that is"
        )
    length, low = norm(found.x), dot(b + residual, found.x)
    rounding = eps * gram_norm * length
    high = low + (norm(residual) + rounding) ** 2 / reg
    return low - rounding * length, high + rounding * length


def _prior(model, X):
    """k(x, x) of each pair, (t,)."""
    if model.pairwise == "kronecker":
        return _vertex_prior(model, X, "row") * _vertex_prior(model, X, "col")
    return np.diagonal(model._gram_operator(X).matmat(np.eye(len(X))))


def _squares(T, D, rows, cols):
    """|phi|^2 of each pair, (t,)."""
    of_rows, of_cols = (np.einsum("ij,ij->i", Z, Z, dtype=np.float64) for Z in (T, D))
    return of_rows[rows] * of_cols[cols]


def _beyond_features(model, X, design):
    """What k(x, x) of each pair is more than |phi|^2, (t,); zero where factors say no less."""
    prior, known = _prior(model, X), _squares(*design)
    return np.where(prior - known > TOLERANCE[design[0].dtype] * prior, prior - known, 0)


def _vertex_prior(model, X, side):
    features, index = getattr(X, f"{side}_features"), getattr(X, f"{side}s")
    kernel, gamma = getattr(model, f"{side}_kernel"), getattr(model, f"{side}_gamma")
    if kernel == "precomputed":
        values = features.diagonal()[index]
    else:
        used, position = used_vertices(index, features.shape[0])
        values = KernelColumns(features[used], kernel, gamma).diagonal()[position]
    return values + getattr(model, f"{side}_effect")
