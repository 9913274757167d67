"""Cholesky decomposition with side information (CSI): columns that also fit targets."""

from __future__ import annotations

import math
import warnings

import numpy as np
from scipy.linalg.blas import dger

from kronbench.errors import InputError, check_positive
from kronbench.linalg._lowrank_loops import (
    BLOCK,
    DEPENDENT,
    largest_quotient,
    project_out,
    rotate_triangle,
    solve,
    solve_transposed,
    update_gains,
)
from kronbench.linalg.gram_matrix import KernelColumns
from kronbench.linalg.lowrank import (
    CholeskySteps,
    LowRankFactor,
    checked_max_rank,
    factor_threads,
    open_kernel,
)

# A pivot's column has an error of eps K(i, i) / sqrt(residual), which does not matter while the
# pivot has the largest residual. Points that the look-ahead columns nearly span, to this part of
# what they leave of others, are ruled out until the columns span them: those columns do as well.
_HAZY_RESIDUAL = 1e-2

# Rounding error of a combination of columns of G, relative to the lengths of its terms.
_ROUNDING_OF_SUMS = 4 * np.finfo(float).eps

# The squared part of a column of G outside the span of others is the difference of its squared
# norm and that of its projection; where less than this is left of it, it is computed by itself.
_CANCELLED_SQUARE = 1e-2

# A correction of Q^T g, squared, beside g: R has lost too many digits where one is larger.
_LOST_CORRECTION = 1e-6


def csi(
    kernel: np.ndarray | KernelColumns,
    targets: np.ndarray,
    max_rank: int | None,
    kappa: float = 0.99,
    lookahead: int = 40,
    tol: float = 1e-4,
) -> LowRankFactor:
    """Cholesky decomposition with side information: pivots that also predict the targets.

    Each step takes the pivot with the largest estimated decrease of

        (1 - kappa) tr(K - G G^T) / tr K  +  kappa min_b ||Pi (Y - G b)||^2 / ||Pi Y||^2

    where Pi centres, and kernel columns not yet asked for are replaced by their look-ahead
    approximation (Bach & Jordan 2005, Eqs. 2 and 5-10, figure 1, section 5.4). The gains of the
    factor are the exact decreases. Costs O((k + lookahead)^2 n + k d n) time, (k + lookahead) n
    numbers of memory and at most k + lookahead kernel columns.

    Parameters
    ----------
    kernel : (n, n) symmetric array, or object with ``diagonal()`` and ``column(i)``
        Positive semidefinite.
    targets : (n,) or (n, d) array
        Y: responses, or indicator columns of the classes. Where they are constant, a warning is
        given and kappa taken as 0.
    max_rank : int or None
        Largest number of columns; n when None.
    kappa : float in [0, 1]
        Weight of the prediction of the targets against the approximation of the kernel.
    lookahead : int
        Number of Cholesky steps done in advance of the choice; with n or more all gains are
        exact, with 0 (and kappa < 1) this is incomplete Cholesky.
    tol : float
        Stop before a column whose exact gain is below; those of all columns sum to at most 1.
    """
    columns, diagonal = open_kernel(kernel)
    n = len(diagonal)
    max_rank = checked_max_rank(max_rank, n)
    targets = _as_targets(targets, n)
    if not 0 <= kappa <= 1:
        raise InputError(f"kappa is {kappa}: give a number from 0 to 1")
    if lookahead != int(lookahead) or lookahead < 0:
        raise InputError(f"lookahead is {lookahead}: give an integer, 0 or more")
    check_positive(tol, "tol", or_zero=True)
    total = np.einsum("dn,dn->", targets, targets)
    if total == 0.0:
        warnings.warn(
            "the targets are constant: pivots are chosen for the kernel only, as with kappa=0",
            stacklevel=2,
        )
        kappa = 0.0
    # lambda and mu of Eq. 2, normalized so that its two terms begin at 1 - kappa and kappa; then
    # the largest gain in the targets that is possible
    weights = np.array([(1 - kappa) / (diagonal.sum() or 1.0), kappa / (total or 1.0), total])
    pivots: list[int] = []
    gains = []
    with factor_threads(n):
        capacity = max_rank + int(lookahead)
        steps = _CholeskyQR(columns, diagonal, targets, capacity, weights)
        # Figure 1, step 1: look-ahead steps with the largest residuals as pivots (section 2.2)
        while steps.t < lookahead and steps.add_largest():
            pass
        # Figure 1, step 3a for k = 1: no turn yet, and the costs of all points computed afresh
        nothing = np.zeros((0, 2)), False, np.zeros((steps.t, 6)), np.zeros(5)
        candidate = steps.turn((0, 0, 0, *nothing))
        while len(pivots) < max_rank and candidate is not None:
            # Figure 1, step 3b: one more Cholesky and QR step, with the new pivot unless the
            # look-ahead columns have it; then with another one, which keeps the look-ahead as deep
            # as it was.
            before = steps.t
            if steps.residual[candidate] > 0.0:  # not in the span of the look-ahead columns
                steps.add(candidate)
            elif len(pivots) + 1 < max_rank:
                steps.add_largest()
            # Figure 1, step 3d: the exact gain; R is permuted for it already, but not G.
            gain = steps.choose(candidate, k=len(pivots), added=steps.t > before)
            if gain < tol:
                break
            pivots.append(candidate)
            gains.append(gain)
            # Figure 1, steps 3c and, of the next k, 3a: one pass over G
            candidate = steps.apply_choice()
    factor = steps.take(len(pivots))
    return LowRankFactor(factor, np.array(pivots, dtype=np.intp), np.array(gains))


