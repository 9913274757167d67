"""Kernel matrices of classes over one set of rows: products with blocks, derivatives, new rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from kronbench.errors import InputError
from kronbench.linalg.gemm import multiply, stored_product
from kronbench.linalg.gram_matrix import KernelColumns, dense, gram, squared_distances
from kronbench.linalg.lowrank import factor_at, incomplete_cholesky
from kronbench.linalg.panel_loops import SparseProducts

Features: TypeAlias = np.ndarray | sparse.sparray  # (n, d)

# Rows of a stored matrix that are made or weighted at a time.
_BLOCK_ROWS = 256

# Kernel values with new rows that are in memory at a time.
_CROSS_VALUES = 2**22


def kernels_of(
    X: Features,
    kernel: str | Callable,
    gamma: np.ndarray,
    *,
    rank: int | None = None,
    dtype: DTypeLike = np.float64,
) -> Kernels:
    """Kernel matrices over the rows of X (n, d), one for each of the widths gamma (L,).

    ``kernel`` is "linear", "gaussian", "tanimoto", "precomputed" or a function of X and Y;
    ``rank`` the pivots of a low-rank kernel with corrected diagonal, None for an exact one;
    ``dtype`` that of stored kernel matrices and sparse features.
    """
    if rank is not None:
        if len(gamma) > 1:
            raise InputError("gamma has several values: a low-rank kernel takes one")
        if kernel == "precomputed":
            raise InputError("kernel is 'precomputed': a low-rank kernel needs features")
        return LowRankKernel(X, kernel, gamma[0], rank)
    if kernel == "linear":
        return SparseFeatures(X, dtype) if sparse.issparse(X) else DenseFeatures(X)
    if kernel == "gaussian":
        return GaussianKernels(X, gamma, dtype)
    if kernel == "precomputed":
        if X.shape[0] != X.shape[1]:
            raise InputError(f"the precomputed kernel has shape {X.shape}: give (n, n)")
        return StoredKernels([dense(X).astype(dtype, copy=False)])
    matrix = gram(X, kernel=kernel).astype(dtype, copy=False)
    return StoredKernels([matrix], X, partial(gram, kernel=kernel))


class Kernels:
    """Matrices M^(l), l = 0..L-1, over the same n rows, without variances.

        product(block)          M times a block (n, K)
        derivative(block)       dM / d log gamma times a block, of Gaussian kernels alone
        diagonal()              (n, L) diagonals
        cross(X, block)         kernel values of new rows with the training rows, times the block

    Stored kernels take ``which`` (K,) integers, the matrix of each column; the first when None.
    """

    n_kernels = 1
    is_stored = False  # whether matrices are in memory: one pass should then serve many blocks
    n_rows: int
    dtype: np.dtype

    def forget(self) -> None:
        """Drop what products with new rows do not need."""


class LinearFeatures(Kernels):
    """The linear kernel M = X X' of features X (n, d)."""

    features: Any  # (n, d)

    def coef(self, block: np.ndarray) -> np.ndarray:
        """X'A (d, K): weights of the features."""
        return self.features.T @ block

    def cross(self, X: Features, block: np.ndarray) -> np.ndarray:
        return X @ self.coef(block)


class DenseFeatures(LinearFeatures):
    """Of dense features: O(n min(n, d)) for each column."""

    def __init__(self, X: np.ndarray):
        self.features = np.ascontiguousarray(X)
        self.n_rows, self.dtype = len(self.features), self.features.dtype

    def product(self, block: np.ndarray) -> np.ndarray:
        # The product is (X X') A with a stored matrix, or X (X'A), n or 2 d multiplications each.
        if self.n_rows < 2 * self.features.shape[1]:
            return multiply(self._gram, block)
        return multiply(self.features, multiply(self.features.T, block))

    @cached_property
    def _gram(self):
        return self.features @ self.features.T

    def diagonal(self) -> np.ndarray:
        return np.einsum("ij,ij->i", self.features, self.features)[:, None]


class SparseFeatures(LinearFeatures):
    """Of sparse features, by document and by word: O(number of entries) for each column."""

    def __init__(self, X: sparse.sparray, dtype: DTypeLike = np.float64):
        self.features = sparse.csr_array(X).astype(dtype)
        self.features.sort_indices()
        self.n_rows, self.dtype = self.features.shape[0], np.dtype(dtype)
        self._products = SparseProducts(self.features)

    def product(self, block: np.ndarray) -> np.ndarray:
        return self._products.gram(block)

    def diagonal(self) -> np.ndarray:
        return np.asarray(self.features.multiply(self.features).sum(axis=1)).reshape(-1, 1)


