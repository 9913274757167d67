"""Low-rank factors of kernel matrices from a few of their columns."""

from __future__ import annotations

import math
import warnings
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from kronbench.errors import InputError
from kronbench.linalg._lowrank_loops import (
    BLOCK,
    DEPENDENT,
    Forms,
    Points,
    Turn,
    cholesky_step,
    largest_quotient,
    project_out,
    rotate_triangle,
    solve,
    solve_transposed,
    update_gains,
)
from kronbench.linalg.kernel_columns import KernelColumns, check_column, open_kernel
from kronbench.linalg.matrix_products import one_blas_thread
from kronbench.linalg.threads import at_most_threads

# A residual diagonal entry is the difference of K(i, i) and up to a few hundred squares: below
# this multiple of K(i, i) it is rounding error and the column depends on those already taken.
_ROUNDING = 1e-14

# A pivot's column has an error of eps K(i, i) / sqrt(residual), which does not matter while the
# pivot has the largest residual. Points that the look-ahead columns nearly span, to this part of
# what they leave of others, are ruled out until the columns span them: those columns do as well.
_HAZY = 1e-2

# A kernel whose residual diagonal falls below this multiple of its largest entry is indefinite.
_INDEFINITE = -1e-6

# Rounding error of a combination of columns of G, relative to the lengths of its terms.
_NOISE = 4 * np.finfo(float).eps

