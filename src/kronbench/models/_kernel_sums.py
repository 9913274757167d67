"""Weighted sums of candidate kernels of each side, and the validation error of their weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from kronbench.evaluation import additive_scores
from kronbench.linalg import gram, minres
from kronbench.pairs import PairData, SampledKroneckerOperator


def profile_kernel(X: PairData, y: np.ndarray, side: str) -> np.ndarray:
    """Gaussian kernel between the label profiles of a side (van Laarhoven et al. 2011).

    A profile z is what the training labels of a vertex are beyond row and column effects, zero
    where a pair is not known and all zero for a new vertex: exp(-||z - z'||^2 / mean ||z||^2).
    """
    Z, gamma = profiles(X, y, side)
    K = gram(Z, kernel="gaussian", gamma=gamma)
    return (K + K.T) / 2


def profiles(X: PairData, y: np.ndarray, side: str) -> tuple[np.ndarray, float]:
    """Profiles, one a row, and the inverse of their mean squared length."""
    Z = np.zeros((X.n_rows, X.n_cols))
    Z[X.rows, X.cols] = y - additive_scores(X, y, X)
    Z = Z if side == "row" else Z.T
    squares = np.einsum("ij,ij->i", Z, Z)
    # Vertices without labels have no profile, and no part in the mean.
    positive = squares[squares > 0]
    return Z, 1 / positive.mean() if len(positive) else 1.0


class Fold(NamedTuple):
    """Pairs that train and validate, their labels less the training mean, and base kernels."""

    train: PairData
    test: PairData
    y_train: np.ndarray
    y_test: np.ndarray
    rows: Mapping[str, np.ndarray]
    cols: Mapping[str, np.ndarray]


def validation_loss(
    fold: Fold, row_weights: np.ndarray, col_weights: np.ndarray, reg: float, **options: Any
) -> tuple[float, np.ndarray, np.ndarray]:
    """Mean squared error on the validation pairs, and its gradient in the logarithms of weights.

    The kernel of pairs is (sum_i u_i K_i + u_e I) kron (sum_j w_j G_j + w_e I), the coefficients
    are a = (Q + reg I)^-1 y, and p = P a are the predictions of the validation pairs. With
    r = p - y and the adjoint b = (Q + reg I)^-1 P' r, the derivative in a direction dQ, dP is
    2 (r'dP a - b'dQ a) / t. As a and (r, -b) are matrices A and C over the vertices, zero where
    there is no pair, all derivatives by row weights are inner products of the K_i with the one
    matrix C G A', and by column weights of the G_j with C'K A, O(m q (m + q)). The last weight is
    that of the identity; ``options`` are those of MINRES.
    """
    # Q is the operator of the training pairs, and P leads from them to the validation pairs.
    K = combined(fold.rows, row_weights)
    G = combined(fold.cols, col_weights)
    train, test = fold.train, fold.test
    operator = SampledKroneckerOperator(K, G, train.rows, train.cols)
    cross = SampledKroneckerOperator(K, G, test.rows, test.cols, train.rows, train.cols)
    options |= {"shift": reg, "verify": False}
    # The fit gives the error r of its predictions, whose image is the adjoint system's right side.
    a = minres(operator, fold.y_train, **options).x
    r = cross.matvec(a) - fold.y_test
    b = minres(operator, cross.rmatvec(r), **options).x
    # r'dP a - b'dQ a is the inner product of dK with C G A', and of dG with C'K A.
    A = _matrix(train, a)
    C = _matrix(test, r) - _matrix(train, b)

    def gradient(weights, bases, M):
        """By the logarithms of the weights, whence the factor of each weight itself."""
        derivatives = [*(np.vdot(base, M) for base in bases.values()), np.trace(M)]
        return 2 / len(r) * weights * np.array(derivatives)

    by_rows = gradient(row_weights, fold.rows, C @ G @ A.T)
    return float(r @ r) / len(r), by_rows, gradient(col_weights, fold.cols, C.T @ K @ A)


def combined(bases: Mapping[str, np.ndarray], weights: np.ndarray) -> np.ndarray:
    """The sum of the base kernels and of the identity, by their weights."""
    K = np.zeros_like(next(iter(bases.values())), dtype=np.float64)
    for weight, base in zip(weights[:-1], bases.values(), strict=True):
        K += weight * base
    K.flat[:: len(K) + 1] += weights[-1]
    return K


def _matrix(pairs, values):
    """Values of pairs as a matrix over the vertices, summed where a pair is repeated."""
    M = np.zeros((pairs.n_rows, pairs.n_cols))
    np.add.at(M, (pairs.rows, pairs.cols), values)
    return M
