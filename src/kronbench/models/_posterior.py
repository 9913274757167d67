"""The posterior variance of the Gaussian process whose mean a KronRidge predicts."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular
from scipy.sparse.linalg import LinearOperator
from sklearn.exceptions import ConvergenceWarning

from kronbench.errors import InputError
from kronbench.linalg import KernelColumns, cg, incomplete_cholesky
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
_MOST_PRODUCTS = 2000  # iterations of conjugate gradients for a pair, or a block of draws
# What conjugate gradients leave of draws, in units of the noise: the square adds to the variance,
# which for a training pair is that of the noise times its leverage.
_DRAW_ERROR = 0.05
_MOST_DRAWN_BYTES = 1 << 28  # of the largest array of a block of draws


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


def posterior_variance(
    process: FittedProcess, X: PairData, samples: int | None = None, rng: Any = None
) -> np.ndarray:
    """k(x, x) - k_x' (Q + reg I)^-1 k_x for the pairs x of X, (t,).

    In the primal form that is reg phi' (X'X + reg I)^-1 phi with the features phi of x, and what
    k(x, x) is more than |phi|^2, for new vertices and a kernel of many. A thin design is
    decomposed. Elsewhere conjugate gradients give bounds, and the upper one is returned. A
    ConvergenceWarning counts the pairs whose bounds differ. With ``samples`` Kronecker kernels
    have estimates by so many draws in place of bounds.
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
    if bounds is None and samples and model.pairwise == "kronecker":
        return _by_draws(process, X, samples, rng)
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


def _by_draws(process, X, samples, rng):
    """Estimates of the variance (t,) by draws of the process.

    A draw f of the prior over the training pairs and those of X, and noise e of variance reg, make
    f(x) - c(x) a draw of the posterior less its mean, with c(x) = k_x' (Q + reg I)^-1 (f + e):
    Matheron's rule (Wilson et al. 2021, section 3; Lin et al. 2025 for Kronecker products). Draws
    are columns of one system, and take the same steps of conjugate gradients: they have the same
    covariance. The variances v of f(x) - c(x) and of c(x), which are independent, have the known
    sum k = k(x, x); the estimate is the most likely one under it. Its relative error is
    sqrt(2 / samples) (k - v) / |(v, k - v)|, without c(x) it were sqrt(2 / samples).

    O(n (m + q)) an iteration and draw, and in the dual form O(m^3 + q^3) for roots of the kernel
    matrices over the vertices of all pairs.
    """
    model, n, design = process.model, len(process.model.X_fit_), process.design
    both = _with_asked(model, X)
    if design:
        training = process.design_operator(*design(model.X_fit_))
        A, cross = training @ training.T, process.design_operator(*design(X)) @ training.T
        features, prior = design(both), _squares(*design(X))
        beyond = _beyond_features(process, X, design(X))
    else:
        A, cross = (process.gram_operator(model.X_fit_, other) for other in (None, X))
        features, prior, beyond = _roots(model, both), _prior(process, X), 0.0
    A = weighted(A, process.root, dual=True)
    # A draw f is L w for features L of all pairs, whose inner products are the kernel, and w.
    draw, squares = process.design_operator(*features), np.zeros((2, len(X)))
    step = max(1, _MOST_DRAWN_BYTES // (8 * max(draw.shape)))
    for width in (min(step, samples - first) for first in range(0, samples, step)):
        f = draw.matmat(rng.standard_normal((draw.shape[1], width)).astype(draw.dtype))
        noise = np.sqrt(model.reg) * rng.standard_normal((n, width))
        solved = _solved(A, (scaled(process.root, f[:n]) + noise).astype(A.dtype), model.reg)
        c = cross.matmat(scaled(process.root, solved))
        squares += np.sum([(f[n:] - c) ** 2, c**2], axis=2, dtype=np.float64)
    # The derivative of the log likelihood has the sign of a cubic polynomial in the share v / k,
    # which falls from a positive value at 0 to a negative one at 1: bisection to all digits.
    left, taken = squares / samples / np.where(prior > 0, prior, 1)
    low, high = np.zeros(len(X)), np.ones(len(X))
    for _ in range(50):
        v = (low + high) / 2
        rises = (left - v) * (1 - v) ** 2 > (taken - (1 - v)) * v**2
        low, high = np.where(rises, v, low), np.where(rises, high, v)
    return beyond + prior * low


def _solved(A, B, reg):
    """(A + reg I)^-1 B for all columns of B (n, s), drawn with the noise reg."""

    def product(v):
        V = v.reshape(B.shape)
        return (A.matmat(V) + reg * V).ravel()

    system = LinearOperator((B.size,) * 2, matvec=product, dtype=A.dtype)
    # Scores of training pairs are off by the residual at most.
    tol = _DRAW_ERROR * np.sqrt(reg * B.size) / np.linalg.norm(B)
    solution = cg(system, B.ravel(), tol=tol, max_iter=_MOST_PRODUCTS, verify=False)
    if solution.stop != "tol":
        warnings.warn(
            f"the draws of predict_std ended by {solution.stop} after {solution.n_iter} "
            "iterations, and it may be too large: scale the features, or give a larger reg or "
            "double precision",
            ConvergenceWarning,
            stacklevel=5,
        )
    return solution.x.reshape(B.shape)


def _with_asked(model, X):
    """The training pairs, then those of X, over one set of features; new vertices come last."""
    parts = []
    for side in ("row", "col"):
        features, others = (getattr(data, f"{side}_features") for data in (model.X_fit_, X))
        # Only with an effect need a vertex be known again in other features.
        place = np.full(others.shape[0], -1)
        if others is features or getattr(model, f"{side}_effect"):
            place = known_vertices(X, model.X_fit_, side)
        new = np.flatnonzero(place < 0)
        place[new] = features.shape[0] + np.arange(len(new))
        stack = sparse.vstack if sparse.issparse(features) else np.vstack
        parts.append(stack([features, others[new]]) if len(new) else features)
        parts.append(np.append(getattr(model.X_fit_, f"{side}s"), place[getattr(X, f"{side}s")]))
    return PairData(parts[0], parts[2], parts[1], parts[3])


def _roots(model, X):
    """Features whose inner products are the kernel, and the places of the pairs, as a design."""
    parts = []
    for side, index in (("row", X.rows), ("col", X.cols)):
        kernel, place, *_ = model._kernel_between_used(side, X, None, lambda _, index=index: index)
        root = incomplete_cholesky(kernel, tol=TOLERANCE[kernel.dtype] / 2).factor
        parts.append((np.ascontiguousarray(root, kernel.dtype), place))
    (rows, row_places), (cols, col_places) = parts
    return rows, cols, row_places, col_places


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
