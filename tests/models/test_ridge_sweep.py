"""Each fit is right against the dense solution, or says that it is not.

A plain run takes every seventh fit; with ``KRONBENCH_FUZZ`` set it takes all of them.
"""

import os
import warnings
from functools import cache
from itertools import product

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kronbench import PairData
from kronbench.errors import InputError
from kronbench.models import KronRidge

REGS = 10.0 ** np.arange(-12, 7, 2)
TABLES = ("drugs", "scaled", "wide")
MODELS = {
    "linear": {},
    "gaussian": {"row_kernel": "gaussian", "col_kernel": "gaussian"},
    "poly2d": {"pairwise": "poly2d"},
}
CASES = list(product(TABLES, MODELS, ("float32", "float64"), ("fit", "path")))
STEP = 1 if int(os.environ.get("KRONBENCH_FUZZ", "0")) else 7
RIGHT = 1e-2


@cache
def table(name):
    """Features of both sides, pairs, and labels without a mean."""
    rng = np.random.default_rng(TABLES.index(name))
    m, q = 24, 18
    if name == "drugs":  # mass, logp, donors; length, charge
        rows = np.c_[rng.uniform(150, 500, m), rng.normal(2, 1.5, m), rng.integers(0, 7, m)]
        cols = np.c_[rng.uniform(100, 900, q), rng.integers(-8, 9, q)]
    else:
        rows, cols = (rng.standard_normal(shape) for shape in ((m, 3), (q, 2)))
        if name == "wide":
            rows, cols = rng.standard_normal((m, 20)), rng.standard_normal((q, 14))
    order = rng.permutation(m * q)
    signal = (rows - rows.mean(0)) / rows.std(0) @ rng.standard_normal((rows.shape[1], 1))
    y = 2 * rng.standard_normal(m * q) + signal[order // q, 0]
    return rows, cols, order // q, order % q, y - y.mean()


def explicit(rows, cols, i, j, model):
    """Features (n, p) of the pairs whose inner products are the kernel, by their definition."""
    if model == "poly2d":
        both = np.hstack([rows[i], cols[j]])
        return np.einsum("na,nb->nab", both, both).reshape(len(i), -1)
    if model == "gaussian":
        rows, cols = (root(np.exp(-width(side) * distances(side))) for side in (rows, cols))
    return np.einsum("na,nb->nab", rows[i], cols[j]).reshape(len(i), -1)


def distances(side):
    return ((side[:, None] - side[None]) ** 2).sum(axis=2)


def width(side):
    return float(1 / np.median(distances(side.astype(np.float32).astype(float))))


def root(K):
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0))


@cache
def dense_solutions(name, model, dtype, n):
    """Scores of all pairs by models fitted to the first n, for each weight, from X = U S V'."""
    rows, cols, i, j, y = table(name)
    X = explicit(*(side.astype(dtype).astype(float) for side in (rows, cols)), i, j, model)
    U, s, Vt = np.linalg.svd(X[:n], full_matrices=False)
    kept = s > 1e-15 * n * s[0]
    U, s, Vt = U[:, kept], s[kept], Vt[kept]
    return [X @ Vt.T @ (s / (s**2 + reg) * (U.T @ y[:n])) for reg in REGS]


@pytest.mark.parametrize(("name", "model", "dtype", "way"), CASES[::STEP])
def test_no_fit_is_wrong_and_silent(name, model, dtype, way):
    rows, cols, i, j, y = table(name)
    rows, cols = rows.astype(dtype), cols.astype(dtype)
    n = len(y) - 60
    X = PairData(rows, cols, i, j)
    parameters = dict(MODELS[model])
    if model == "gaussian":
        parameters |= {"row_gamma": width(rows), "col_gamma": width(cols)}
    every = np.arange(len(y))
    found = []
    for reg, expected in zip(REGS, dense_solutions(name, model, dtype, n), strict=True):
        with warnings.catch_warnings(record=True) as said, np.errstate(all="ignore"):
            warnings.simplefilter("always")
            try:
                if way == "fit":
                    scores = KronRidge(reg=reg, **parameters).fit(X[every[:n]], y[:n]).predict(X)
                else:
                    path = KronRidge(**parameters).path(X[every[:n]], y[:n], [reg, 2 * reg], X)
                    scores = path.final_test_scores(1e-8)[0]
            except InputError:
                found.append("refused")
                continue
        error = np.abs(scores - expected).max() / np.abs(expected).max()
        told = any(issubclass(one.category, ConvergenceWarning) for one in said)
        found.append("right" if error <= RIGHT else "warned" if told else "wrong")
    assert "wrong" not in found, dict(zip(REGS, found, strict=True))
    if model == "linear" and name != "wide":
        assert found == ["right"] * len(REGS)
