"""Eigenpairs of kernel matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, eigh, eigh_tridiagonal, qr
from scipy.linalg.lapack import dgejsv
from scipy.sparse.linalg import aslinearoperator

from kronbench.errors import InputError
from kronbench.linalg.krylov import lanczos

# Subspace iteration for a rough space: further columns, and passes.
_OVERSAMPLED_COLUMNS, _PASSES = 8, 3

# Rows up to which check_semidefinite computes all eigenvalues, and its Lanczos steps beyond.
_ROWS_OF_FULL_CHECK = 600
_LANCZOS_STEPS = 60
_EPS = np.finfo(np.float64).eps
# Up to this ratio of the sizes of columns the usual decomposition finds all that they tell: the
# rounding of the largest column is below 1e-11 of the smallest.
_EVEN_SIZES = 1e4


@dataclass(frozen=True)
class Spectrum:
    """Eigenpairs of a positive semidefinite (n, n) matrix.

    The ``values`` (k,) increase; those that rounding cannot tell from zero are zero. ``vectors``
    (n, k) are orthonormal columns, in C order. Eigenvalues that are left out are zero.
    """

    values: np.ndarray
    vectors: np.ndarray

    @property
    def full(self) -> bool:
        """Whether the vectors span the whole space."""
        return self.vectors.shape[0] == self.vectors.shape[1]

    @cached_property
    def squared(self) -> np.ndarray:
        """Squares of the entries of ``vectors``: ``squared @ f`` is the diagonal of f(matrix)."""
        return self.vectors**2

    @cached_property
    def null_leverage(self) -> np.ndarray:
        """Diagonal (n,) of the projector onto the vectors that are left out."""
        if self.full:
            return np.zeros(len(self.vectors))
        return np.maximum(1.0 - self.squared.sum(axis=1), 0.0)

    def completed(self) -> Spectrum:
        """All n eigenpairs, with those of eigenvalues zero that are left out."""
        if self.full:
            return self
        # The last columns of a complete QR decomposition span what the vectors leave out.
        vectors = np.hstack([qr(self.vectors)[0][:, len(self.values) :], self.vectors])
        zeros = np.zeros(len(vectors) - len(self.values))
        return Spectrum(np.concatenate([zeros, self.values]), vectors)

    def coordinates(self, Y: np.ndarray) -> np.ndarray:
        """``vectors.T @ Y``."""
        return self.vectors.T @ Y


def kernel_spectrum(matrix: np.ndarray, name: str = "matrix") -> Spectrum:
    """All eigenpairs of a symmetric positive semidefinite (n, n) matrix, in O(n^3)."""
    matrix = np.asarray(matrix, dtype=np.float64)
    check_symmetric(matrix, name)
    values, vectors = np.linalg.eigh(matrix)
    if len(values) and values[0] < -1e-8 * values[-1]:
        raise InputError(
            f"{name} has the negative eigenvalue {values[0]:.3g}: a kernel matrix must be "
            "positive semidefinite; psd_part sets negative eigenvalues to zero"
        )
    return Spectrum(_without_noise(values, len(values)), np.ascontiguousarray(vectors))


def check_semidefinite(matrix: np.ndarray, name: str = "matrix") -> None:
    """Raise InputError where a symmetric (n, n) matrix has a negative eigenvalue beyond rounding.

    All eigenvalues of a small matrix are computed; of one with more than 600 rows the smallest and
    the largest Ritz value of 60 Lanczos steps, O(60 n^2). Ritz values lie between the extreme
    eigenvalues, so that no semidefinite matrix is refused; a negative eigenvalue of less than a
    thousandth of the largest may pass unseen in a large one.
    """
    matrix = np.asarray(matrix)
    check_symmetric(matrix, name)
    if not len(matrix):
        return
    if len(matrix) <= _ROWS_OF_FULL_CHECK:
        values = np.linalg.eigvalsh(matrix.astype(np.float64, copy=False))
    else:
        # A random start has a part along every eigenvector; the seed makes the answer the same.
        start = np.random.default_rng(0).standard_normal(len(matrix)).astype(matrix.dtype)
        if matrix.dtype.kind != "f":
            matrix, start = matrix.astype(np.float64), start.astype(np.float64)
        # Ritz values are the eigenvalues of the tridiagonal matrix of the steps.
        steps = list(lanczos(aslinearoperator(matrix), start, _LANCZOS_STEPS))
        _, alphas, betas, _ = zip(*steps, strict=True)
        values = eigh_tridiagonal(alphas, betas[:-1], eigvals_only=True)
    lowest, highest = values[0], values[-1]
    rounding = 1e-4 if matrix.dtype == np.float32 else 1e-6
    if lowest < -rounding * highest:
        raise InputError(
            f"{name} is indefinite, with eigenvalues from {lowest:.3g} to {highest:.3g}, so "
            "solutions are meaningless at some weights: give kronbench.linalg.psd_part of it, or "
            "its rows as features of another kernel"
        )


def check_symmetric(matrix: np.ndarray, name: str = "matrix") -> None:
    """Raise InputError unless the (n, n) matrix is square, finite and symmetric up to rounding."""
    _check(matrix, name)
    rounding = 1e-5 if matrix.dtype == np.float32 else 1e-8
    for start in range(0, len(matrix), 256):
        rows = matrix[start : start + 256]
        off = np.abs(rows - matrix[:, start : start + 256].T).max()
        if off > rounding * max(np.abs(rows).max(), np.abs(matrix[:, start : start + 256]).max()):
            raise InputError(
                f"{name} is not symmetric: give (K + K.T) / 2, or psd_part(K), instead of K"
            )


def _check(matrix, name):
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"{name} has shape {matrix.shape}: a kernel matrix must be square")
    if not np.isfinite(matrix).all():
        raise InputError(f"{name} holds NaN or infinite values: give finite numbers")


def feature_factors(features: np.ndarray) -> tuple[Spectrum, np.ndarray]:
    """Eigenpairs of ``features @ features.T`` for features (n, d), and their axes (d, k).

    They come from the singular value decomposition of the features, in O(n d min(n, d)):
    ``features @ axes`` is ``vectors * sqrt(values)``. Where the columns of the features differ
    much in size, the method is Jacobi's (LAPACK's gejsv; Drmac & Veselic 2008), which finds the
    small singular values of columns of any scale to a small relative error. Singular values below
    the rounding of the columns that their axes combine are left out: k is the rank. InputError
    where the squares of the features are too large for a number.
    """
    features = np.asarray(features, dtype=np.float64)
    with np.errstate(over="ignore"):
        sizes = np.linalg.norm(features, axis=0)
        if not np.isfinite(sizes @ sizes):
            raise InputError("squares of features are too large for a number: scale the features")
    # One rule for the rank serves both decompositions: a singular value counts where it is above
    # the rounding of ``combined``, the length of what its axis combines.
    largest = sizes.max(initial=0.0)
    if largest <= _EVEN_SIZES * sizes.min(initial=np.inf, where=sizes > 0):
        U, singular, Vt = np.linalg.svd(features, full_matrices=False)
        V, combined = Vt.T, largest
    else:
        # gejsv takes no more columns than rows. Its option "F" (2) pivots rows as well, because
        # the rows of transposed features differ in size.
        wide = features.shape[0] < features.shape[1]
        scaled, U, V, work, _, info = dgejsv(features.T if wide else features, joba=2, jobt=1)
        if info:
            raise LinAlgError(f"gejsv found no singular values (info={info})")
        U, V = (V, U) if wide else (U, V)
        # gejsv scales singular values that would overflow or underflow, and tells the factor.
        singular = scaled * (work[0] / work[1])
        combined = np.linalg.norm(sizes[:, None] * V, axis=0)
    kept = np.flatnonzero(singular > max(features.shape) * _EPS * combined)[::-1]
    return Spectrum(singular[kept] ** 2, np.ascontiguousarray(U[:, kept])), V[:, kept]


def psd_part(similarity: np.ndarray) -> np.ndarray:
    """The positive semidefinite (n, n) matrix nearest to a similarity in the Frobenius norm.

    It is symmetrized, and its negative eigenvalues are set to zero. InputError where it is not
    square or not finite.
    """
    similarity = np.asarray(similarity, dtype=np.float64)
    _check(similarity, "similarity")
    values, vectors = eigh((similarity + similarity.T) / 2)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


def _without_noise(values, n):
    largest = values[-1] if len(values) else 0.0
    return np.where(values > n * _EPS * largest, values, 0.0)


def leading_vectors(
    product: Callable[[np.ndarray], np.ndarray], n: int, rank: int, dtype: np.dtype
) -> np.ndarray:
    """(n, at most rank) orthonormal, near leading eigenvectors, by three subspace iterations.

    Lanczos methods of libraries ask for single columns, each as dear as a panel of them here.
    """
    rank = min(rank, n)
    image = np.random.default_rng(0).standard_normal((n, min(rank + _OVERSAMPLED_COLUMNS, n)))
    # Subspace iteration with Rayleigh-Ritz: the basis is turned to the eigenvectors of the
    # projected matrix, largest eigenvalue first, so that the first columns are the ones to keep.
    for _ in range(_PASSES):
        block = np.linalg.qr(image)[0]
        image = product(block.astype(dtype)).astype(float)
        axes = np.linalg.eigh(block.T @ image)[1][:, ::-1]
        image = image @ axes
    return (block @ axes)[:, :rank]
