"""The posterior variance of the Gaussian process whose mean a KronRidge predicts."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator

from kronbench.errors import InputError
from kronbench.linalg import cg
from kronbench.linalg.blas1 import dot, norm
from kronbench.models._product_kernel_model import ProductKernelModel
from kronbench.models._ridge_path import scaled, weighted
from kronbench.pairs import PairData

_TOGETHER = 64  # pairs whose kernel with the training pairs is in memory at a time
_EXACT = 1e-13  # error of the form, in units of k(x, x), at which conjugate gradients end


def posterior_variance(model: ProductKernelModel, X: PairData) -> np.ndarray:
    """k(x, x) - k_x' (Q + reg I)^-1 k_x for the pairs x of X, (t,), by conjugate gradients."""

    def design(pairs):
        return model._design_operator(*model._design(model.feature_maps_, pairs))

    def with_training(pairs):
        if primal:
            return design(pairs) @ training.T
        return model._gram_operator(model.X_fit_, pairs)

    if primal := hasattr(model, "coef_"):
        training = design(model.X_fit_)
        gram = training @ training.T
    else:
        gram = model._gram_operator(model.X_fit_)
    for name in ("row_features", "col_features"):
        precomputed = getattr(model, name.replace("features", "kernel")) == "precomputed"
        if precomputed and getattr(X, name) is not getattr(model.X_fit_, name):
            raise InputError(
                f"{name} is a precomputed kernel of new vertices, which lacks their kernel with "
                "themselves: give the features, or pairs of the PairData that was fitted"
            )
    gram = weighted(gram, model._root, dual=True)
    variance = np.empty(len(X))
    for first in range(0, len(X), _TOGETHER):
        part = slice(first, first + _TOGETHER)
        some, one = X[part], np.eye(len(X[part]), dtype=gram.dtype)
        prior = np.diagonal(model._gram_operator(some).matmat(one))
        columns = with_training(some).rmatmat(one)
        columns = scaled(model._root, columns)
        forms = [
            _inverse_form(gram, b, atol, model.reg)
            for b, atol in zip(columns.T, _EXACT * prior, strict=True)
        ]
        variance[part] = np.maximum(prior - forms, 0)
    return variance


def _inverse_form(A, b, atol, reg):
    """b'(A + reg I)^-1 b less at most ``atol``, or what 2000 iterations leave.

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
    return dot(b + found.residual, found.x)
