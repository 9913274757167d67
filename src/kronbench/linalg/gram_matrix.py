"""Kernel matrices over one set of vertices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from kronbench.errors import InputError

KERNELS = ("linear", "gaussian", "tanimoto", "precomputed")

# Up to here differences coordinate by coordinate cost no more than the exponentials; they are
# exact and symmetric, where ||x||^2 + ||y||^2 - 2 x'y cancels.
_FEATURES_BY_DIFFERENCES = 16

# Where the square of the mean row is so many times the mean square of deviations from it, the
# cancellation of ||x||^2 + ||y||^2 - 2 x'y costs four digits and more.
_FAR_OFFSET = 1e4

# Products of pairs of features that are in memory at a time.
_FEATURE_PAIRS = 2**21


def gram(
    X: np.ndarray | sparse.sparray,
    Y: np.ndarray | sparse.sparray | None = None,
    *,
    kernel: str | Callable = "linear",
    gamma: float | None = None,
) -> np.ndarray:
    """Kernel values between all rows of X and all rows of Y.

    Parameters
    ----------
    X : (m, d) array or sparse matrix
        Features, one row a vertex; the kernel matrix itself when kernel is "precomputed".
    Y : (p, d) array or sparse matrix, optional
        The other side; X itself when None.
    kernel : {"linear", "gaussian", "tanimoto", "precomputed"} or callable(X, Y) -> (m, p) array
        "gaussian" is exp(-gamma ||x - y||^2). "tanimoto" is x'y / (x'x + y'y - x'y), of bits the
        share of those set in both among those set in either, and 1 between two zero vectors
        (Ralaivola et al. 2005, Neural Networks 18). A function gets float32 or float64.
    gamma : float, optional
        Inverse squared width of the Gaussian, in the inverse squared unit of the features.

    Returns
    -------
    (m, p) ndarray, float64 for the kernels of features; entries of the Gaussian below the
    smallest normal number are zero.
    """
    X = _as_matrix(X, "X")
    Y = None if Y is None else _as_matrix(Y, "Y")
    # The user's own function or matrix is checked for its shape.
    if callable(kernel):
        Y = X if Y is None else Y
        K = np.asarray(kernel(X, Y))
        if K.shape != (X.shape[0], Y.shape[0]):
            raise InputError(
                f"the kernel function returned shape {K.shape}: it must return "
                f"{(X.shape[0], Y.shape[0])}, one row for each row of X, one column for each row "
                "of Y"
            )
        return K
    if kernel == "precomputed":
        K = dense(X)
        if Y is not None and K.shape[1] != Y.shape[0]:
            raise InputError(
                f"the precomputed kernel X has {K.shape[1]} columns for {Y.shape[0]} training "
                "vertices: give one column for each vertex of the training set"
            )
        return K
    # Kernels of features
    if kernel not in KERNELS:
        raise InputError(
            f"kernel is {kernel!r}: give one of {', '.join(map(repr, KERNELS))} or a callable"
        )
    if Y is not None and X.shape[1] != Y.shape[1]:
        raise InputError(
            f"X has {X.shape[1]} features and Y has {Y.shape[1]}: give the same features to both"
        )
    if kernel in ("linear", "tanimoto"):
        X, Y = (Z.astype(np.float64, copy=False) for Z in (X, X if Y is None else Y))
        common = dense(X @ Y.T)
        if kernel == "linear":
            return common
        either = squared_lengths(X)[:, None] + squared_lengths(Y) - common
        # The divisor is zero for two zero vectors alone: it is at least half of x'x + y'y
        return np.divide(common, either, out=np.ones_like(common), where=either > 0)
    if _has_many_columns(X, Y):
        X, Y = _near_origin(X, Y)
    return _gaussian(X, Y, gamma)


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
        X = X if callable(kernel) else X.astype(np.float64, copy=False)
        far = kernel == "gaussian" and _has_many_columns(X)
        self.X = _near_origin(X)[0] if far else X
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
        one = self.X[i : i + 1]
        if self.kernel == "gaussian":  # near the origin already
            return _gaussian(self.X, one, self.gamma)[:, 0]
        return self._gram(self.X, one)[:, 0]

    def block(self, rows: np.ndarray | slice, columns: np.ndarray) -> np.ndarray:
        """K(rows, columns), (r, c); a few columns of sparse points are made dense for the time."""
        some, others = self.X[rows], self.X[columns]
        if self.kernel == "gaussian":
            return _gaussian(some, others, self.gamma)
        return self._gram(some, others if callable(self.kernel) else dense(others))

    def _gram(self, X, Y):
        return gram(X, Y, kernel=self.kernel, gamma=self.gamma)


def squared_distances(
    X: np.ndarray | sparse.sparray, Y: np.ndarray | sparse.sparray | None = None
) -> np.ndarray:
    """scikit-learn's, by ||x||^2 + ||y||^2 - 2 x'y: (m, p), or (m, m) where Y is None.

    Rows with a common offset of 100 times their deviations from it are shifted first.
    """
    return _squared_distances(*_near_origin(X, Y))


def _squared_distances(X, Y):
    # Imported late: scikit-learn takes half a second, and products of given matrices need none
    # of it.
    from sklearn.metrics.pairwise import euclidean_distances

    return euclidean_distances(X, Y, squared=True)


def _has_many_columns(X, Y=None):
    return sparse.issparse(X) or sparse.issparse(Y) or X.shape[1] > _FEATURES_BY_DIFFERENCES


def _near_origin(X, Y=None):
    """X and Y less a large common offset; as they are, to the bit, where there is none."""
    # The mean row of X and Y together, its square, and the mean square of deviations from it
    both = [as_floats(Z) for Z in (X, Y) if Z is not None]
    count = max(1, sum(Z.shape[0] for Z in both))
    mean = sum(np.asarray(Z.sum(axis=0, dtype=np.float64)).ravel() for Z in both) / count
    offset = mean @ mean
    spread = sum(float(squared_lengths(Z).sum(dtype=np.float64)) for Z in both) / count - offset
    if offset <= _FAR_OFFSET * spread:
        return X, Y
    # A sparse matrix stays sparse: its columns with a large mean have no zeros.
    shift = np.where(mean**2 > max(spread, 0), mean, 0)[None]
    shifted = [
        Z - sparse.csr_array(np.ones((Z.shape[0], 1))) @ sparse.csr_array(shift)
        if sparse.issparse(Z)
        else Z - shift
        for Z in both
    ]
    return shifted[0], shifted[1] if len(shifted) > 1 else None


def as_floats(matrix: np.ndarray | sparse.sparray) -> np.ndarray | sparse.sparray:
    """Numbers of single or double precision as they are, others in double: integers overflow."""
    if matrix.dtype in (np.float32, np.float64):
        return matrix
    return matrix.astype(np.float64)


def dense(matrix: Any) -> np.ndarray:
    """An array or a sparse matrix as an array."""
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


def weighted_grams(X: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(C, d, d) matrices X' diag(weights_c) X for X (n, d) and weights (n, C)."""
    # Products of the d (d + 1) / 2 pairs of features, by blocks of rows, times the weights
    n_rows, d = X.shape
    first, second = np.triu_indices(d)
    X = X.astype(weights.dtype, copy=False)
    sums = np.zeros((len(first), weights.shape[1]))
    step = max(1, _FEATURE_PAIRS // len(first))
    for start in range(0, n_rows, step):
        rows = slice(start, start + step)
        columns = np.ascontiguousarray(X[rows].T)
        sums += (columns[first] * columns[second]) @ weights[rows]
    out = np.empty((weights.shape[1], d, d))
    out[:, first, second] = out[:, second, first] = sums.T
    return out


def squared_lengths(X: Any) -> np.ndarray:
    """Squared lengths of the rows, (m,)."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def _gaussian(X, Y, gamma):
    if gamma is None or not np.isfinite(gamma) or gamma <= 0:
        raise InputError(f"gamma is {gamma}: the gaussian kernel needs a positive number")
    if _has_many_columns(X, Y):
        X, Y = (None if Z is None else Z.astype(np.float64, copy=False) for Z in (X, Y))
        K = _squared_distances(X, Y)
    else:
        K = cdist(X, X if Y is None else Y, "sqeuclidean")
    K *= -float(gamma)
    # exp of less than this is subnormal, and a matrix full of subnormal numbers slows every
    # plain loop over it by a factor of two and more; zero differs from them by 1e-308 at most
    smallest = np.log(np.finfo(np.float64).tiny)
    K[K < smallest] = -np.inf
    return np.exp(K, out=K)


def _as_matrix(X, name):
    if sparse.issparse(X):
        return as_floats(sparse.csr_array(X))
    X = np.asarray(X)
    if X.ndim != 2:
        raise InputError(
            f"{name} has {X.ndim} dimension(s): give a two-dimensional array, one row a vertex"
        )
    if X.dtype.kind not in "fiub":
        raise InputError(f"{name} has dtype {X.dtype}: give numbers")
    return as_floats(X)