def csi_all_ahead(
    kernel_matrix: np.ndarray,
    targets: np.ndarray,
    max_rank: int | None,
    kappa: float = 0.99,
    tol: float = 0.0,
) -> LowRankFactor:
    """The decomposition that :func:`csi` has with a look-ahead over all points.

    Keeps the residual K - G G^T, whose columns are those that each pivot would add, and their
    part outside the span of G as n by n matrices, which each step changes by an outer product:
    O(k n^2) time in place of O(k n^3), and 2 n^2 numbers of memory. The targets are not constant.
    """
    _, diagonal = open_kernel(kernel_matrix)
    n = len(diagonal)
    Y = _as_targets(targets, n)
    # lambda and mu of Eq. 2; the residual K - L, and its columns outside the span of G
    weights = (1 - kappa) / diagonal.sum(), kappa / np.einsum("dn,dn->", Y, Y)
    residual = np.array(kernel_matrix, dtype=np.float64, order="F")
    outside = residual - residual.mean(axis=0)
    lengths = np.einsum("ij,ij->j", outside, outside)
    # Below these a residual, or the part of a column outside the span, is rounding.
    floors = 1e-14 * diagonal, DEPENDENT**2 * lengths
    pivots: list[int] = []
    columns, gains = [], []
    while len(pivots) < checked_max_rank(max_rank, n):
        left = np.flatnonzero(residual.diagonal() > floors[0])
        if not len(left):
            break
        # Eqs. 6 and 8: ||g||^2 of every point, g its column of the residual over the root of its
        # residual
        squares = np.einsum("ij,ij->j", residual, residual)[left] / residual.diagonal()[left]
        lengths = np.einsum("ij,ij->j", outside, outside)
        # Eq. 7: what the part of the column outside the span of G explains of the targets; the
        # root cancels
        explained = ((Y @ outside) ** 2).sum(axis=0)
        explained = np.divide(explained, lengths, out=np.zeros(n), where=lengths > floors[1])[left]
        of_points = weights[0] * squares + weights[1] * explained
        best = int(of_points.argmax())
        if of_points[best] < tol:
            break
        pivot = int(left[best])
        # The new column of G is taken out of the residual. Where it has a part outside the span,
        # that is the new column of Q, and is taken out of the parts of all others.
        column = residual[:, pivot] / math.sqrt(residual[pivot, pivot])
        if lengths[pivot] > floors[1][pivot]:
            direction = outside[:, pivot] / math.sqrt(lengths[pivot])
            outside = dger(-1.0, direction, direction @ outside, a=outside, overwrite_a=True)
        residual = dger(-1.0, column, column, a=residual, overwrite_a=True)
        # These are zero but for rounding: the row and the column of the pivot, its part outside,
        # and the new column of G at earlier pivots.
        residual[pivot], residual[:, pivot], outside[:, pivot] = 0.0, 0.0, 0.0
        column[pivots] = 0.0
        columns.append(column)
        pivots.append(pivot)
        gains.append(of_points[best])
    factor = np.array(columns).reshape(-1, n).T
    return LowRankFactor(factor, np.array(pivots, dtype=np.intp), np.array(gains))


