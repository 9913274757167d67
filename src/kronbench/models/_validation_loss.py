"""Validation error of ridge regression on pairs as a function of kernel weights, with gradient."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kronbench.linalg import minres
from kronbench.pairs import PairData, SampledKroneckerOperator


@dataclass(frozen=True)
class Fold:
    """Pairs that train and validate, their labels less the training mean, and base kernels."""

    train: PairData
    test: PairData
    y_train: np.ndarray
    y_test: np.ndarray
    rows: Mapping[str, np.ndarray]
    cols: Mapping[str, np.ndarray]


def validation_loss(
    fold: Fold,
    row_weights: np.ndarray,
    col_weights: np.ndarray,
    reg: float,
    *,
    tol: float,
    max_iter: int,
) -> tuple[float, np.ndarray, np.ndarray]:
    """Mean squared error on the validation pairs, and its gradient in the logarithms of weights.

    The kernel of pairs is (sum_i u_i K_i + u_e I) kron (sum_j w_j G_j + w_e I), the coefficients
    are a = (Q + reg I)^-1 y, and p = P a are the predictions of the validation pairs. With
    r = p - y and the adjoint b = (Q + reg I)^-1 P' r, the derivative in a direction dQ, dP is
    2 (r'dP a - b'dQ a) / t. As a and (r, -b) are matrices A and C over the vertices, zero where
    there is no pair, all derivatives by row weights are inner products of the K_i with the one
    matrix C G A', and by column weights of the G_j with C'K A.

    The weights are those of the base kernels in their order, and last that of the identity. Two
    systems cost O(n (m + q)) an iteration of MINRES, and all derivatives O(m q (m + q)).
    """
    K = combined(fold.rows, row_weights)
    G = combined(fold.cols, col_weights)
    train, test = fold.train, fold.test
    gram = SampledKroneckerOperator(K, G, train.rows, train.cols)
    cross = SampledKroneckerOperator(K, G, test.rows, test.cols, train.rows, train.cols)
    options = {"shift": reg, "tol": tol, "max_iter": max_iter, "verify": False}
    a = minres(gram, fold.y_train, **options).x
    r = cross.matvec(a) - fold.y_test
    b = minres(gram, cross.rmatvec(r), **options).x
    A = _matrix(train, a)
    C = _matrix(test, r) - _matrix(train, b)
    scale = 2 / len(r)
    by_rows, by_cols = C @ G @ A.T, C.T @ K @ A
    return (
        float(r @ r) / len(r),
        scale * row_weights * _derivatives(fold.rows, by_rows),
        scale * col_weights * _derivatives(fold.cols, by_cols),
    )


def combined(bases: Mapping[str, np.ndarray], weights: np.ndarray) -> np.ndarray:
    """The sum of the base kernels and of the identity, by their weights."""
    K = np.zeros_like(next(iter(bases.values())), dtype=np.float64)
    for weight, base in zip(weights[:-1], bases.values(), strict=True):
        K += weight * base
    K.flat[:: len(K) + 1] += weights[-1]
    return K


def _matrix(pairs, values):
    M = np.zeros((pairs.n_rows, pairs.n_cols))
    np.add.at(M, (pairs.rows, pairs.cols), values)
    return M


def _derivatives(bases, M):
    return np.array([*(np.vdot(base, M) for base in bases.values()), np.trace(M)])