# The squared part of a column of G outside the span of others is the difference of its squared
# norm and that of its projection; where less than this is left of it, it is computed by itself.
_CANCELLED = 1e-2


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
        """Rows of the factor for new points, in O(n_new k^2).

        Parameters
        ----------
        kernel_at_pivots : (n_new, k) array
            Kernel values of the new points with the pivots, in the order of ``pivots``.

        Returns
        -------
        (n_new, k) float64 array
            The rows Z with Z G(pivots)^T = ``kernel_at_pivots``; for a training point its own
            row of ``factor``.
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
    kernel: np.ndarray | KernelColumns, max_rank: int | None = None, tol: float = 1e-10
) -> LowRankFactor:
    """Pivoted incomplete Cholesky decomposition K ~ G G^T in O(k^2 n) and k kernel columns.

    Each step takes the point with the largest residual diagonal entry (Bach & Jordan 2005,
    section 2).

    Parameters
    ----------
    kernel : (n, n) symmetric array, or object with ``diagonal()`` and ``column(i)``
        Positive semidefinite.
    max_rank : int, optional
        Largest number of columns; n when None.
    tol : float
        Stop when no residual diagonal entry exceeds tol times the largest entry of the diagonal
        of K. Every entry of K - G G^T is then at most that large in absolute value.

    Returns
    -------
    LowRankFactor
        Its gains are the decreases of tr(K - G G^T) / tr K.

    Raises
    ------
    InputError
        The kernel is not square, not finite, or not positive semidefinite.
    """
    columns, diagonal = open_kernel(kernel)
    max_rank = _max_rank(max_rank, len(diagonal))
    _check_at_least_zero(tol, "tol")
    with _threads(len(diagonal)):
        steps = _Cholesky(columns, diagonal, max_rank)
        while steps.t < max_rank and steps.add_largest(above=tol * steps.largest):
            pass
    gains = np.array(steps.squares) / (diagonal.sum() or 1.0)
    return LowRankFactor(steps.take(steps.t), np.array(steps.pivots, dtype=np.intp), gains)


def csi(
    kernel: np.ndarray | KernelColumns,
    targets: np.ndarray,
    max_rank: int | None,
    kappa: float = 0.99,
    lookahead: int = 40,
    tol: float = 1e-4,
    center: bool = True,
) -> LowRankFactor:
    """Cholesky decomposition with side information: pivots that also predict the targets.

    Each step takes the pivot with the largest estimated decrease of

        (1 - kappa) tr(K - G G^T) / tr K  +  kappa min_b ||Y - G b||^2 / ||Y||^2

    where kernel columns not yet asked for are replaced by their look-ahead approximation (Bach &
    Jordan 2005, Eqs. 2 and 5-10, figure 1). Costs O((k + lookahead)^2 n + k d n) time,
    (k + lookahead) n numbers of memory and at most k + lookahead kernel columns.

    Parameters
    ----------
    kernel : (n, n) symmetric array, or object with ``diagonal()`` and ``column(i)``
        Positive semidefinite.
    targets : (n,) or (n, d) array
        Y: responses, or indicator columns of the classes. Where they vanish, after centring if
        that is asked for, they say nothing: a warning is given and kappa taken as 0.
    max_rank : int or None
        Largest number of columns; n when None.
    kappa : float in [0, 1]
        Weight of the prediction of the targets against the approximation of the kernel.
    lookahead : int
        Number of Cholesky steps done in advance of the choice; with n or more all gains are
        exact, with 0 (and kappa < 1) this is incomplete Cholesky.
    tol : float
        Stop before a column whose exact gain is below tol; the gains of all columns of a complete
        decomposition sum to at most 1.
    center : bool
        Fit an intercept along with G b (section 5.4).

    Returns
    -------
    LowRankFactor
        Its gains are the exact decreases of the criterion.

    Raises
    ------
    InputError
        The kernel is not square, not finite, or not positive semidefinite; the targets do not fit
        it; a parameter is out of range.
    """
    columns, diagonal = open_kernel(kernel)
    n = len(diagonal)
    max_rank = _max_rank(max_rank, n)
    targets = _as_targets(targets, n, center)
    if not 0 <= kappa <= 1:
        raise InputError(f"kappa is {kappa}: give a number from 0 to 1")
    if lookahead != int(lookahead) or lookahead < 0:
        raise InputError(f"lookahead is {lookahead}: give an integer, 0 or more")
    _check_at_least_zero(tol, "tol")
    total = np.einsum("dn,dn->", targets, targets)
    if total == 0.0:
        warnings.warn(
            "the targets are constant: pivots are chosen for the kernel alone, as with kappa=0",
            stacklevel=2,
        )
        kappa = 0.0
    # lambda, mu and the largest possible gain in the targets
    weights = np.array([(1 - kappa) / (diagonal.sum() or 1.0), kappa / (total or 1.0), total])
    with _threads(n):
        return _csi(columns, diagonal, targets, max_rank, int(lookahead), tol, weights, center)


def _csi(columns, diagonal, targets, max_rank, lookahead, tol, weights, center):
    steps = _CholeskyQR(columns, diagonal, targets, max_rank + lookahead, weights, center)
    while steps.t < lookahead and steps.add_largest():
        pass
    candidate = steps.first_candidate()
    pivots, gains = [], []
    while len(pivots) < max_rank and candidate is not None:
        before = steps.t
        if steps.residual[candidate] > 0.0:  # not in the span of the look-ahead columns
            steps.add(candidate)
        elif len(pivots) + 1 < max_rank:
            steps.add_largest()
        gain = steps.choose(candidate, k=len(pivots), added=steps.t > before)
        if gain < tol:
            break
        pivots.append(candidate)
        gains.append(gain)
        candidate = steps.apply_choice()
    factor = steps.take(len(pivots))
    return LowRankFactor(factor, np.array(pivots, dtype=np.intp), np.array(gains))


class _Cholesky:
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

    def add_largest(self, above=0.0):
        """One step with the largest residual diagonal entry; False when none is above."""
        pivot = int(np.argmax(self.residual))
        if self.residual[pivot] <= above:
            return False
        self.add(pivot)
        return True

    def add(self, pivot):
        """One step with this pivot."""
        self._reserve()
        self._cholesky(pivot, 0, self.G[:0])
        self.t += 1

    def take(self, k):
        """The first k columns, (n, k), without a copy."""
        self.G.resize((k, self.n), refcheck=False)
        return self.G.T

    def _cholesky(self, pivot, n_dots, targets):
        """Column t of G; returns its products with columns and targets, and its mean."""
        t, d = self.t, len(targets)
        column = np.asarray(self.columns.column(pivot))
        check_column(column, pivot, self.n)
        self.G[t] = column
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


class _CholeskyQR(_Cholesky):
    """Columns of G with R of Pi G = Q R beside them: the chosen ones, then those that look ahead.

    Q, which would double memory and time, is not kept: where it is needed it is Pi G R^-1, by the
    semi-normal equations, whose residual is taken into account where digits are lost.
    """

    def __init__(self, columns, diagonal, targets, capacity, weights, center):
        super().__init__(columns, diagonal, capacity)
        rows, d = len(self.G), len(targets)
        self.targets, self.weights, self.center = targets, weights, center
        self.R = np.zeros((rows, rows))
        self.means = np.zeros(rows)  # of the columns of G; zero without centring
        self.dead = np.zeros(rows, dtype=bool)  # zero columns of Q, see rotate_triangle
        self.projections = np.zeros((rows, d))  # Q^T Y
        self.costs = np.zeros((5, self.n))  # see Points; the first pass sets them

    def add(self, pivot):
        """One step of Cholesky and of QR with this pivot."""
        self._reserve()
        t, n, d = self.t, self.n, len(self.targets)
        R, dead, means = self.R[:t, :t], self.dead[:t], self.means[:t]
        products, left, mean = self._cholesky(pivot, t, self.targets)
        mean *= self.center
        square = self.squares[-1]
        parts = solve_transposed(R, dead, products - n * mean * means)  # Q^T g
        norm = math.sqrt(max(square - n * mean**2 - parts @ parts, 0.0))
        left -= parts @ self.projections[:t]  # Y^T (g - Q Q^T g)
        noise = DEPENDENT * math.sqrt(square)
        for _ in range(3):
            if norm**2 > _CANCELLED * square:
                break
            weights = solve(R, dead, parts)
            lengths = np.sqrt(np.einsum("ij,ij->j", R, R) + n * means**2)
            noise = max(noise, _NOISE * (abs(weights) @ lengths))
            sums = np.empty((-(-n // BLOCK), t + d + 2))
            project_out(self.G, t, -weights, mean - weights @ means, self.targets, sums)
            sums = sums.sum(axis=0)
            rest = sums[-2] / n * self.center
            more = solve_transposed(R, dead, sums[:t] - n * rest * means)
            parts += more
            norm = math.sqrt(max(sums[-1] - n * rest**2 - more @ more, 0.0))
            left = sums[t : t + d] - more @ self.projections[:t]
            if norm <= noise or np.linalg.norm(more) <= 0.1 * norm:
                break
        self.R[:t, t], self.means[t] = parts, mean
        self.dead[t] = norm <= noise
        if not self.dead[t]:
            self.R[t, t] = norm
            self.projections[t] = left / norm
        self.t += 1

    def first_candidate(self):
        """The point with the largest estimated gain, None when none is left."""
        return self._pass(
            Turn(0, 0, 0, np.zeros((0, 2)), False, np.zeros((self.t, 6)), np.zeros(5))
        )

    def choose(self, pivot, k, added):
        """Exact gain of the pivot, whose kernel column the columns span, at position k.

        ``added`` tells that the last column is new since the last pass.
        """
        t, n = self.t, self.n
        R, P, means = self.R, self.projections, self.means
        coefs, squares = np.zeros((6, t - k)), np.zeros(5)
        if added:
            old, new = slice(k, t - 1), t - 1
            squares[0] = R[:t, new] @ R[:t, new] + n * means[new] ** 2
            squares[1] = R[k:t, new] @ R[k:t, new]
            unexplained = R[k:t, new] @ P[k:t]
            squares[2] = unexplained @ unexplained
            coefs[0, :-1] = R[:new, new] @ R[:new, old] + n * means[new] * means[old]
            coefs[1, :-1] = R[old, new] @ R[old, old]
            coefs[2, :-1] = (P[old] @ unexplained) @ R[old, old]
        row = self.G[k:t, pivot].copy()
        q = k + int(np.flatnonzero(row)[-1])
        if q == k and row[0] < 0.0:
            for column in (self.G[k], R[: k + 1, k], means[k : k + 1], coefs[:, 0]):
                column *= -1.0
        turns = np.zeros((t, 2))
        rotate_triangle(R, P, means, self.dead, coefs[:3], row, k, q, t, turns, n)
        squares[3] = R[: k + 1, k] @ R[: k + 1, k] + n * means[k] ** 2
        squares[4] = P[k] @ P[k]
        rest = slice(k + 1, t)
        coefs[3, 1:] = R[: k + 1, k] @ R[: k + 1, rest] + n * means[k] * means[rest]
        coefs[4] = R[k, k:t]
        coefs[5, 1:] = (P[rest] @ P[k]) @ R[rest, rest]
        coefs = np.ascontiguousarray(coefs.T)
        self._chosen = pivot, Turn(k, q, k + 1, turns, added, coefs, squares)
        return self.weights[0] * squares[3] + self.weights[1] * squares[4]

    def apply_choice(self):
        """Turn the columns for the choice; returns the next candidate, None when none is left."""
        pivot, turn = self._chosen
        candidate = self._pass(turn)
        self.G[turn.k + 1 : self.t, pivot] = 0.0
        return candidate

    def _pass(self, turn):
        t, tail = self.t, turn.tail
        R, means = self.R, self.means[tail:t]
        triangle = R[tail:t, tail:t].copy()
        gram = R[:t, tail:t].T @ R[:t, tail:t] + self.n * np.outer(means, means)
        forms = Forms(gram, triangle, self.projections[tail:t].T @ triangle)
        hazy = _HAZY * largest_quotient(self.residual, self.floor)
        points = Points(self.residual, self.floor, self.costs, hazy)
        best, best_index = update_gains(self.G, t, turn, forms, points, self.weights)
        block = int(np.argmax(best))
        return None if best[block] < 0.0 else int(best_index[block])

    def _reserve(self):
        super()._reserve()
        rows = len(self.G)
        if rows > len(self.R):
            extra = (0, rows - len(self.R))
            self.R = np.pad(self.R, (extra, extra))
            self.means, self.dead = np.pad(self.means, extra), np.pad(self.dead, extra)
            self.projections = np.pad(self.projections, (extra, (0, 0)))


# The steps of figure 1 of Bach & Jordan (2005) and the methods, as (class, name), that carry them
# out: for profilers. A step that calls another one's method spends the rest of its time.
CSI_STEPS = {
    "kernel columns": (KernelColumns, "column"),
    "1, 3b: Cholesky steps": (_CholeskyQR, "_cholesky"),
    "1, 3b: QR steps": (_CholeskyQR, "add"),
    "3c, 3d: permutation of R, exact gain": (_CholeskyQR, "choose"),
    "3a, 3c: permutation of G, gains of all": (_CholeskyQR, "_pass"),
}


@contextmanager
def _threads(n):
    """Numba threads as the n points are worth, and one for BLAS.

    OpenBLAS threads spin after each call and take the cores from numba's: up to 30 times slower.
    """
    with at_most_threads(n // 4096), one_blas_thread:
        yield


def _as_targets(targets, n, center):
    """(d, n), centred; exactly zero where nothing but rounding is left."""
    targets = np.asarray(targets, dtype=np.float64)
    if targets.ndim == 1:
        targets = targets[:, None]
    if targets.ndim != 2 or len(targets) != n:
        raise InputError(
            f"targets has shape {targets.shape}: give one row for each of the {n} points"
        )
    if not np.isfinite(targets).all():
        raise InputError("targets holds NaN or infinite values: give finite ones")
    rows = np.array(targets.T, order="C")
    if center:
        largest = np.abs(rows).max(axis=1, initial=0.0)
        rows -= rows.mean(axis=1, keepdims=True)
        rows[np.abs(rows).max(axis=1, initial=0.0) <= 1e-14 * largest] = 0.0
    return rows


def _max_rank(value, n):
    if value is None:
        return n
    if value != int(value) or value < 1:
        raise InputError(f"max_rank is {value}: give a positive integer, or None for no bound")
    return min(int(value), n)


def _check_at_least_zero(value, name):
    if not value >= 0:
        raise InputError(f"{name} is {value}: give a number, 0 or more")
