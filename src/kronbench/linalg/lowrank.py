"""Low-rank factors: of kernels from a few columns, of others where all entries come out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular, svdvals

from kronbench.errors import InputError, check_positive
from kronbench.linalg._lowrank_loops import BLOCK, cholesky_step
from kronbench.linalg.gemm import one_blas_thread
from kronbench.linalg.gram_matrix import KernelColumns
from kronbench.linalg.threads import at_most_threads

# A residual diagonal entry is the difference of K(i, i) and up to a few hundred squares: below
# this multiple of K(i, i) it is rounding error and the column depends on those already taken.
_ROUNDING_OF_RESIDUAL = 1e-14

# A kernel whose residual diagonal falls below this multiple of its largest entry is indefinite.
_INDEFINITE_BELOW = -1e-6

# Largest error of an entry of the approximation, relative to the largest entry of the matrix.
TOLERANCE = {np.dtype(np.float64): 1e-11, np.dtype(np.float32): 1e-6}

_POINTS_OF_A_BLOCK = 4096  # for which the columns of drawn pivots are made at a time
_RESIDUAL_ROWS = 512  # rows of the residual that are formed at a time
_PROBES = 64  # columns the range finder adds at a time


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
    draws: int = 1,
) -> LowRankFactor:
    """Pivoted incomplete Cholesky decomposition K ~ G G^T in O(k^2 n) and k kernel columns.

    Each step takes the point with the largest residual diagonal entry (Bach & Jordan 2005,
    section 2), or, with ``rng``, draws one in proportion to these entries (Chen, Epperly, Tropp &
    Webber 2025, Algorithm 2.1), which follows the mass of the points and not those far out. The
    gains of the factor are the decreases of tr(K - G G^T) / tr K.

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
    draws : int, default 1
        How many are drawn at a time, of a ``KernelColumns``. Some are rejected, so that the pivots
        have the same distribution (Epperly, Tropp & Webber 2024, arXiv 2410.03969): the rest
        enters by products of the BLAS, which pass the points once for many pivots.
    """
    columns, diagonal = open_kernel(kernel)
    max_rank = checked_max_rank(max_rank, len(diagonal))
    check_positive(tol, "tol", or_zero=True)
    with factor_threads(len(diagonal)):
        steps = CholeskySteps(columns, diagonal, max_rank)
        above, more = tol * steps.largest, True
        while steps.t < max_rank and more:
            # Section 2.2 of Bach & Jordan: the largest residual
            if rng is None:
                more = steps.add_largest(above)
                continue
            if draws > 1:
                more = steps.add_drawn(rng, draws, above)
                continue
            # Algorithm 2.1 of Chen et al.: a residual drawn in proportion to its size
            sums = np.cumsum(np.where(steps.residual > above, steps.residual, 0.0))
            more = bool(sums[-1] > 0)
            if more:
                drawn = rng.random_sample() * sums[-1]
                steps.add(int(np.searchsorted(sums, drawn, side="right")))
    # A column takes its squared norm from the trace (Bach & Jordan 2005, Eq. 3).
    gains = np.array(steps.squares) / (diagonal.sum() or 1.0)
    return LowRankFactor(steps.take(steps.t), np.array(steps.pivots, dtype=np.intp), gains)


class CholeskySteps:
    """Columns of G one by one, for pivots in any order."""

    def __init__(self, columns, diagonal, capacity):
        n = len(diagonal)
        self.columns, self.n, self.capacity = columns, n, min(capacity, n)
        self.largest = diagonal.max()
        self.floor = _ROUNDING_OF_RESIDUAL * diagonal
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

    def add(self, pivot: int) -> None:
        """One step with this pivot."""
        self._reserve()
        self._cholesky(pivot, 0, self.G[:0])
        self.t += 1

    def add_drawn(self, rng: np.random.RandomState, draws: int, above: float) -> bool:
        """Steps with those of some drawn pivots that are accepted; False when none is above."""
        left = np.where(self.residual > above, self.residual, 0.0)
        sums, G, t = np.cumsum(left), self.G[: self.t], self.t
        if not sums[-1] > 0:
            return False
        drawn = np.searchsorted(sums, rng.random_sample(draws) * sums[-1], side="right")
        # Each is accepted with the part of its residual that those accepted before have left.
        rest = self.columns.block(drawn, drawn) - G[:, drawn].T @ G[:, drawn]
        thresholds, accepted = rng.random_sample(draws) * left[drawn], np.zeros(draws, bool)
        triangle = np.zeros_like(rest)
        for i in range(draws):
            room = t + np.count_nonzero(accepted) < self.capacity
            if room and rest[i, i] > max(thresholds[i], self.floor[drawn[i]]):
                accepted[i] = True
                triangle[:, i] = rest[:, i] / math.sqrt(rest[i, i])
                rest -= np.outer(triangle[:, i], triangle[:, i])
        pivots, triangle = drawn[accepted], np.tril(triangle[np.ix_(accepted, accepted)])
        more = len(pivots)
        self._reserve(more)
        G, new = self.G[:t], self.G[t : t + more]
        at_pivots = G[:, pivots].T.copy()
        for first in range(0, self.n, _POINTS_OF_A_BLOCK):
            points = slice(first, first + _POINTS_OF_A_BLOCK)
            values = self.columns.block(points, pivots).T - at_pivots @ G[:, points]
            new[:, points] = solve_triangular(triangle, values, lower=True)
            self.residual[points] -= np.einsum("ij,ij->j", new[:, points], new[:, points])
        self._check_lowest(self.residual.min())
        self.residual[self.residual < self.floor] = 0.0
        # Exactly, whatever rounding made of them
        new[:, pivots], self.residual[pivots] = triangle.T, 0.0
        self.pivots += pivots.tolist()
        self.squares += np.einsum("ij,ij->i", new, new).tolist()
        self.t += more
        return True

    def take(self, k: int) -> np.ndarray:
        """The first k columns, (n, k), without a copy."""
        self.G.resize((k, self.n), refcheck=False)
        return self.G.T

    def _cholesky(self, pivot, n_dots, targets):
        """Column t of G; returns its products with columns and targets, and its mean."""
        t, d = self.t, len(targets)
        column = np.asarray(self.columns.column(pivot))
        if column.shape != (self.n,):
            raise InputError(
                f"kernel.column({pivot}) has shape {column.shape}: it must be ({self.n},)"
            )
        if not np.isfinite(column).all():
            raise InputError(
                f"column {pivot} of kernel holds NaN or infinite values: give finite ones"
            )
        # One pass over the points makes column t of the kernel column in its place, and all inner
        # products with it; a row of ``sums`` for each block of points.
        self.G[t] = column
        root = math.sqrt(self.residual[pivot])
        sums = np.empty((-(-self.n // BLOCK), n_dots + d + 3))
        cholesky_step(
            self.G, t, -self.G[:t, pivot], root,
            self.residual, self.floor, self.largest, n_dots, targets, sums,
        )  # fmt: skip
        self._check_lowest(sums[:, -1].min())
        # Exactly, whatever rounding made of them
        self.G[t, pivot] = root
        self.residual[pivot] = 0.0
        self.pivots.append(pivot)
        sums = sums.sum(axis=0)
        self.squares.append(sums[-2])
        return sums[:n_dots], sums[n_dots : n_dots + d], sums[-3] / self.n

    def _check_lowest(self, lowest):
        if lowest < _INDEFINITE_BELOW * self.largest:
            raise InputError(
                "kernel is not positive semidefinite: the diagonal of its residual fell to "
                f"{lowest:.3g}"
            )

    def _reserve(self, more=1):
        """Room for so many columns, by half as many again as there are."""
        if self.t + more > len(self.G):
            # the operating system moves a large array by its page table, without a copy
            size = min(self.capacity, max(self.t + more, self.t + self.t // 2))
            self.G.resize((size, self.n), refcheck=False)


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
    # K(:, pivots) = G L' with L the Cholesky factor of K(pivots, pivots)
    at_pivots = np.stack([columns.column(i) for i in pivots], axis=1)
    triangle = np.linalg.cholesky(at_pivots[pivots])
    factor = np.linalg.solve(triangle, at_pivots.T).T
    return LowRankFactor(factor, np.asarray(pivots), np.full(len(pivots), np.nan))


def open_kernel(kernel: Any) -> tuple[Any, np.ndarray]:
    """Something with ``column(i)``, a wrapped matrix perhaps, and its diagonal (n,), checked."""
    if not hasattr(kernel, "column"):
        matrix = np.asarray(kernel)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise InputError(f"kernel has shape {matrix.shape}: give a square matrix")
        rows = matrix.T if matrix.flags.f_contiguous else matrix  # columns, as it is symmetric
        kernel = SimpleNamespace(diagonal=rows.diagonal, column=rows.__getitem__)
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


def low_rank_factors(matrix: np.ndarray, max_rank: int) -> tuple[np.ndarray, np.ndarray] | None:
    """P (a, k) and Q (b, k) with P Q' ~ matrix to TOLERANCE, or None where k > max_rank.

    Pivoted Cholesky in O(a k^2) for a positive semidefinite matrix; for others a randomized range
    finder in O(a b k). Either is checked against every entry. None too for a long matrix of full
    rank, which some 2 k of its rows mostly tell.
    """
    tolerance = TOLERANCE[matrix.dtype]
    a, b = matrix.shape
    factors = _cholesky(matrix, max_rank, tolerance) if a == b else None
    if factors is None:
        if _rank_exceeds(matrix, max_rank, tolerance):
            return None
        # The randomized range finder of Halko, Martinsson & Tropp (2011), block by block: P is
        # orthonormal, Q = matrix' P, until a block finds nothing more.
        rng = np.random.default_rng(0)
        P, Q = np.empty((a, 0)), np.empty((b, 0))
        most = min(max_rank, a, b)
        smallest = tolerance * np.linalg.norm(matrix)
        norm_of_block = np.inf
        while P.shape[1] < most and norm_of_block > smallest:
            # Images of random vectors, less their part in P
            probes = rng.standard_normal((b, min(_PROBES, most - P.shape[1])))
            new = matrix @ probes - P @ (Q.T @ probes)
            for _ in range(2):  # once is not enough where the images are nearly dependent
                new = np.linalg.qr(new - P @ (P.T @ new))[0]
            # What this block found is an estimate of what is left; every entry is checked below.
            images = matrix.T @ new
            P, Q = np.hstack([P, new]), np.hstack([Q, images])
            norm_of_block = float(np.linalg.norm(images))
        factors = P, Q
    P, Q = factors
    # Every entry of the residual, by blocks of rows
    largest = _largest(matrix)
    for first in range(0, len(matrix), _RESIDUAL_ROWS):
        rows = slice(first, first + _RESIDUAL_ROWS)
        residual = P[rows] @ Q.T
        residual -= matrix[rows]
        if max(residual.max(), -residual.min()) > tolerance * largest:
            return None
    return np.ascontiguousarray(P, matrix.dtype), np.ascontiguousarray(Q, matrix.dtype)


def _cholesky(matrix, max_rank, tolerance):
    """Factors of a semidefinite matrix, too coarse where max_rank ends them; else None."""
    try:
        decomposition = incomplete_cholesky(matrix, max_rank, tolerance / 2)
    except InputError:
        return None
    # Afresh from the columns of the pivots: the factor is zero where it fell below tol
    factor = decomposition.transform(matrix[:, decomposition.pivots])
    ended = decomposition.rank == max_rank
    return (factor, factor) if ended or np.array_equal(matrix, matrix.T) else None


def _rank_exceeds(matrix, rank, tolerance):
    """Whether the matrix has no factors of this rank, or if it is long, none thinner than it is.

    Factors leave at least the singular values beyond their rank in the Frobenius norm. Those of
    some rows are no larger than those of all, so a few rows are asked first. All rows of a long
    matrix are asked where they do not say it: a QR decomposition costs less than a range finder.
    """
    tall = matrix if len(matrix) > matrix.shape[1] else matrix.T
    long = len(tall) >= 4 * tall.shape[1]
    rank = min(rank, tall.shape[1] - 1) if long else rank
    largest, step = _largest(matrix), len(tall) // (2 * rank + 2)
    # More than a quarter of the rows would cost as much as what follows.
    some = [tall[::step]] if step >= 4 else []
    for rows in [*some, tall] if long else some:
        with one_blas_thread:  # others would go on spinning beside the products
            triangle: Any = np.linalg.qr(rows, mode="r")
        left = np.linalg.norm(svdvals(triangle.astype(np.float64))[rank:])
        if left > tolerance * largest * np.sqrt(rows.size):
            return True
    return False


def _largest(matrix):
    """The largest absolute value, without a copy."""
    return max(matrix.max(initial=0.0), -matrix.min(initial=0.0))
