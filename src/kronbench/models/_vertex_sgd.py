"""Stochastic gradient descent of a linear model of pairs, by Gram matrices of the vertices."""

from __future__ import annotations

import numpy as np
from numba import njit


def descend(
    row_gram: np.ndarray,
    col_gram: np.ndarray,
    rows: np.ndarray,
    cols: np.ndarray,
    signs: np.ndarray,
    *,
    logistic: bool,
    alpha: float,
    passes: int,
    seed: int,
) -> tuple[np.ndarray, np.ndarray, float]:
    """The iterates of scikit-learn's ``SGDClassifier`` on concatenated features [d, t].

    All steps move the weights along features of training vertices, so that decision values need
    their inner products alone. A step costs at most m + q additions in place of twice d + r
    operations on features that lie apart, and a pair that the hinge leaves alone costs none.

    Parameters
    ----------
    row_gram, col_gram : (m, m), (q, q) float64 arrays
        Inner products of the vertices' features.
    rows, cols : (n,) integer arrays
    signs : (n,) float64 array of -1 and 1
    logistic : bool
        The logistic loss; else the hinge.
    alpha : float
        Weight of ||w||^2 / 2 beside the mean loss, > 0.
    passes : int
        Passes over the pairs.
    seed : int
        Of the order of the pairs, below 2^31.

    Returns
    -------
    row_coef, col_coef, intercept
        Arrays (m,) and (q,): the weights of the features are ``row_features.T @ row_coef`` and
        ``col_features.T @ col_coef``.

    Notes
    -----
    The step is 1 / (alpha (t0 + t)) ("optimal" there), t0 such that the first one is
    alpha^(-1/4); the weights are kept beside a common factor.
    """
    return _descend(
        row_gram, col_gram, rows.astype(np.int64), cols.astype(np.int64), signs,
        logistic, alpha, passes, np.uint32(seed),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _descend(row_gram, col_gram, rows, cols, signs, logistic, alpha, passes, seed):
    n, m, q = len(signs), len(row_gram), len(col_gram)
    row_coef, col_coef = np.zeros(m), np.zeros(q)
    row_scores, col_scores = np.zeros(m), np.zeros(q)
    factor, intercept = 1.0, 0.0
    first = 1.0 / (alpha**-0.25 * alpha)
    order = np.arange(n)
    t = 0
    for _ in range(passes):
        _shuffle(order, seed)
        for h in order:
            i, j, y = rows[h], cols[h], signs[h]
            p = factor * (row_scores[i] + col_scores[j]) + intercept
            eta = 1.0 / (alpha * (first + t))
            t += 1
            if logistic:
                step = eta * y / (1.0 + np.exp(y * p))
            else:
                step = eta * y if y * p <= 1.0 else 0.0
            factor *= max(0.0, 1.0 - eta * alpha)
            if factor < 1e-9:
                row_scores *= factor
                col_scores *= factor
                row_coef *= factor
                col_coef *= factor
                factor = 1.0
            if step != 0.0:
                scaled = step / factor
                row_coef[i] += scaled
                col_coef[j] += scaled
                for k in range(m):
                    row_scores[k] += scaled * row_gram[i, k]
                for k in range(q):
                    col_scores[k] += scaled * col_gram[j, k]
                intercept += step
    return factor * row_coef, factor * col_coef, intercept


@njit(cache=True, nogil=True)
def _shuffle(order, seed):
    """scikit-learn's: Fisher and Yates with a xorshift generator, each pass from one seed."""
    state = np.uint32(seed) if seed != 0 else np.uint32(1)
    n = len(order)
    for i in range(n - 1):
        state ^= np.uint32(state << np.uint32(13))
        state ^= np.uint32(state >> np.uint32(17))
        state ^= np.uint32(state << np.uint32(5))
        j = i + np.int64(state & np.uint32(0x7FFFFFFF)) % (n - i)
        order[i], order[j] = order[j], order[i]
