"""Passes over the n points for the low-rank decompositions.

G and the targets are stored with one column of the mathematics in each contiguous row of the
array, and every pass goes through the points in blocks: a block of all columns stays in cache
while everything that needs it is done. Sums over the points are left as one row per block and
added by the caller, so that the result does not depend on the number of threads.

A picture of a pass, with G as it is stored, its columns as rows:

                 block 0   block 1   block 2  ...
    G[0]         .......   .......   .......
    G[1]         .......   .......   .......
    ...          .......   .......   .......
    G[t]         .......   .......   .......
                    |         |         |
    sums          row 0     row 1     row 2

A thread takes whole blocks. In one it does all that the step needs: combine the columns, take
inner products with them, update the points. The equations are those of Bach & Jordan (2005).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

# Points of a block.
BLOCK = 512

# Norm of the part of a column outside the span of others, relative to the column, below which
# the column counts as dependent on them.
DEPENDENT = 1e-10

# A cost kept by update is computed afresh where it fell below this part of its largest value since
# the last time: updating would leave it with fewer than about twelve correct digits.
_REFRESHED_BELOW = 1e-3

# Sums may be formed in another order, for vector instructions. Infinities and NaN come through.
_REASSOCIATE = {"reassoc", "contract", "nsz", "arcp"}


@njit(fastmath=_REASSOCIATE)
def _add(columns, n_columns, low, high, weights, out):
    """Out += weights @ columns for the points of a block."""
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
    """Out = columns @ vector for the points of a block."""
    size = high - low
    for j in range(0, n_columns - 3, 4):  # four at once: the block of `vector` is loaded once
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
def cholesky_step(G, t, weights, root, residual, floor, largest, n_dots, targets, sums):
    """Column t of G from the kernel column in its place: G[t] = (G[t] + weights @ G[:t]) / root.

    The residual diagonal loses G[t]**2. Points whose residual is not above their floor are
    exhausted: it becomes zero, and so does their entry of every later column. sums[block]
    receives G[:n_dots] @ G[t], targets @ G[t], the sum of G[t], its squared norm, and how far
    below zero residuals would fall; those of exhausted points without the division by ``root``,
    which would blow up rounding errors.
    """
    n = len(residual)
    scale = 1.0 / root
    for block in prange((n + BLOCK - 1) // BLOCK):
        low = block * BLOCK
        high = min(n, low + BLOCK)
        # The numerator of G(J, t) in section 2.1: the kernel column, which lies in G[t], less its
        # part in the columns before.
        g = G[t, low:high]
        _add(G, t, low, high, weights, g)
        total = square = lowest = 0.0
        for i in range(high - low):
            # D(i) loses G(i, t)^2. The kernel is indefinite where that leaves less than rounding
            # below zero: `lowest` keeps the worst.
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
        # What the caller needs of the new column, while the block is in cache: G'g and Y'g
        _inner_products(G, n_dots, low, high, g, sums[block])
        _inner_products(targets, len(targets), low, high, g, sums[block, n_dots:])
        sums[block, -3] = total
        sums[block, -2] = square
        sums[block, -1] = lowest


@njit(parallel=True, fastmath=_REASSOCIATE, cache=True)
def project_out(G, t, weights, shift, targets, sums):
    """Inner products of h = G[t] - shift + weights @ G[:t], which is not kept.

    sums[block] receives G[:t] @ h, targets @ h, the sum of h and its squared norm.
    """
    n = G.shape[1]
    for block in prange((n + BLOCK - 1) // BLOCK):
        low = block * BLOCK
        high = min(n, low + BLOCK)
        # The block of h is formed in cache, and only its inner products leave it.
        h = G[t, low:high] - shift
        _add(G, t, low, high, weights, h)
        _inner_products(G, t, low, high, h, sums[block])
        _inner_products(targets, len(targets), low, high, h, sums[block, t:])
        total = square = 0.0
        for i in range(high - low):
            total += h[i]
            square += h[i] * h[i]
        sums[block, -2] = total
        sums[block, -1] = square


# Without NaN and without an exception for a division by zero the loop becomes vector instructions:
# a third of the time.
@njit(fastmath=_REASSOCIATE | {"nnan"}, error_model="numpy", cache=True)
def largest_quotient(a, b):
    """The largest a / b where b is positive; 0 if it is nowhere."""
    largest = 0.0
    for i in range(len(a)):
        largest = max(largest, a[i] / b[i] if b[i] > 0.0 else 0.0)
    return largest


@njit(cache=True)
def solve_transposed(R, dead, b):
    """X with R^T x = b for an upper triangular R; zero at the dead positions."""
    x = b.copy()
    # Forward substitution along the rows of R, which are contiguous
    for i in range(len(b)):
        if dead[i]:
            x[i] = 0.0
            continue
        x[i] /= R[i, i]
        for j in range(i + 1, len(b)):
            x[j] -= R[i, j] * x[i]
    return x


@njit(fastmath=_REASSOCIATE, cache=True)
def solve(R, dead, b):
    """X with R x = b for an upper triangular R; zero at the dead positions."""
    x = np.zeros(len(b))
    # Backward substitution, by inner products with the rows of R
    for i in range(len(b) - 1, -1, -1):
        if not dead[i]:
            left = b[i]
            for j in range(i + 1, len(b)):
                left -= R[i, j] * x[j]
            x[i] = left / R[i, i]
    return x


@njit(cache=True)
def rotate_triangle(R, projections, means, dead, vectors, row, k, q, t, turns, n):
    """Turn column q of G into position k, and keep Pi G = Q R with R upper triangular.

    ``row`` is G(pivot, k:q+1); reflections of neighbouring columns (q-1, q), ..., (k, k+1) move
    all of it into position k (Bach & Jordan 2005, appendix A). Each leaves one entry below the
    diagonal of R, which a reflection of two rows of R, hence of two columns of Q, removes.
    ``turns`` (t, 2) receives the cosines and sines for the columns of G; ``vectors`` are turned
    as a row of G. A dead column of Q and its row of R are zero.
    """
    last = row[q - k]
    for j in range(q - 1, k - 1, -1):
        # Step 2 of appendix A for the pair (j, j + 1), with a reflection [c s; s -c] in place of
        # the QR decomposition of two rows: it moves all of `last` into position j.
        radius = math.hypot(row[j - k], last)
        c, s = row[j - k] / radius, last / radius
        last = radius
        turns[j, 0], turns[j, 1] = c, s
        # Step 3: columns of R, their means, and the rows that turn as one of G. G itself follows
        # for all pairs together, in one pass over the points.
        for i in range(j + 2):
            x, y = R[i, j], R[i, j + 1]
            R[i, j], R[i, j + 1] = c * x + s * y, s * x - c * y
        x, y = means[j], means[j + 1]
        means[j], means[j + 1] = c * x + s * y, s * x - c * y
        for v in range(len(vectors)):
            x, y = vectors[v, j - k], vectors[v, j + 1 - k]
            vectors[v, j - k], vectors[v, j + 1 - k] = c * x + s * y, s * x - c * y

        # R(j + 1, j) is below the diagonal now. A reflection of rows j and j + 1 removes it; where
        # one of them is dead, which is zero, it exchanges the two or does nothing.
        if dead[j + 1]:
            # With a dead second row nothing is below the diagonal. The first one dies where column
            # j is now a combination of those before it: the two change places.
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
        # The same reflection for the rows of R and, as they belong to columns of Q, of Q'Y
        if c == 0.0:
            dead[j], dead[j + 1] = dead[j + 1], dead[j]
        for i in range(j, t):
            x, y = R[j, i], R[j + 1, i]
            R[j, i], R[j + 1, i] = c * x + s * y, s * x - c * y
        R[j + 1, j] = 0.0
        for i in range(projections.shape[1]):
            x, y = projections[j, i], projections[j + 1, i]
            projections[j, i], projections[j + 1, i] = c * x + s * y, s * x - c * y


@njit(fastmath=_REASSOCIATE)
def _reflect(columns, first, last, low, high, turns):
    """Turn the columns from last to first, for the points of a block, as rotate_triangle does."""
    size = high - low
    for j in range(last - 1, first, -2):  # two at once: the column that moves is loaded once
        a, b, x = columns[j - 1, low:high], columns[j, low:high], columns[j + 1, low:high]
        c, s = turns[j, 0], turns[j, 1]
        e, f = turns[j - 1, 0], turns[j - 1, 1]
        for i in range(size):
            moving = c * b[i] + s * x[i]
            x[i] = s * b[i] - c * x[i]
            b[i] = f * a[i] - e * moving
            a[i] = e * a[i] + f * moving
    if (last - first) % 2:
        a, x = columns[first, low:high], columns[first + 1, low:high]
        c, s = turns[first, 0], turns[first, 1]
        for i in range(size):
            moving = c * a[i] + s * x[i]
            x[i] = s * a[i] - c * x[i]
            a[i] = moving


@njit
def _six(row):
    return row[0], row[1], row[2], row[3], row[4], row[5]


@njit(fastmath=_REASSOCIATE)
def _combine(columns, first, last, low, high, weights, out, squares):
    """Out += weights[j] * columns[j] for six combinations, and squares += columns[j]^2."""
    size = high - low
    o0, o1, o2, o3, o4, o5 = _six(out)
    for j in range(first, last - 3, 4):  # four at once: a third of the time
        a, b = columns[j, low:high], columns[j + 1, low:high]
        c, d = columns[j + 2, low:high], columns[j + 3, low:high]
        a0, a1, a2, a3, a4, a5 = _six(weights[j])
        b0, b1, b2, b3, b4, b5 = _six(weights[j + 1])
        c0, c1, c2, c3, c4, c5 = _six(weights[j + 2])
        d0, d1, d2, d3, d4, d5 = _six(weights[j + 3])
        for i in range(size):
            w, x, y, z = a[i], b[i], c[i], d[i]
            o0[i] += a0 * w + b0 * x + c0 * y + d0 * z
            o1[i] += a1 * w + b1 * x + c1 * y + d1 * z
            o2[i] += a2 * w + b2 * x + c2 * y + d2 * z
            o3[i] += a3 * w + b3 * x + c3 * y + d3 * z
            o4[i] += a4 * w + b4 * x + c4 * y + d4 * z
            o5[i] += a5 * w + b5 * x + c5 * y + d5 * z
            squares[i] += w * w + x * x + y * y + z * z
    for j in range(last - (last - first) % 4, last):
        a = columns[j, low:high]
        for m in range(6):
            o, w = out[m], weights[j, m]
            for i in range(size):
                o[i] += w * a[i]
        for i in range(size):
            squares[i] += a[i] * a[i]


@njit(fastmath=_REASSOCIATE)
def _squared_norm(matrix, vector):
    """|matrix @ vector|^2, without an array in between."""
    total = 0.0
    for row in matrix:
        x = 0.0
        for i in range(len(vector)):
            x += row[i] * vector[i]
        total += x * x
    return total


@njit(parallel=True, fastmath=_REASSOCIATE, cache=True)
def update_gains(G, t, turn, forms, points, weights):
    """Turn the columns of G for a choice, update the costs of all points and find the best gain.

    A chosen pivot takes position k by ``turns`` (t, 2) of the columns k..q of G. The look-ahead
    part E = T T^T of the approximation belongs to the columns T from ``tail`` on: the new column,
    if one was ``added``, first adds to E, then column k leaves it. ``coefs`` (t - k, 6) are the
    inner products in both updates as combinations of the columns from k on, ``squares`` (5,) the
    squared norms. With x = T(i, :) the ``forms`` give A as x^T gram x, B as |triangle x|^2 and C
    as |projected x|^2.

    ``costs`` (5, n) of the points are A, B and C of Eqs. 9-10, the residual diagonal D before the
    look-ahead when they were last computed afresh, and the largest B since; ``residual`` is the
    diagonal of K - G G^T, and zero where it is not above ``floor``. Below ``hazy`` times the
    floor, but not zero, it rules a point out. ``weights`` is lambda, mu and the largest possible
    C / B. Returns for each block of points the largest estimated gain, -1 when no point is left,
    and where it is.
    """
    k, q, tail, turns, added, coefs, squares = turn
    gram, triangle, projected = forms
    residual, floor, costs, hazy = points
    n = len(residual)
    depth = t - tail
    new_a, new_b, new_c, old_a, old_c = squares
    best = np.empty((n + BLOCK - 1) // BLOCK)
    best_index = np.empty(len(best), np.intp)
    for block in prange(len(best)):
        low = block * BLOCK
        high = min(n, low + BLOCK)
        size = high - low
        # What the update needs of a point: six combinations of its row of G, and D.
        sums = np.zeros((6, size))
        D = np.empty(size)
        column = G[t - 1, low:high].copy() if added else np.zeros(size)
        x = np.empty(depth)
        # Figure 1, step 3c: G follows R. After that column k is the chosen one.
        _reflect(G, k, q, low, high, turns)
        # One pass over the columns from k on. D is the residual diagonal without the look-ahead
        # columns: D^adv and the squares of those alone, not of column k.
        _combine(G[k:t], 0, tail - k, low, high, coefs, sums, D)
        D[:] = residual[low:high]
        _combine(G[k:t], tail - k, t - k, low, high, coefs, sums, D)
        # Section 5.2: A, B and C of all points by update. E gains v times the new column and loses
        # w times column k; e is the entry of E(:, i) along q_k, the new column of Q.
        A, B, C, since, largest = costs[:, low:high]
        W = G[k, low:high] if tail > k else np.zeros(size)
        for i in range(size):
            v, w, e = column[i], W[i], sums[4, i]
            b = B[i] + v * (2.0 * sums[1, i] + v * new_b)
            largest[i] = max(largest[i], b)
            A[i] += v * (2.0 * sums[0, i] + v * new_a) - w * (2.0 * sums[3, i] + w * old_a)
            B[i] = b - e * e
            C[i] += v * (2.0 * sums[2, i] + v * new_c) - e * (2.0 * sums[5, i] + e * old_c)
        # Figure 1, step 3a: the estimated gain of each point that is left, and the largest.
        best[block], best_index[block] = -1.0, -1
        for i in range(size):
            row, d = low + i, D[i]
            if d <= floor[row]:  # chosen, or in the span of the chosen columns
                since[i] = np.inf
                continue
            # Costs that lost digits by updates are computed afresh, from the quadratic forms.
            if d < _REFRESHED_BELOW * since[i] or B[i] < _REFRESHED_BELOW * largest[i]:
                for j in range(depth):
                    x[j] = G[tail + j, row]
                A[i] = 0.0
                for j in range(depth):
                    y = 0.0
                    for m in range(depth):
                        y += gram[j, m] * x[m]
                    A[i] += x[j] * y
                B[i] = _squared_norm(triangle, x)
                C[i] = _squared_norm(projected, x)
                since[i], largest[i] = d, B[i]
            # Eq. 9 with eta = D^2 - (D - D^adv)^2 = D^adv (2 D - D^adv), and Eq. 10
            left = residual[row]
            if 0.0 < left < hazy * floor[row]:
                continue
            gain = weights[0] * (max(A[i], 0.0) + left * (2.0 * d - left)) / d
            if B[i] > DEPENDENT * DEPENDENT * A[i]:
                gain += weights[1] * min(max(C[i], 0.0) / B[i], weights[2])
            if gain > best[block]:
                best[block], best_index[block] = gain, row
    return best, best_index
