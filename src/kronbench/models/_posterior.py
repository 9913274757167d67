"""The posterior variance of the Gaussian process whose mean a KronRidge predicts."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator

from kronbench.errors import InputError
from kronbench.linalg import KernelColumns, cg
from kronbench.linalg.blas1 import dot, norm
from kronbench.models._product_kernel_model import ProductKernelModel
from kronbench.models._ridge_path import scaled, weighted
from kronbench.pairs import PairData
from kronbench.pairs.data import used_vertices

_TOGETHER = 64  # pairs whose kernel with the training pairs is in memory at a time
_EXACT = 1e-13  # where bounds are so close, in units of k(x, x), conjugate gradients end


def posterior_variance(model: ProductKernelModel, X: PairData) -> np.ndarray:
    """k(x, x) - k_x' (Q + reg I)^-1 k_x for the pairs x of X, (t,), by conjugate gradients.

    In the primal form the second term is |phi|^2 - reg phi' (X'X + reg I)^-1 phi with the
    features phi of x, so that both forms are a quadratic form with an inverse. Where k(x, x) is
    more than |phi|^2, for new vertices and a kernel of many, the rest is added.
    """
    if hasattr(model, "coef_"):
        design = model._design_operator(*model._design(model.feature_maps_, model.X_fit_))
        design = weighted(design, model._root, dual=False)
        A = LinearOperator(
            (design.shape[1],) * 2,
            dtype=design.dtype,
            matvec=lambda v: design.rmatvec(design.matvec(v)),
        )
    else:
        A = weighted(model._gram_operator(model.X_fit_), model._root, dual=True)
    variance = np.empty(len(X))
    for first in range(0, len(X), _TOGETHER):
        part = slice(first, first + _TOGETHER)
        variance[part] = _variance_of_few(model, A, X[part])
    return variance


def _variance_of_few(model, A, X):
    # k(x, x) of each pair
    for side in ("row", "col"):
        name, precomputed = f"{side}_features", getattr(model, f"{side}_kernel") == "precomputed"
        if precomputed and getattr(X, name) is not getattr(model.X_fit_, name):
            raise InputError(
                f"{name} is a precomputed kernel of new vertices, which lacks their kernel "
                "with themselves: give the features, or pairs of the PairData that was fitted"
            )
    if model.pairwise == "kronecker":
        prior = _vertex_prior(model, X, "row") * _vertex_prior(model, X, "col")
    else:
        prior = np.diagonal(model._gram_operator(X).matmat(np.eye(len(X))))
    primal = hasattr(model, "coef_")
    if primal:
        T, D, rows, cols = model._design(model.feature_maps_, X)
        of_rows, of_cols = (np.einsum("ij,ij->i", Z, Z, dtype=np.float64) for Z in (T, D))
        squares = of_rows[rows] * of_cols[cols]
        cross, scale = model._design_operator(T, D, rows, cols), squares / model.reg
    else:
        cross, scale = model._gram_operator(model.X_fit_, X), prior
    B = cross.rmatmat(np.eye(len(X), dtype=A.dtype))
    B = B if primal else scaled(model._root, B)
    forms = [_inverse_form(A, *pair, model.reg) for pair in zip(B.T, _EXACT * scale, strict=True)]
    low, high = np.transpose(forms)
    if primal:
        return np.maximum(prior - squares, 0) + model.reg * high
    return np.maximum(prior - low, 0)


def _inverse_form(A, b, atol, reg):
    """Bounds of b'(A + reg I)^-1 b within ``atol``, or those of 2000 iterations.

    With an iterate x and its residual r the form is (b + r)'x + r'(A + reg I)^-1 r, and the last
    term is at most ||r||^2 / reg. Without rounding r'x is zero.
    """
    b = np.ascontiguousarray(b)
    shifted = LinearOperator(A.shape, dtype=A.dtype, matvec=lambda v: A.matvec(v) + reg * v)
    tol = np.sqrt(atol * reg) / (norm(b) or 1.0)
    found = cg(shifted, b, tol=tol, max_iter=2000, verify=False)
    if found.stop == "breakdown":
        raise InputError(
            "the kernel of the training pairs is not positive semidefinite: give one that is"
        )
    low = dot(b + found.residual, found.x)
    return low, low + dot(found.residual, found.residual) / reg


def _vertex_prior(model, X, side):
    features, index = getattr(X, f"{side}_features"), getattr(X, f"{side}s")
    kernel, gamma = getattr(model, f"{side}_kernel"), getattr(model, f"{side}_gamma")
    if kernel == "precomputed":
        values = features.diagonal()[index]
    else:
        used, position = used_vertices(index, features.shape[0])
        values = KernelColumns(features[used], kernel, gamma).diagonal()[position]
    return values + getattr(model, f"{side}_effect")
