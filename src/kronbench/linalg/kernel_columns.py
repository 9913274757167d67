"""Kernel matrices that compute their columns when asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from kronbench.errors import InputError
from kronbench.linalg.gram_matrix import gram


class KernelColumns:
    """Kernel matrix over the rows of X that computes its columns when asked.

    Parameters
    ----------
    X : (n, p) array or sparse matrix
        Features, kept as float64 unless the kernel is a callable.
    kernel : {"linear", "gaussian", "tanimoto"} or callable(X, Y) -> (m, p) array
    gamma : float, optional
        As for :func:`kronbench.linalg.gram`.
    """

    def __init__(
        self,
        X: np.ndarray | sparse.sparray,
        kernel: str | Callable = "linear",
        gamma: float | None = None,
    ):
        if isinstance(kernel, str) and kernel == "precomputed":
            raise InputError("kernel is 'precomputed': give the kernel matrix itself")
        X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
        self.X = X if callable(kernel) else X.astype(np.float64, copy=False)
        self.kernel, self.gamma = kernel, gamma

    def diagonal(self) -> np.ndarray:
        """K(i, i) for all i, (n,)."""
        n = self.X.shape[0]
        if self.kernel in ("gaussian", "tanimoto"):
            return np.ones(n)
        batches = [self.X[start : start + 64] for start in range(0, n, 64)]
        return np.concatenate([self._gram(batch, batch).diagonal() for batch in batches])

    def column(self, i: int) -> np.ndarray:
        """K(:, i), (n,)."""
        return self._gram(self.X, self.X[i : i + 1])[:, 0]

    def _gram(self, X, Y):
        return gram(X, Y, kernel=self.kernel, gamma=self.gamma)


class _MatrixColumns:
    def __init__(self, K):
        self._rows = K.T if K.flags.f_contiguous else K

    def diagonal(self):
        return self._rows.diagonal()

    def column(self, i):
        return self._rows[i]  # symmetric, and a row is contiguous


def open_kernel(kernel: Any) -> tuple[Any, np.ndarray]:
    """Something with ``column(i)``, a wrapped matrix perhaps, and its diagonal (n,), checked."""
    if not hasattr(kernel, "column"):
        matrix = np.asarray(kernel)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise InputError(f"kernel has shape {matrix.shape}: give a square matrix")
        kernel = _MatrixColumns(matrix)
    diagonal = np.array(kernel.diagonal(), dtype=np.float64)
    if diagonal.ndim != 1 or not len(diagonal):
        raise InputError(f"the diagonal of kernel has shape {diagonal.shape}: give (n,), n > 0")
    if not np.isfinite(diagonal).all():
        raise InputError("the diagonal of kernel holds NaN or infinite values: give finite ones")
    if (diagonal < 0).any():
        raise InputError(
            "the diagonal of kernel is negative somewhere: give a positive semidefinite kernel"
        )
    return kernel, diagonal
