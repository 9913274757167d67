"""Kernel matrices of classes over one set of rows: products with blocks, derivatives, new rows.

Every class here holds the matrices M^(l), l = 0..L-1, over the same n rows, and has

    product(block, which)        column k of (n, K) times M^(which_k)
    derivative(block, which)     the same with dM^(l) / d log gamma_l (Gaussian kernels alone)
    diagonal()                   (n, L) diagonals
    cross(X, block, which)       kernel values of new rows with the training rows, times the block

where ``which`` (K,) integers may be left out when L is one. Variances are not part of M.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numba import njit, prange
from scipy import sparse

from kronbench.classes.sparse_features import SparseProducts
from kronbench.errors import InputError
from kronbench.linalg.gemm import multiply
from kronbench.linalg.gram_matrix import gram, squared_distances
from kronbench.linalg.kernel_columns import KernelColumns
from kronbench.linalg.lowrank import LowRankFactor, incomplete_cholesky
from kronbench.linalg.threads import at_most_threads

# Columns up to which a stored matrix is passed by our own loop, which is bound by memory; more of
# them where the BLAS would need a matrix in single precision widened.
_FEW_COLUMNS = 12
_FEW_COLUMNS_OF_SINGLE = 32

# Rows of a matrix in single precision that are widened at a time for a product of the BLAS.
_BLOCK_ROWS = 256

# Kernel values with new rows that are in memory at a time.
_CROSS_VALUES = 2**22

_WORTH_A_THREAD = 1e6


class DenseFeatures:
    """The linear kernel M = X X' of dense features X (n, d): O(n min(n, d)) for each column."""

    n_kernels = 1

    def __init__(self, X: np.ndarray):
        self.features = np.ascontiguousarray(X)
        self.n_rows, self.dtype = len(self.features), self.features.dtype

    def product(self, block: np.ndarray, which: np.ndarray | None = None) -> np.ndarray:
        if self.n_rows < 2 * self.features.shape[1]:
            return multiply(self._gram, block)
        return multiply(self.features, multiply(self.features.T, block))

    @cached_property
    def _gram(self):
        return self.features @ self.features.T

    def diagonal(self) -> np.ndarray:
        return np.einsum("ij,ij->i", self.features, self.features)[:, None]

    def coef(self, block: np.ndarray) -> np.ndarray:
        """X'A (d, K): weights of the features."""
        return self.features.T @ block

    def cross(
        self, X: np.ndarray | sparse.sparray, block: np.ndarray, which: np.ndarray | None = None
    ) -> np.ndarray:
        return X @ self.coef(block)


class SparseFeatures:
    """The linear kernel M = X X' of sparse features X (n, d), by document and by word.

    O(number of entries) for each column; see :class:`SparseProducts`.
    """

    n_kernels = 1

    def __init__(self, X: sparse.sparray, dtype: np.dtype = np.float64):
        self.features = sparse.csr_array(X).astype(dtype)
        self.features.sort_indices()
        self.n_rows, self.dtype = self.features.shape[0], np.dtype(dtype)

    def product(self, block: np.ndarray, which: np.ndarray | None = None) -> np.ndarray:
        return self._products.gram(block)

    def diagonal(self) -> np.ndarray:
        return np.asarray(self.features.multiply(self.features).sum(axis=1)).reshape(-1, 1)

    def coef(self, block: np.ndarray) -> np.ndarray:
        return self.features.T @ block

    def cross(
        self, X: np.ndarray | sparse.sparray, block: np.ndarray, which: np.ndarray | None = None
    ) -> np.ndarray:
        return X @ self.coef(block)

    @cached_property
    def _products(self):
        return SparseProducts(self.features)


