"""Weighted sums of candidate kernels of each side, and the validation error of their weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kronbench.errors import InputError
from kronbench.evaluation import margin_scores
from kronbench.linalg import KernelColumns, dense, gram, minres
from kronbench.linalg.eigen import check_semidefinite
from kronbench.models._pair_labels import check_precomputed, check_width
from kronbench.pairs import PairData, SampledKroneckerOperator

Candidate = str | Callable | np.ndarray

NAMES = ("linear", "tanimoto", "precomputed", "constant", "profile")


def is_named(candidate: Candidate, name: str) -> bool:
    return isinstance(candidate, str) and candidate == name


def base_kernels(
    candidates: Mapping[str, Candidate],
    powers: Sequence[int],
    X: PairData,
    y: np.ndarray,
    side: str,
) -> dict[str, np.ndarray]:
    """Kernel matrices (v, v) over all vertices of a side, divided by the mean of their diagonals.

    ``candidates`` maps names to kernels, as in ``KronRidgeCV``; all but "constant" and "profile"
    come in each of ``powers``, elementwise, which are kernels too.
    """
    features, index = getattr(X, f"{side}_features"), getattr(X, f"{side}s")
    size = features.shape[0]
    bases = {}
    for name, candidate in candidates.items():
        entry = f"{side}_kernels[{name!r}]"
        if is_named(candidate, "constant"):
            bases[name] = np.ones((size, size))
            continue
        if is_named(candidate, "profile"):
            bases[name] = profile_kernel(X, y, side)
            continue
        if isinstance(candidate, str) and candidate not in NAMES:
            raise InputError(
                f"{side}_kernels has {candidate!r}: give one of {', '.join(map(repr, NAMES))}, a "
                "kernel function or a kernel matrix"
            )
        named = isinstance(candidate, str) or callable(candidate)
        K = gram(features, kernel=candidate) if named else dense(candidate)
        if K.shape != (size, size):
            raise InputError(
                f"{entry} has shape {K.shape}: give one row and one column for each of the {size} "
                "vertices"
            )
        check_semidefinite(K, entry)
        level = np.mean(K.diagonal()[np.unique(index)])
        if not level > 0:
            raise InputError(
                f"{entry} is zero for every vertex of the training pairs: leave it out, or give "
                "other features"
            )
        bases |= _in_powers(name, K / level, powers)
    return bases


def _in_powers(name, K, powers):
    return {name if power == 1 else f"{name}^{power}": K**power for power in powers}


def kernel_of_new(
    weights: Mapping[str, float],
    candidates: Mapping[str, Candidate],
    powers: Sequence[int],
    X: PairData,
    y: np.ndarray,
    side: str,
    features: np.ndarray,
) -> np.ndarray:
    """The weighted sum (u, v) of the base kernels between u new vertices and the v of a side."""
    given, used = getattr(X, f"{side}_features"), np.unique(getattr(X, f"{side}s"))
    total = np.zeros((features.shape[0], given.shape[0]))
    for name, candidate in candidates.items():
        if not any(weights.get(of, 0) for of in (name, *_in_powers(name, 1.0, powers))):
            continue
        if is_named(candidate, "constant"):
            total += weights[name]
            continue
        if is_named(candidate, "profile"):  # a new vertex has the profile zero
            Z, gamma = _profiles(X, y, side)
            none = np.zeros((1, Z.shape[1]))
            total += weights[name] * gram(none, Z, kernel="gaussian", gamma=gamma)
            continue
        if not (isinstance(candidate, str) or callable(candidate)):
            raise InputError(
                f"{side}_kernels[{name!r}] is a kernel matrix, which has no entries for a new "
                f"{side} vertex: fit to a PairData that also has the vertices to predict, or "
                "give 'precomputed' and the matrix as features"
            )
        if is_named(candidate, "precomputed"):
            check_precomputed(features, given.shape[0], side)
            diagonal, K = dense(given).diagonal()[used], dense(features)
        else:
            check_width(features, given.shape[1], side)
            diagonal = KernelColumns(given[used], candidate).diagonal()
            K = gram(features, given, kernel=candidate)
        for of_power, base in _in_powers(name, K / np.mean(diagonal), powers).items():
            total += weights[of_power] * base
    return total


def profile_kernel(X: PairData, y: np.ndarray, side: str) -> np.ndarray:
    """Gaussian kernel between the label profiles of a side (van Laarhoven et al. 2011).

    A profile z is what the training labels of a vertex are beyond row and column effects, zero
    where a pair is not known and all zero for a new vertex: exp(-||z - z'||^2 / mean ||z||^2).
    """
    Z, gamma = _profiles(X, y, side)
    K = gram(Z, kernel="gaussian", gamma=gamma)
    return (K + K.T) / 2


def _profiles(X, y, side):
    """Profiles, one a row, and the inverse of their mean squared length."""
    Z = np.zeros((X.n_rows, X.n_cols))
    Z[X.rows, X.cols] = y - margin_scores(X, y, X)
    Z = Z if side == "row" else Z.T
    squares = np.einsum("ij,ij->i", Z, Z)
    known = squares[squares > 0]
    return Z, 1 / known.mean() if len(known) else 1.0


class Fold(NamedTuple):
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
    operator = SampledKroneckerOperator(K, G, train.rows, train.cols)
    cross = SampledKroneckerOperator(K, G, test.rows, test.cols, train.rows, train.cols)
    options = {"shift": reg, "tol": tol, "max_iter": max_iter, "verify": False}
    a = minres(operator, fold.y_train, **options).x
    r = cross.matvec(a) - fold.y_test
    b = minres(operator, cross.rmatvec(r), **options).x
    A = _matrix(train, a)
    C = _matrix(test, r) - _matrix(train, b)

    def gradient(weights, bases, M):
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
    M = np.zeros((pairs.n_rows, pairs.n_cols))
    np.add.at(M, (pairs.rows, pairs.cols), values)
    return M
