"""Low-rank factors of kernel matrices from a few of their columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import solve_triangular

from kronbench.errors import InputError, check_positive
from kronbench.linalg._lowrank_loops import BLOCK, cholesky_step
from kronbench.linalg.gemm import one_blas_thread
from kronbench.linalg.kernel_columns import KernelColumns, open_kernel
from kronbench.linalg.threads import at_most_threads

# A residual diagonal entry is the difference of K(i, i) and up to a few hundred squares: below
# this multiple of K(i, i) it is rounding error and the column depends on those already taken.
_ROUNDING = 1e-14

# A kernel whose residual diagonal falls below this multiple of its largest entry is indefinite.
_INDEFINITE = -1e-6


@dataclass(frozen=True)
class LowRankFactor:
    """G of K ~ G G^T, spanned by the kernel columns of the pivots.

    Attributes
    ----------
    factor : (n, k) float64 array, column-major
        G. Its rows at the pivots form a lower triangular matrix with positive diagonal, so the
        first r columns are the factor of rank r that belongs to the first r pivots.
    pivots : (k,) intp array
        Indices of the points whose kernel columns span G, in order of choice.
    gains : (k,) float64 array
        Decrease of the normalized criterion by each column.
    """

    factor: np.ndarray
    pivots: np.ndarray
    gains: np.ndarray

    @property
    def rank(self) -> int:
        """Number of columns, k."""
        return len(self.pivots)

    def transform(self, kernel_at_pivots: np.ndarray) -> np.ndarray:
        """Rows (n_new, k) of the factor for new points, in O(n_new k^2).

        They are the rows Z with Z G(pivots)^T = ``kernel_at_pivots``, the (n_new, k) kernel values
        of the new points with the pivots; for a training point its own row of ``factor``.
        """
        values = np.asarray(kernel_at_pivots, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != self.rank:
            raise InputError(
                f"kernel_at_pivots has shape {values.shape}: give one column for each of the "
                f"{self.rank} pivots"
            )
        triangle = self.factor[self.pivots]
        return solve_triangular(triangle, values.T, lower=True, check_finite=False).T


def incomplete_cholesky(
    kernel: np.ndarray | KernelColumns,
    max_rank: int | None = None,
    tol: float = 1e-10,
    rng: np.random.RandomState | None = None,
) -> LowRankFactor:
    """Pivoted incomplete Cholesky decomposition K ~ G G^T in O(k^2 n) and k kernel columns.

    Each step takes the point with the largest residual diagonal entry (Bach & Jordan 2005,
    section 2), or, with ``rng``, draws one in proportion to these entries (Chen, Epperly, Tropp &
    Webber 2025, Algorithm 2.1), which follows the mass of the points and not those far out.

    Parameters
    ----------
    kernel : (n, n) symmetric array, or object with ``diagonal()`` and ``column(i)``
        Positive semidefinite.
    max_rank : int, optional
        Largest number of columns; n when None.
    tol : float
        Stop when no residual diagonal entry exceeds tol times the largest entry of the diagonal
        of K. Every entry of K - G G^T is then at most that large in absolute value.
    rng : numpy.random.RandomState, optional
        Draws the pivots.

    Returns
    -------
    LowRankFactor
        Its gains are the decreases of tr(K - G G^T) / tr K.
    """
    columns, diagonal = open_kernel(kernel)
    max_rank = checked_max_rank(max_rank, len(diagonal))
    check_positive(tol, "tol", or_zero=True)
    with factor_threads(len(diagonal)):
        steps = CholeskySteps(columns, diagonal, max_rank)
        above, add = tol * steps.largest, steps.add_largest
        if rng is not None:
            add = partial(steps.add_drawn, rng)
        while steps.t < max_rank and add(above=above):
            pass
    gains = np.array(steps.squares) / (diagonal.sum() or 1.0)
    return LowRankFactor(steps.take(steps.t), np.array(steps.pivots, dtype=np.intp), gains)


class CholeskySteps:
    """Columns of G one by one, for pivots in any order."""

    def __init__(self, columns, diagonal, capacity):
        n = len(diagonal)
        self.columns, self.n, self.capacity = columns, n, min(capacity, n)
        self.largest = diagonal.max()
        self.floor = _ROUNDING * diagonal
        # exactly zero for the points that the columns so far span
        self.residual = diagonal.copy()
        self.G = np.empty((min(self.capacity, 256), n))  # row j is column j of G
        self.t = 0
        self.pivots, self.squares = [], []

    def add_largest(self, above: float = 0.0) -> bool:
        """One step with the largest residual diagonal entry; False when none is above."""
        pivot = int(np.argmax(self.residual))
        if self.residual[pivot] <= above:
            return False
        self.add(pivot)
        return True

    def add_drawn(self, rng: np.random.RandomState, above: float = 0.0) -> bool:
        """One step with an entry above, drawn in proportion to them; False when none is."""
        sums = np.cumsum(np.where(self.residual > above, self.residual, 0.0))
        if sums[-1] == 0:
            return False
        self.add(int(np.searchsorted(sums, rng.random_sample() * sums[-1], side="right")))
        return True

    def add(self, pivot: int) -> None:
        """One step with this pivot."""
        self._reserve()
        self._cholesky(pivot, 0, self.G[:0])
        self.t += 1

    def take(self, k: int) -> np.ndarray:
        """The first k columns, (n, k), without a copy."""
        self.G.resize((k, self.n), refcheck=False)
        return self.G.T

    def _cholesky(self, pivot, n_dots, targets):
        """Column t of G; returns its products with columns and targets, and its mean."""
        t, d = self.t, len(targets)
        self.G[t] = _column(self.columns, pivot, self.n)
        root = math.sqrt(self.residual[pivot])
        sums = np.empty((-(-self.n // BLOCK), n_dots + d + 3))
        cholesky_step(
            self.G, t, -self.G[:t, pivot], root,
            self.residual, self.floor, self.largest, n_dots, targets, sums,
        )  # fmt: skip
        lowest = sums[:, -1].min()
        if lowest < _INDEFINITE * self.largest:
            raise InputError(
                "kernel is not positive semidefinite: the diagonal of its residual fell to "
                f"{lowest:.3g}"
            )
        self.G[t, pivot] = root
        self.residual[pivot] = 0.0
        self.pivots.append(pivot)
        sums = sums.sum(axis=0)
        self.squares.append(sums[-2])
        return sums[:n_dots], sums[n_dots : n_dots + d], sums[-3] / self.n

    def _reserve(self):
        if self.t == len(self.G):
            # the operating system moves a large array by its page table, without a copy
            size = min(self.capacity, self.t + self.t // 2)
            self.G.resize((size, self.n), refcheck=False)


def _column(kernel, i, n):
    column = np.asarray(kernel.column(i))
    if column.shape != (n,):
        raise InputError(f"kernel.column({i}) has shape {column.shape}: it must be ({n},)")
    if not np.isfinite(column).all():
        raise InputError(f"column {i} of kernel holds NaN or infinite values: give finite ones")
    return column


@contextmanager
def factor_threads(n: int) -> Iterator[None]:
    """Numba threads as the n points are worth, and one for BLAS, whose others would spin."""
    with at_most_threads(n // 4096), one_blas_thread:
        yield


def checked_max_rank(value: int | None, n: int) -> int:
    """A bound on the rank: at most n, which None stands for."""
    if value is None:
        return n
    if value != int(value) or value < 1:
        raise InputError(f"max_rank is {value}: give a positive integer, or None for no bound")
    return min(int(value), n)


def factor_at(columns: KernelColumns, pivots: np.ndarray) -> LowRankFactor:
    """The factor of these pivots, in this order; its gains are not known."""
    at_pivots = np.stack([columns.column(i) for i in pivots], axis=1)
    triangle = np.linalg.cholesky(at_pivots[pivots])
    factor = np.linalg.solve(triangle, at_pivots.T).T
    return LowRankFactor(factor, np.asarray(pivots), np.full(len(pivots), np.nan))
