"""Features of any scale: each fit is right, or says that it is not."""

import warnings
from collections import Counter
from itertools import product

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kronbench import PairData
from kronbench.errors import InputError
from kronbench.models import KronRidge, KronRidgeCV, KronSVM
from kronbench.runner.solvers import scores_of

SCALES = 10.0 ** np.arange(-6, 9, 2)
REGS = (1e-9, 1e-4, 1.0, 1e4)
CASES = list(product(SCALES, ("one side", "both sides"), (np.float32, np.float64), REGS))
GAUSSIAN = dict(row_kernel="gaussian", col_kernel="gaussian", row_gamma=0.1, col_gamma=0.1)
RIGHT = 1e-2


def table(scale, sides, dtype, width):
    """Pairs of vertices with the last column of one side, or of both, times ``scale``."""
    rng, m, q, n = np.random.default_rng(0), 8 * width, 6 * width, 24 * width + width**2
    rows, cols = rng.standard_normal((m, width)), rng.standard_normal((q, width))
    rows[:, -1] *= scale
    cols[:, -1] *= scale if sides == "both sides" else 1.0
    chosen = rng.permutation(m * q)[:n]
    X = PairData(rows.astype(dtype), cols.astype(dtype), chosen // q, chosen % q)
    y = rows[X.rows, 0] * cols[X.cols, 0] + 0.5 * rng.standard_normal(n)
    return X, y - y.mean()


def products(X):
    """Product features (n, p) in double."""
    rows, cols = (side.astype(float) for side in (X.row_features, X.col_features))
    return np.einsum("na,nb->nab", rows[X.rows], cols[X.cols]).reshape(len(X), -1)


def best_ridge(X, y, reg):
    """Scores of the optimum, by singular values of [X; root(reg) I] in columns of size one."""
    features = products(X)
    n, p = features.shape
    stacked = np.vstack([features, np.sqrt(reg) * np.eye(p)])
    U, s, _ = np.linalg.svd(stacked / np.linalg.norm(stacked, axis=0), full_matrices=False)
    assert s[-1] > 1e-6 * s[0]
    return U[:n] @ (U[:n].T @ y)


def best_gaussian(X, y, reg):
    K, G = (
        np.exp(-0.1 * ((side[:, None] - side[None]) ** 2).sum(axis=2))
        for side in (X.row_features.astype(float), X.col_features.astype(float))
    )
    values, U = np.linalg.eigh(K[np.ix_(X.rows, X.rows)] * G[np.ix_(X.cols, X.cols)])
    values = np.maximum(values, 0)
    return U @ (values / (values + reg) * (U.T @ y))


def path_scores(X, y, reg, **parameters):
    path = KronRidge(**parameters).path(X, y, [reg, 2 * reg], X)
    return path.final_test_scores(1e-8)[0]


def fit_scores(X, y, reg, **parameters):
    return KronRidge(reg=reg, **parameters).fit(X, y).predict(X)


def counts(scores, best, width, cases=CASES):
    """How many fits are right, told to be far from the optimum, or refused; none is wrong."""
    found = Counter()
    for case in cases:
        *of_table, reg = case
        X, y = table(*of_table, width)
        with warnings.catch_warnings(record=True) as said, np.errstate(all="ignore"):
            warnings.simplefilter("always")
            try:
                given = scores(X, y, reg)
            except InputError:
                found["refused"] += 1
                continue
        expected = best(X, y, reg)
        error = np.linalg.norm(given - expected) / np.linalg.norm(expected)
        told = any(issubclass(one.category, ConvergenceWarning) for one in said)
        found["right" if error <= RIGHT else "told" if told else f"wrong: {case}, {error:.2g}"] += 1
        found["right, but told"] += error <= RIGHT and told
    return found
