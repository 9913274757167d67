"""The posterior variance of the Gaussian process whose mean a KronRidge predicts, with bounds."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator

from kronbench.errors import InputError
from kronbench.linalg import KernelColumns
from kronbench.linalg.quadratic_forms import inverse_forms
from kronbench.models._product_kernel_model import ProductKernelModel
from kronbench.pairs import PairData, SampledKroneckerOperator
from kronbench.pairs.data import used_vertices

# Test pairs up to which conjugate gradients are the default, and the dimension beyond.
FEW = 300
_TOGETHER = 64  # vectors that a product takes at a time
_EXACT = 1e-13  # where bounds are so close, in units of k(x, x), conjugate gradients end


def posterior_variance(
    model: ProductKernelModel, X: PairData, rank: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of k(x, x) - k_x' (Q + reg I)^-1 k_x for the pairs x of X, (t,) each.

    In the primal form the second term is |phi|^2 - reg phi' (X'X + reg I)^-1 phi with the
    features phi of x, so that both forms are a quadratic form with an inverse. Where k(x, x) is
    more than |phi|^2, for new vertices and a kernel of many, the rest is added.

    Parameters
    ----------
    model : fitted ProductKernelModel with ``reg``
    X : PairData, t pairs
    rank : int or None
        Dimension of one Krylov space for all pairs; None for conjugate gradients.
    """
    if rank is not None and (rank != int(rank) or rank < 1):
        raise InputError(f"rank is {rank}: give a positive integer")
    prior = _prior_variance(model, X)
    if hasattr(model, "coef_"):
        design = model._design_operator(*model._design(model.feature_maps_, model.X_fit_))
        A = LinearOperator(
            (design.shape[1],) * 2,
            dtype=design.dtype,
            matvec=lambda v: design.rmatvec(design.matvec(v)),
            matmat=lambda V: design.rmatmat(design.matmat(V)),
        )
        T, D, rows, cols = model._design(model.feature_maps_, X)
        squares = _squares(T)[rows] * _squares(D)[cols]
        cross = model._design_operator(T, D, rows, cols)
        low, high = _forms(A, cross, squares, squares / model.reg, model.reg, rank)
        missing = np.maximum(prior - squares, 0)
        return missing + model.reg * low, missing + model.reg * high
    A = model._gram_operator(model.X_fit_)
    cross = model._gram_operator(model.X_fit_, X)
    squares = None
    if rank is not None:
        if not isinstance(cross, SampledKroneckerOperator):
            raise InputError(
                f"rank is {rank} and pairwise={model.pairwise!r}: give pairwise='kronecker', or "
                "no rank for the exact way"
            )
        squares = _squared_kernel(model, X)
    low, high = _forms(A, cross, squares, prior, model.reg, rank)
    return np.maximum(prior - high, 0), np.maximum(prior - low, 0)


def _forms(A, cross, squares, scale, reg, rank):
    """Bounds of b' (A + reg I)^-1 b for the rows b of an operator (t, n)."""
    t = cross.shape[0]
    low, high = np.empty(t), np.empty(t)
    for first in range(0, t, _TOGETHER):
        part = slice(first, min(first + _TOGETHER, t))
        chosen = np.zeros((t, part.stop - first), A.dtype)
        chosen[np.arange(first, part.stop), np.arange(part.stop - first)] = 1
        B = cross.rmatmat(chosen)
        low[part], high[part] = inverse_forms(A, B, shift=reg, atol=_EXACT * scale[part])
    return low, high


def _squared_kernel(model, X):
    """Sum over the training pairs of k(x, x_h)^2: one product, for squares of products factor."""
    operator = model._gram_operator(model.X_fit_, X, squared=True)
    return operator.matvec(np.ones(operator.shape[1], operator.dtype))


def _prior_variance(model, X):
    """k(x, x) of each pair, (t,)."""
    for side in ("row", "col"):
        kernel = getattr(model, f"{side}_kernel")
        if isinstance(kernel, str) and kernel == "precomputed":
            _check_known(model, X, side)
    if model.pairwise != "kronecker":
        found = np.empty(len(X))
        for first in range(0, len(X), _TOGETHER):
            some = X[first : first + _TOGETHER]
            with_itself = model._gram_operator(some)
            found[first : first + len(some)] = np.diagonal(with_itself.matmat(np.eye(len(some))))
        return found
    return _vertex_prior(model, X, "row") * _vertex_prior(model, X, "col")


def _vertex_prior(model, X, side):
    kernel = getattr(model, f"{side}_kernel")
    features, index = getattr(X, f"{side}_features"), getattr(X, f"{side}s")
    if isinstance(kernel, str) and kernel == "precomputed":
        values = features.diagonal()[index]
    else:
        used, position = used_vertices(index, features.shape[0])
        columns = KernelColumns(features[used], kernel, getattr(model, f"{side}_gamma"))
        values = columns.diagonal()[position]
    return values + getattr(model, f"{side}_effect")


def _check_known(model, X, side):
    name = f"{side}_features"
    if getattr(X, name) is not getattr(model.X_fit_, name):
        raise InputError(
            f"{name} is a precomputed kernel of new vertices, which says nothing of them with "
            "themselves: give the features, or pairs of the PairData that was fitted"
        )


def _squares(features):
    return np.einsum("ij,ij->i", features, features, dtype=np.float64)