class StoredKernels(Kernels):
    """Symmetric kernel matrices (n, n) in memory, float32 or float64; sums in double precision.

    New rows are compared with the training rows X by ``kernel(X_new, X)``, or are given as their
    kernel values where there is none.
    """

    is_stored = True
    dtype = np.dtype(np.float64)

    def __init__(
        self,
        matrices: Sequence[np.ndarray],
        X: Features | None = None,
        kernel: Callable | None = None,
    ):
        self.matrices = list(matrices)
        self.X, self._kernel = X, kernel
        self.n_kernels, self.n_rows = len(self.matrices), len(self.matrices[0])

    def forget(self) -> None:
        self.matrices = []

    def compare(self, X: Features, kernel: int) -> np.ndarray:
        """(n_new, n) values of one kernel between new rows and the training rows."""
        return X if self._kernel is None else self._kernel(X, self.X)

    def product(self, block: np.ndarray, which: np.ndarray | None = None) -> np.ndarray:
        return _by_kernel(block, which, lambda k, part: stored_product(self.matrices[k], part))

    def diagonal(self) -> np.ndarray:
        return np.stack([matrix.diagonal() for matrix in self.matrices], axis=1).astype(float)

    def cross(self, X: Features, block: np.ndarray, which: np.ndarray | None = None) -> np.ndarray:
        # The kernel values of some new rows at a time are in memory.
        out = np.empty((X.shape[0], block.shape[1]))
        step = max(1, _CROSS_VALUES // self.n_rows)
        for start in range(0, X.shape[0], step):
            rows = slice(start, start + step)
            out[rows] = _by_kernel(
                block, which, lambda k, part, rows=rows: self.compare(X[rows], k) @ part
            )
        return out


class GaussianKernels(StoredKernels):
    """M^(l) = exp(-gamma_l |x - x'|^2) for widths (L,), stored; the distances are kept once."""

    def __init__(
        self,
        X: Features,
        gamma: np.ndarray,
        dtype: DTypeLike = np.float64,
        distances: np.ndarray | None = None,
    ):
        self.gamma, self._storage = np.asarray(gamma, float), np.dtype(dtype)
        if distances is None:
            # Rounding must not leave a distance of a row to itself.
            distances = squared_distances(X).astype(dtype)
            np.fill_diagonal(distances, 0)
        self._distances: Any = distances
        # Numbers that are subnormal in the storage slow every product with them: they become zero.
        smallest = np.log(np.finfo(distances.dtype).tiny)
        matrices = [np.empty_like(distances) for _ in self.gamma]
        for out, g in zip(matrices, self.gamma, strict=True):
            if not np.isfinite(g) or g <= 0:
                raise InputError(f"gamma is {g}: the gaussian kernel needs positive numbers")
            for start in range(0, len(distances), _BLOCK_ROWS):
                rows = slice(start, start + _BLOCK_ROWS)
                part = np.multiply(distances[rows], distances.dtype.type(-g), out=out[rows])
                part[part < smallest] = -np.inf
                np.exp(part, out=part)
        super().__init__(matrices, X)

    def forget(self) -> None:
        super().forget()
        self._distances = None

    def compare(self, X: Features, kernel: int) -> np.ndarray:
        return gram(X, self.X, kernel="gaussian", gamma=self.gamma[kernel])

    def with_gamma(self, gamma: np.ndarray) -> GaussianKernels:
        """The same rows with other widths."""
        gamma = np.asarray(gamma, float)
        if np.array_equal(gamma, self.gamma):
            return self
        return GaussianKernels(self.X, gamma, self._storage, self._distances)

    def derivative(self, block: np.ndarray, which: np.ndarray | None = None) -> np.ndarray:
        """-gamma_l (|x - x'|^2 o M^(l)) times each column (Seeger 2006, section 9.3)."""

        # M and the distances are both stored: their elementwise product is made by blocks of rows.
        def product(kernel, part):
            out = np.empty((self.n_rows, part.shape[1]))
            for start in range(0, self.n_rows, _BLOCK_ROWS):
                rows = slice(start, start + _BLOCK_ROWS)
                distances = self._distances[rows].astype(np.float64)
                multiply(distances * self.matrices[kernel][rows], part, out=out[rows])
            return -self.gamma[kernel] * out

        return _by_kernel(block, which, product)


class LowRankKernel(Kernels):
    """M ~ diag(M) + L L' - diag(L L') with few pivots: O(n k) a column (Seeger 2006, 7.4).

    The diagonal is that of L L' where it is not ``corrected``. ``pivots`` (k,) are the points of
    the factor; by incomplete Cholesky decomposition when None.
    """

    dtype = np.dtype(np.float64)
    gamma: Any  # a number, or None for kernels without a width

    def __init__(
        self,
        X: Features,
        kernel: str | Callable = "gaussian",
        gamma: float | None = None,
        max_rank: int = 100,
        corrected: bool = True,
        pivots: np.ndarray | None = None,
    ):
        self.X, self.kernel, self.gamma = X, kernel, None if gamma is None else float(gamma)
        self.max_rank, self.corrected = max_rank, corrected
        columns = KernelColumns(X, kernel, self.gamma)
        if pivots is None:
            self.factor = incomplete_cholesky(columns, max_rank)
        else:
            self.factor = factor_at(columns, pivots)
        self.L = L = self.factor.factor
        self.n_rows = len(L)
        # The correction diag(M) - diag(L L') of section 7.4 is negative by rounding only.
        self.correction = np.maximum(columns.diagonal() - np.einsum("ij,ij->i", L, L), 0.0)

    def with_gamma(self, gamma: float) -> LowRankKernel:
        """The same pivots with another width."""
        (gamma,) = np.asarray(gamma, float).reshape(-1)
        if gamma == self.gamma:
            return self
        return LowRankKernel(
            self.X, self.kernel, gamma, self.max_rank, self.corrected, self.factor.pivots
        )

    def product(self, block: np.ndarray) -> np.ndarray:
        out = multiply(self.L, multiply(self.L.T, block))
        if self.corrected:
            out += self.correction[:, None] * block
        return out

    def derivative(self, block: np.ndarray) -> np.ndarray:
        """dM~ / d log gamma times each column, the pivots fixed (Appendix C).

        With R = M_{.,I} M_I^-1: d(L L') = dM_{.,I} R' + R dM_{I,.} - R dM_I R'. Its diagonal
        is taken off where it is corrected; that of M does not depend on the width.
        """
        # The triangle L_I of the pivots has M_{.,I} = L L_I' and M_I = L_I L_I', so that R is
        # L L_I^-1; ``slope`` is dM_{.,I} = -gamma |x - x'|^2 o M_{.,I} by log gamma.
        pivots = self.factor.pivots
        L, triangle = self.L, self.L[pivots]
        R = np.linalg.solve(triangle.T, L.T).T
        distances = squared_distances(self.X, self.X[pivots])
        slope = -self.gamma * distances * (L @ triangle.T)
        # The product with Eq. 9 takes O(n k) a column.
        inner = R.T @ block
        out = slope @ inner + R @ (slope.T @ block - slope[pivots].T @ inner)
        if self.corrected:
            # The same three terms give the diagonal of Eq. 9.
            diagonal = 2 * np.einsum("ij,ij->i", slope, R)
            diagonal -= np.einsum("ij,ij->i", R @ slope[pivots], R)
            out -= diagonal[:, None] * block
        return out

    def diagonal(self) -> np.ndarray:
        diagonal = np.einsum("ij,ij->i", self.L, self.L)
        return (diagonal + self.correction if self.corrected else diagonal)[:, None]

    def cross(self, X: Features, block: np.ndarray) -> np.ndarray:
        # Section 7.4 has M_{*,I} (L_I)^-T L': ``transform`` makes rows of L for new points.
        values = gram(X, self.X[self.factor.pivots], kernel=self.kernel, gamma=self.gamma)
        return self.factor.transform(values) @ (self.L.T @ block)


def _by_kernel(block, which, product):
    """Columns of a block, those of each kernel together through ``product(kernel, columns)``."""
    used = np.unique(0 if which is None else which)
    if len(used) == 1:
        return product(used[0], block)
    # The dtype of the products is known with the first of them.
    out = None
    for kernel in used:
        columns = which == kernel
        values = product(kernel, np.ascontiguousarray(block[:, columns]))
        if out is None:
            out = np.empty((len(values), block.shape[1]), values.dtype)
        out[:, columns] = values
    return out
