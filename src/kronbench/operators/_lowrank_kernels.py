"""Passes over the n points for the low-rank decompositions.

G, Q and the targets are stored with one column of the mathematics in each contiguous row of the
array, and every pass goes through the points in blocks: a block of all columns stays in cache
while everything that needs it is done. Sums over the points are left as one row per block and
added by the caller, so that the result does not depend on the number of threads.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

BLOCK = 512

# Norm of the part of a column outside the span of others, relative to the column, below which
# the column counts as dependent on them.
DEPENDENT = 1e-10

# A quantity kept by update is computed afresh where it fell below this part of its largest value
# since the last time: updating would leave it with fewer than about twelve correct digits.
_REFRESH = 1e-3

_REASSOCIATE = {"reassoc", "contract", "nsz", "arcp"}


@njit(fastmath=_REASSOCIATE)
def _add(columns, n_columns, low, high, weights, out):
    size = high - low
    for j in range(0, n_columns - 3, 4):  # four at once: the block of `out` is loaded once
        a, b = columns[j, low:high], columns[j + 1, low:high]
        c, d = columns[j + 2, low:high], columns[j + 3, low:high]
        wa, wb, wc, wd = weights[j], weights[j + 1], weights[j + 2], weights[j + 3]
        for i in range(size):
            out[i] += wa * a[i] + wb * b[i] + wc * c[i] + wd * d[i]
    for j in range(n_columns - n_columns % 4, n_columns):
        a = columns[j, low:high]
        wa = weights[j]
        for i in range(size):
            out[i] += wa * a[i]


@njit(fastmath=_REASSOCIATE)
def _inner_products(columns, n_columns, low, high, vector, out):
    size = high - low
    for j in range(0, n_columns - 3, 4):
        a, b = columns[j, low:high], columns[j + 1, low:high]
        c, d = columns[j + 2, low:high], columns[j + 3, low:high]
        sa = sb = sc = sd = 0.0
        for i in range(size):
            x = vector[i]
            sa += x * a[i]
            sb += x * b[i]
            sc += x * c[i]
            sd += x * d[i]
        out[j], out[j + 1], out[j + 2], out[j + 3] = sa, sb, sc, sd
    for j in range(n_columns - n_columns % 4, n_columns):
        a = columns[j, low:high]
        sa = 0.0
        for i in range(size):
            sa += vector[i] * a[i]
        out[j] = sa


@njit(parallel=True, fastmath=_REASSOCIATE, cache=True)
def cholesky_step(G, t, weights, root, residual, floor, largest, Q, n_dots, sums):
    """Column t of G from the kernel column in its place: G[t] = (G[t] + weights @ G[:t]) / root.

    The residual diagonal loses G[t]**2. Points whose residual is not above their floor are
    exhausted: it becomes zero, and so does their entry of every later column. sums[block]
    receives Q[:n_dots] @ G[t], the sum of G[t], its squared norm, and how far below zero residuals
    would fall. Of an exhausted point the floor is left, and it only loses the square of what
    remains of the kernel value over the ``largest`` diagonal entry: the division by ``root``
    would blow up rounding errors.
    """
    n = len(residual)
    scale = 1.0 / root
    for block in prange((n + BLOCK - 1) // BLOCK):
        low = block * BLOCK
        high = min(n, low + BLOCK)
        g = G[t, low:high]
        _add(G, t, low, high, weights, g)
        total = square = lowest = 0.0
        for i in range(high - low):
            left = residual[low + i]
            if left > 0.0:
                x = g[i] * scale
                left -= x * x
                lowest = min(lowest, left)
            else:
                x = 0.0
                lowest = min(lowest, floor[low + i] - g[i] * g[i] / largest)
            residual[low + i] = left if left > floor[low + i] else 0.0
            g[i] = x
            total += x
            square += x * x
        _inner_products(Q, n_dots, low, high, g, sums[block])
        sums[block, n_dots] = total
        sums[block, n_dots + 1] = square
        sums[block, n_dots + 2] = lowest


@njit(parallel=True, fastmath=_REASSOCIATE, cache=True)
def orthogonalize(source, mean, Q, t, weights, targets, sums):
    """Q[t] = source - mean + weights @ Q[:t].

    sums[block] receives Q[:t] @ Q[t], targets @ Q[t], the sum of Q[t] and its squared norm.
    """
    n = len(source)
    d = len(targets)
    for block in prange((n + BLOCK - 1) // BLOCK):
        low = block * BLOCK
        high = min(n, low + BLOCK)
        h = Q[t, low:high]
        for i in range(high - low):
            h[i] = source[low + i] - mean
        _add(Q, t, low, high, weights, h)
        _inner_products(Q, t, low, high, h, sums[block])
        _inner_products(targets, d, low, high, h, sums[block, t:])
        total = square = 0.0
        for i in range(high - low):
            total += h[i]
            square += h[i] * h[i]
        sums[block, t + d] = total
        sums[block, t + d + 1] = square


@njit(cache=True)
def rotate_triangle(R, projections, means, dead, vectors, row, k, q, t, turns, n):
    """Turn column q of G into position k, and keep Pi G = Q R with R upper triangular.

    ``row`` is G(pivot, k:q+1); reflections of neighbouring columns (q-1, q), ..., (k, k+1) move
    all of it into position k (Bach & Jordan 2005, appendix A). Each leaves one entry below the
    diagonal of R, which a reflection of two rows of R, hence of two columns of Q, removes.
    ``turns`` (2, t, 2) receives the cosines and sines, for the columns of G and of Q; ``vectors``
    are turned as a row of G. A dead column of Q is zero, and so is its row of R: it belongs to a
    column of G that, once centred, lies in the span of the ones before.
    """
    last = row[q - k]
    for j in range(q - 1, k - 1, -1):
        radius = math.hypot(row[j - k], last)
        c, s = row[j - k] / radius, last / radius
        last = radius
        turns[0, j, 0], turns[0, j, 1] = c, s
        for i in range(j + 2):
            x, y = R[i, j], R[i, j + 1]
            R[i, j], R[i, j + 1] = c * x + s * y, s * x - c * y
        x, y = means[j], means[j + 1]
        means[j], means[j + 1] = c * x + s * y, s * x - c * y
        for v in range(len(vectors)):
            x, y = vectors[v, j - k], vectors[v, j + 1 - k]
            vectors[v, j - k], vectors[v, j + 1 - k] = c * x + s * y, s * x - c * y

        if dead[j + 1]:
            norm = n * means[j] ** 2
            for i in range(j + 1):
                norm += R[i, j] ** 2
            swap = not dead[j] and abs(R[j, j]) <= DEPENDENT * math.sqrt(norm)
            if swap:
                R[j, j] = 0.0
            c, s = (0.0, 1.0) if swap else (1.0, 0.0)
        elif dead[j]:
            c, s = 0.0, 1.0
        else:
            radius = math.hypot(R[j, j], R[j + 1, j])
            c, s = (R[j, j] / radius, R[j + 1, j] / radius) if radius > 0.0 else (1.0, 0.0)
        if c == 0.0:
            dead[j], dead[j + 1] = dead[j + 1], dead[j]
        turns[1, j, 0], turns[1, j, 1] = c, s
        for i in range(j, t):
            x, y = R[j, i], R[j + 1, i]
            R[j, i], R[j + 1, i] = c * x + s * y, s * x - c * y
        R[j + 1, j] = 0.0
        for i in range(projections.shape[1]):
            x, y = projections[j, i], projections[j + 1, i]
            projections[j, i], projections[j + 1, i] = c * x + s * y, s * x - c * y


@njit(fastmath=_REASSOCIATE)
def _reflect(columns, first, last, low, high, turns):
    for j in range(last - 1, first - 1, -1):
        a, b = columns[j, low:high], columns[j + 1, low:high]
        c, s = turns[j, 0], turns[j, 1]
        for i in range(high - low):
            x, y = a[i], b[i]
            a[i] = c * x + s * y
            b[i] = s * x - c * y


@njit(fastmath=_REASSOCIATE)
def _squared_norm(matrix, vector):
    total = 0.0
    for row in matrix:
        x = 0.0
        for i in range(len(vector)):
            x += row[i] * vector[i]
        total += x * x
    return total


@njit(parallel=True, fastmath=_REASSOCIATE, cache=True)
def advance(
    G, Q, k, q, t, tail, turns, added, coefs, squares, gram, triangle, projected,
    residual, floor, hazy, costs, weights, best, best_index,
):  # fmt: skip
    """Turn columns k..q of G and Q, update the costs of all points and find the best gain.

    ``costs`` holds for each point A, B and C of Eqs. 9-10, the residual diagonal D before the
    look-ahead when they were last computed afresh, and the largest B since. They belong to the
    look-ahead part E = T T^T of the approximation, T being the columns from ``tail`` on: the new
    column, if one was ``added``, first adds to E, then column k leaves it. ``coefs`` (6, t - k)
    are the inner products in both updates as combinations of the columns from k on, ``squares``
    (5,) the squared norms. ``gram``, ``triangle`` and ``projected`` are M, S and V such that A is
    x^T M x, B is |S x|^2 and C is |V x|^2 for x = T(i, :). ``weights`` is lambda, mu and the
    largest possible C / B. best[block] receives the largest estimated gain, -1 when no point is
    left; a residual below ``hazy`` times the floor but not zero rules a point out.
    """
    n = len(residual)
    width, depth = t - k, t - tail
    new_a, new_b, new_c, old_a, old_c = squares
    for block in prange((n + BLOCK - 1) // BLOCK):
        low = block * BLOCK
        high = min(n, low + BLOCK)
        size = high - low
        sums = np.zeros((6, size))
        D = residual[low:high].copy()
        column = G[t - 1, low:high].copy() if added else np.zeros(size)
        x = np.empty(depth)
        _reflect(G, k, q, low, high, turns[0])
        _reflect(Q, k, q, low, high, turns[1])
        for j in range(6):
            _add(G[k:t], width, low, high, coefs[j], sums[j])
        for j in range(tail, t):
            g = G[j, low:high]
            for i in range(size):
                D[i] += g[i] * g[i]
        best[block], best_index[block] = -1.0, -1
        for i in range(size):
            row = low + i
            d = D[i]
            if d <= floor[row]:
                costs[3, row] = np.inf
                continue
            v = column[i]
            a = costs[0, row] + v * (2.0 * sums[0, i] + v * new_a)
            b = costs[1, row] + v * (2.0 * sums[1, i] + v * new_b)
            c = costs[2, row] + v * (2.0 * sums[2, i] + v * new_c)
            costs[4, row] = max(costs[4, row], b)
            w = G[k, row] if width > 0 else 0.0
            e = sums[4, i]
            a -= w * (2.0 * sums[3, i] + w * old_a)
            b -= e * e
            c -= e * (2.0 * sums[5, i] + e * old_c)
            if d < _REFRESH * costs[3, row] or b < _REFRESH * costs[4, row]:
                for j in range(depth):
                    x[j] = G[tail + j, row]
                a = 0.0
                for j in range(depth):
                    y = 0.0
                    for m in range(depth):
                        y += gram[j, m] * x[m]
                    a += x[j] * y
                b = _squared_norm(triangle, x)
                c = _squared_norm(projected, x)
                costs[3, row], costs[4, row] = d, b
            costs[0, row], costs[1, row], costs[2, row] = a, b, c
            left = residual[row]
            if 0.0 < left < hazy * floor[row]:
                continue
            gain = weights[0] * (max(a, 0.0) + left * (2.0 * d - left)) / d
            if b > DEPENDENT * DEPENDENT * a:
                gain += weights[1] * min(max(c, 0.0) / b, weights[2])
            if gain > best[block]:
                best[block], best_index[block] = gain, row