class _CholeskyQR(CholeskySteps):
    """Columns of G with R of Pi G = Q R beside them: the chosen ones, then those that look ahead.

    Q is not kept: it is Pi G R^-1, by the semi-normal equations, whose residual is taken into
    account where digits are lost.
    """

    def __init__(self, columns, diagonal, targets, capacity, weights):
        super().__init__(columns, diagonal, capacity)
        rows, d = len(self.G), len(targets)
        self.targets, self.weights = targets, weights
        self.R = np.zeros((rows, rows))
        self.means = np.zeros(rows)  # of the columns of G
        self.dead = np.zeros(rows, dtype=bool)  # zero columns of Q, see rotate_triangle
        self.projections = np.zeros((rows, d))  # Q^T Y
        self.costs = np.zeros((5, self.n))  # see update_gains
        self.costs[3] = np.inf  # the first pass computes all of them

    def add(self, pivot):
        """One step of Cholesky and of QR with this pivot."""
        self._reserve()
        t = self.t
        # G'g, Y'g and the mean of the new column g, all from one pass over the points
        products, left, mean = self._cholesky(pivot, t, self.targets)
        parts_of_g = self._outside(products, left, mean)
        if parts_of_g is None:
            # R, Q^T Y and the dead columns of Q from the columns of G themselves, by reflections
            columns = (self.G[:t] - self.means[:t, None]).T
            diagonal = np.asarray(np.linalg.qr(columns, mode="r")).diagonal()
            self.dead[:t] = abs(diagonal) <= DEPENDENT * np.linalg.norm(columns, axis=0)
            live = np.flatnonzero(~self.dead[:t])
            Q, R = np.linalg.qr(columns[:, live])
            Q *= np.where(R.diagonal() < 0.0, -1.0, 1.0)
            self.R[:t, :t], self.projections[:t] = 0.0, 0.0
            self.R[live, :t] = np.where(live[:, None] <= np.arange(t), Q.T @ columns, 0.0)
            self.projections[live] = Q.T @ self.targets.T
            parts_of_g = self._outside(products, left, mean, last=True)
        parts, norm, left, noise = parts_of_g
        # Section 4.1: the new column of R, and the row of Q'Y for the new column of Q, which is
        # dead (zero) where g lies in the span of the columns before it.
        self.R[:t, t], self.means[t] = parts, mean
        self.dead[t] = norm <= noise
        if not self.dead[t]:
            self.R[t, t] = norm
            self.projections[t] = left / norm
        self.t += 1

    def _outside(self, products, left, mean, last=False):
        """Of the new column g: Q^T g, the norm of what Q leaves, Y^T of that, its rounding error.

        None where R has lost so many digits that the corrections do not shrink, unless ``last``.
        """
        t, n, d = self.t, self.n, len(self.targets)
        R, dead, means = self.R[:t, :t], self.dead[:t], self.means[:t]
        square = self.squares[-1]
        # Semi-normal equations: R' (Q'g) = (Pi G)'g; Pythagoras tells the norm of what is left.
        parts = solve_transposed(R, dead, products - n * mean * means)
        norm = math.sqrt(max(square - n * mean**2 - parts @ parts, 0.0))
        left = left - parts @ self.projections[:t]
        noise = DEPENDENT * math.sqrt(square)
        for _ in range(3):
            if norm**2 > _CANCELLED_SQUARE * square:
                break
            # Where the difference cancelled, what is left is formed itself: h = g - Q Q'g, by its
            # combination of columns of G, and made orthogonal to Q once more (twice is enough
            # unless R is nearly singular).
            weights = solve(R, dead, parts)
            # The rounding of h is that of its longest terms.
            lengths = np.sqrt(np.einsum("ij,ij->j", R, R) + n * means**2)
            noise = max(noise, _ROUNDING_OF_SUMS * (abs(weights) @ lengths))
            sums = np.empty((-(-n // BLOCK), t + d + 2))
            project_out(self.G, t, -weights, mean - weights @ means, self.targets, sums)
            sums = sums.sum(axis=0)
            # The mean of h, and what of Q'g the first pass missed
            rest = sums[-2] / n
            more = solve_transposed(R, dead, sums[:t] - n * rest * means)
            if more @ more > _LOST_CORRECTION * square and not last:
                return None
            parts += more
            norm = math.sqrt(max(sums[-1] - n * rest**2 - more @ more, 0.0))
            left = sums[t : t + d] - more @ self.projections[:t]
            # It is enough where nothing is left, or the correction is small beside what is left.
            if norm <= noise or np.linalg.norm(more) <= 0.1 * norm:
                break
        return parts, norm, left, noise

    def choose(self, pivot, k, added):
        """Exact gain of the pivot, whose kernel column the columns span, at position k.

        ``added`` tells that the last column is new since the last pass.
        """
        t, n = self.t, self.n
        R, P, means = self.R, self.projections, self.means
        coefs, squares = np.zeros((6, t - k)), np.zeros(5)
        # The last column g, if it is new, adds g g' to the look-ahead part E of the approximation:
        # its squared norm, that of its part outside the span of the chosen columns, and what this
        # explains of the targets; then the inner products of the three with the columns of before,
        # from which update_gains combines those with E(:, i).
        if added:
            old, new = slice(k, t - 1), t - 1
            squares[0] = R[:t, new] @ R[:t, new] + n * means[new] ** 2
            squares[1] = R[k:t, new] @ R[k:t, new]
            unexplained = R[k:t, new] @ P[k:t]
            squares[2] = unexplained @ unexplained
            coefs[0, :-1] = R[:new, new] @ R[:new, old] + n * means[new] * means[old]
            coefs[1, :-1] = R[old, new] @ R[old, old]
            coefs[2, :-1] = (P[old] @ unexplained) @ R[old, old]
        # Appendix A: the row of the pivot tells which column is its own, q. A column that is in
        # place already may need a change of sign: the diagonal of G is positive.
        row = self.G[k:t, pivot].copy()
        q = k + int(np.flatnonzero(row)[-1])
        if q == k and row[0] < 0.0:
            for column in (self.G[k], R[: k + 1, k], means[k : k + 1], coefs[:, 0]):
                column *= -1.0
        turns = np.zeros((t, 2))
        rotate_triangle(R, P, means, self.dead, coefs[:3], row, k, q, t, turns, n)
        # Column k, which is chosen, leaves the look-ahead part: the same for it. squares[3] and
        # squares[4] are Eqs. 6 and 7 of this pivot, without an approximation.
        squares[3] = R[: k + 1, k] @ R[: k + 1, k] + n * means[k] ** 2
        squares[4] = P[k] @ P[k]
        rest = slice(k + 1, t)
        coefs[3, 1:] = R[: k + 1, k] @ R[: k + 1, rest] + n * means[k] * means[rest]
        coefs[4] = R[k, k:t]
        coefs[5, 1:] = (P[rest] @ P[k]) @ R[rest, rest]
        coefs = np.ascontiguousarray(coefs.T)
        self._chosen = pivot, (k, q, k + 1, turns, added, coefs, squares)
        return self.weights[0] * squares[3] + self.weights[1] * squares[4]

    def apply_choice(self):
        """Turn the columns for the choice; returns the next candidate."""
        pivot, turn = self._chosen
        candidate = self.turn(turn)
        self.G[turn[2] : self.t, pivot] = 0.0
        return candidate

    def turn(self, turn):
        """The point with the largest estimated gain after a turn, None when none is left."""
        t, tail = self.t, turn[2]
        R, means = self.R, self.means[tail:t]
        # A, B and C of Eqs. 9 and 10 for E = T T', T the columns of G from tail on: their Gram
        # matrix, their part outside the span of the chosen ones, and that part in Q'Y
        triangle = R[tail:t, tail:t].copy()
        gram = R[:t, tail:t].T @ R[:t, tail:t] + self.n * np.outer(means, means)
        forms = gram, triangle, self.projections[tail:t].T @ triangle
        hazy = _HAZY_RESIDUAL * largest_quotient(self.residual, self.floor)
        points = self.residual, self.floor, self.costs, hazy
        best, best_index = update_gains(self.G, t, turn, forms, points, self.weights)
        block = int(np.argmax(best))
        return None if best[block] < 0.0 else int(best_index[block])

    def _reserve(self, more=1):
        super()._reserve(more)
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
    "3a, 3c: permutation of G, gains of all": (_CholeskyQR, "turn"),
}


def _as_targets(targets, n):
    """(d, n), centred; exactly zero where nothing but rounding is left."""
    targets = np.asarray(targets, dtype=np.float64)
    targets = targets[:, None] if targets.ndim == 1 else targets
    if targets.ndim != 2 or len(targets) != n:
        raise InputError(
            f"targets has shape {targets.shape}: give one row for each of the {n} points"
        )
    if not np.isfinite(targets).all():
        raise InputError("targets holds NaN or infinite values: give finite ones")
    # A target that is constant but for the rounding of its mean is no target.
    rows = np.array(targets.T, order="C")
    largest = np.abs(rows).max(axis=1, initial=0.0)
    rows -= rows.mean(axis=1, keepdims=True)
    rows[np.abs(rows).max(axis=1, initial=0.0) <= 1e-14 * largest] = 0.0
    return rows