class StoredKernels:
    """Kernel matrices in memory, one (n, n) array each; sums in double precision.

    Parameters
    ----------
    matrices : sequence of (n, n) symmetric arrays, float32 or float64
    X, kernel : optional
        Features of the training rows and the kernel function callable(X, Y) of all matrices, by
        which new rows are compared with them; without, new rows are given as their kernel values.
    """

    def __init__(
        self,
        matrices: Sequence[np.ndarray],
        X: np.ndarray | sparse.sparray | None = None,
        kernel: Callable | None = None,
    ):
        self.matrices = list(matrices)
        self.X, self._kernel = X, kernel
        self.n_kernels, self.n_rows = len(self.matrices), len(self.matrices[0])
        self.dtype = np.dtype(np.float64)

    def forget(self) -> None:
        """Drop the matrices: products with new rows are left."""
        self.matrices = []

    def compare(self, X: np.ndarray | sparse.sparray, kernel: int) -> np.ndarray:
        """(n_new, n) values of one kernel between new rows and the training rows."""
        return X if self._kernel is None else self._kernel(X, self.X)

    def product(self, block: np.ndarray, which: np.ndarray | None = None) -> np.ndarray:
        return _by_kernel(block, which, lambda k, part: _product(self.matrices[k], part))

    def diagonal(self) -> np.ndarray:
        return np.stack([matrix.diagonal() for matrix in self.matrices], axis=1).astype(float)

    def cross(
        self, X: np.ndarray | sparse.sparray, block: np.ndarray, which: np.ndarray | None = None
    ) -> np.ndarray:
        out = np.empty((X.shape[0], block.shape[1]))
        step = max(1, _CROSS_VALUES // self.n_rows)
        for start in range(0, X.shape[0], step):
            rows = slice(start, start + step)
            out[rows] = _by_kernel(
                block, which, lambda k, part, rows=rows: self.compare(X[rows], k) @ part
            )
        return out


class GaussianKernels(StoredKernels):
    """M^(l) = exp(-gamma_l |x - x'|^2) for each width, stored; the distances are kept once.

    Parameters
    ----------
    X : (n, d) array or sparse matrix
    gamma : (L,) array
    dtype : {float64, float32}
        Of the stored matrices.
    """

    def __init__(
        self,
        X: np.ndarray | sparse.sparray,
        gamma: np.ndarray,
        dtype: np.dtype = np.float64,
        distances: np.ndarray | None = None,
    ):
        self.gamma, self._storage = np.asarray(gamma, float), np.dtype(dtype)
        if distances is None:
            distances = squared_distances(X).astype(dtype)
            np.fill_diagonal(distances, 0)
        self._distances = distances
        super().__init__([_exponential(distances, g) for g in self.gamma], X)

    def forget(self) -> None:
        super().forget()
        self._distances = None

    def compare(self, X: np.ndarray | sparse.sparray, kernel: int) -> np.ndarray:
        return gram(X, self.X, kernel="gaussian", gamma=self.gamma[kernel])

    def with_gamma(self, gamma: np.ndarray) -> GaussianKernels:
        """The same rows with other widths."""
        gamma = np.asarray(gamma, float)
        if np.array_equal(gamma, self.gamma):
            return self
        return GaussianKernels(self.X, gamma, self._storage, self._distances)

    def derivative(self, block: np.ndarray, which: np.ndarray | None = None) -> np.ndarray:
        """-gamma_l (|x - x'|^2 o M^(l)) times each column (Seeger 2006, section 9.3)."""

        def product(kernel, part):
            weighted = _weighted_product(self._distances, self.matrices[kernel], part)
            return -self.gamma[kernel] * weighted

        return _by_kernel(block, which, product)


class LowRankKernel:
    """M ~ diag(M) + L L' - diag(L L') with few pivots: O(n k) a column (Seeger 2006, 7.4).

    Parameters
    ----------
    X : (n, d) array or sparse matrix
    kernel, gamma : as for :func:`gram`
    max_rank : int
    corrected : bool
        Whether the diagonal is that of M, or that of L L'.
    pivots : (k,) integer array, optional
        The points of the factor; by incomplete Cholesky decomposition when None.
    """

    n_kernels = 1
    dtype = np.dtype(np.float64)

    def __init__(
        self,
        X: np.ndarray | sparse.sparray,
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
            self.factor = _factor_at(columns, pivots)
        L = self.factor.factor
        self.n_rows = len(L)
        # diag(M) - diag(L L'), not negative but for rounding
        self.left = columns.diagonal() - np.einsum("ij,ij->i", L, L)
        self.gap = np.maximum(self.left, 0.0)

    @property
    def features(self) -> np.ndarray:
        """L (n, k), whose inner products are the kernel where the diagonal is not corrected."""
        return self.factor.factor

    def with_gamma(self, gamma: float) -> LowRankKernel:
        """The same pivots with another width."""
        (gamma,) = np.asarray(gamma, float).reshape(-1)
        if gamma == self.gamma:
            return self
        return LowRankKernel(
            self.X, self.kernel, gamma, self.max_rank, self.corrected, self.factor.pivots
        )

    def product(self, block: np.ndarray, which: np.ndarray | None = None) -> np.ndarray:
        L = self.features
        out = multiply(L, multiply(L.T, block))
        if self.corrected:
            out += self.gap[:, None] * block
        return out

    def derivative(self, block: np.ndarray, which: np.ndarray | None = None) -> np.ndarray:
        """dM~ / d log gamma times each column, the pivots fixed (Appendix C).

        With R = M_{.,I} M_I^-1: d(L L') = dM_{.,I} R' + R dM_{I,.} - R dM_I R'. Its diagonal
        is taken off where it is corrected; that of M does not depend on the width.
        """
        pivots = self.factor.pivots
        L, triangle = self.features, self.features[pivots]
        R = np.linalg.solve(triangle.T, L.T).T
        distances = squared_distances(self.X, self.X[pivots])
        slope = -self.gamma * distances * (L @ triangle.T)
        inner = R.T @ block
        out = slope @ inner + R @ (slope.T @ block - slope[pivots].T @ inner)
        if self.corrected:
            diagonal = 2 * np.einsum("ij,ij->i", slope, R)
            diagonal -= np.einsum("ij,ij->i", R @ slope[pivots], R)
            out -= diagonal[:, None] * block
        return out

    def diagonal(self) -> np.ndarray:
        L = self.features
        diagonal = np.einsum("ij,ij->i", L, L)
        return (diagonal + self.gap if self.corrected else diagonal)[:, None]

    def cross(
        self, X: np.ndarray | sparse.sparray, block: np.ndarray, which: np.ndarray | None = None
    ) -> np.ndarray:
        values = gram(X, self.X[self.factor.pivots], kernel=self.kernel, gamma=self.gamma)
        return self.factor.transform(values) @ (self.features.T @ block)


Kernels = DenseFeatures | SparseFeatures | StoredKernels | LowRankKernel


def _factor_at(columns, pivots):
    """The factor of these pivots, in this order."""
    at_pivots = np.stack([columns.column(i) for i in pivots], axis=1)
    triangle = np.linalg.cholesky(at_pivots[pivots])
    factor = np.linalg.solve(triangle, at_pivots.T).T
    return LowRankFactor(factor, np.asarray(pivots), np.full(len(pivots), np.nan))


def _by_kernel(block, which, product):
    if which is None:
        return product(0, block)
    which = np.asarray(which)
    if len(which) != block.shape[1]:
        raise InputError(f"which has {len(which)} entries for {block.shape[1]} columns")
    used = np.unique(which)
    if len(used) == 1:
        return product(used[0], block)
    parts = {kernel: which == kernel for kernel in used}
    out = None
    for kernel, columns in parts.items():
        values = product(kernel, np.ascontiguousarray(block[:, columns]))
        if out is None:
            out = np.empty((len(values), block.shape[1]), values.dtype)
        out[:, columns] = values
    return out


def _product(matrix, block):
    as_stored = matrix.dtype == block.dtype
    if block.shape[1] <= (_FEW_COLUMNS if as_stored else _FEW_COLUMNS_OF_SINGLE):
        with at_most_threads(matrix.size * block.shape[1] / _WORTH_A_THREAD):
            return _few_columns(matrix, np.ascontiguousarray(block.T)).T
    if as_stored:
        return multiply(matrix, block)
    out = np.empty((len(matrix), block.shape[1]))
    for start in range(0, len(matrix), _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        multiply(matrix[rows].astype(block.dtype), block, out=out[rows])
    return out


def _weighted_product(distances, matrix, block):
    out = np.empty((len(matrix), block.shape[1]))
    for start in range(0, len(matrix), _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        weighted = distances[rows].astype(np.float64) * matrix[rows]
        multiply(weighted, block, out=out[rows])
    return out


def _exponential(distances, gamma):
    if not np.isfinite(gamma) or gamma <= 0:
        raise InputError(f"gamma is {gamma}: the gaussian kernel needs positive numbers")
    # Numbers that are subnormal in the storage slow every product with them
    smallest = np.log(np.finfo(distances.dtype).tiny)
    out = np.empty_like(distances)
    for start in range(0, len(distances), _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        exponents = np.multiply(distances[rows], distances.dtype.type(-gamma), out=out[rows])
        exponents[exponents < smallest] = -np.inf
        np.exp(exponents, out=exponents)
    return out


@njit(parallel=True, cache=True, fastmath={"reassoc", "contract"})
def _few_columns(matrix, columns):
    """Matrix @ columns.T, transposed: four rows of the matrix with three columns at a time.

    Numbers in single precision are widened once for all columns of such a block.
    """
    n_rows, n = matrix.shape
    k = len(columns)
    out = np.empty((k, n_rows), columns.dtype)
    for group in prange((n_rows + 3) // 4):
        first = 4 * group
        if first + 4 <= n_rows:
            a, b, c, d = matrix[first], matrix[first + 1], matrix[first + 2], matrix[first + 3]
            by_threes = k - k % 3
            for v in range(0, by_threes, 3):
                x, y, z = columns[v], columns[v + 1], columns[v + 2]
                ax = bx = cx = dx = ay = by = cy = dy = az = bz = cz = dz = 0.0
                for j in range(n):
                    ax += a[j] * x[j]
                    bx += b[j] * x[j]
                    cx += c[j] * x[j]
                    dx += d[j] * x[j]
                    ay += a[j] * y[j]
                    by += b[j] * y[j]
                    cy += c[j] * y[j]
                    dy += d[j] * y[j]
                    az += a[j] * z[j]
                    bz += b[j] * z[j]
                    cz += c[j] * z[j]
                    dz += d[j] * z[j]
                out[v, first], out[v, first + 1] = ax, bx
                out[v, first + 2], out[v, first + 3] = cx, dx
                out[v + 1, first], out[v + 1, first + 1] = ay, by
                out[v + 1, first + 2], out[v + 1, first + 3] = cy, dy
                out[v + 2, first], out[v + 2, first + 1] = az, bz
                out[v + 2, first + 2], out[v + 2, first + 3] = cz, dz
            if by_threes < k:  # two are left, or one twice
                x, y = columns[by_threes], columns[k - 1]
                ax = bx = cx = dx = ay = by = cy = dy = 0.0
                for j in range(n):
                    ax += a[j] * x[j]
                    bx += b[j] * x[j]
                    cx += c[j] * x[j]
                    dx += d[j] * x[j]
                    ay += a[j] * y[j]
                    by += b[j] * y[j]
                    cy += c[j] * y[j]
                    dy += d[j] * y[j]
                out[by_threes, first], out[by_threes, first + 1] = ax, bx
                out[by_threes, first + 2], out[by_threes, first + 3] = cx, dx
                out[k - 1, first], out[k - 1, first + 1] = ay, by
                out[k - 1, first + 2], out[k - 1, first + 3] = cy, dy
        else:
            for i in range(first, n_rows):
                for v in range(k):
                    total = 0.0
                    for j in range(n):
                        total += matrix[i, j] * columns[v, j]
                    out[v, i] = total
    return out
