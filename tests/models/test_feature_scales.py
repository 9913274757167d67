"""Closed forms on features of any scale: each number is right, or told to be wrong, or refused.

The reference solves least squares of [Phi; root(reg) I] in columns of size one, whose rounding
does not depend on the scales of the features.
"""

import warnings
from collections import Counter
from functools import partial
from itertools import product

import numpy as np
import pytest
from scipy.linalg import LinAlgWarning

from kronbench.errors import InputError
from kronbench.models import CompleteKronRidge, IndependentRidge, TwoStepRidge

SCALES = 10.0 ** np.arange(-6, 9, 2)
REGS = (1e-9, 1e-4, 1.0, 1e4)
CASES = list(product(SCALES, ("one side", "both sides"), (np.float32, np.float64), REGS))
M, Q = 9, 7  # vertices of training; two more of each side are new
WIDTHS = {"thin": (4, 3), "wide": (12, 10)}
RIGHT = 1e-2


def table(scale, sides, dtype, width):
    """Features of both sides with a column, the last and the first, times ``scale``; labels."""
    rng, (d, r) = np.random.default_rng(5), WIDTHS[width]
    D, T = rng.standard_normal((M + 2, d)), rng.standard_normal((Q + 2, r))
    D[:, -1] *= scale
    T[:, 0] *= scale if sides == "both sides" else 1.0
    return D.astype(dtype), T.astype(dtype), rng.standard_normal((M, Q))


def solution(features, reg):
    """(d, n), the matrix that takes labels to the weights of ridge regression."""
    n, d = features.shape
    stacked = np.vstack([features, np.sqrt(reg) * np.eye(d)])
    sizes = np.linalg.norm(stacked, axis=0)
    basis, triangle = np.linalg.qr(stacked / sizes)
    assert np.linalg.cond(triangle) < 1e9
    return np.linalg.solve(triangle, basis[:n].T) / sizes[:, None]


def reduced(features, new):
    """Both in an orthonormal basis of the rows of ``features``, with the largest column first."""
    if features.shape[1] <= len(features):
        return features, new
    order = np.argsort(-np.linalg.norm(features, axis=0))
    basis, triangle = np.linalg.qr(features.T[order])
    return triangle.T, new[:, order] @ basis


def of_both(D, T, Y, reg, D_new, T_new):
    """Kronecker ridge regression, by the features of pairs."""
    (D, D_new), (T, T_new) = reduced(D, D_new), reduced(T, T_new)
    weights = solution(np.kron(D, T), reg) @ Y.ravel()
    return D_new @ weights.reshape(D.shape[1], -1) @ T_new.T


def of_steps(D, T, Y, reg, D_new, T_new):
    (D, D_new), (T, T_new) = reduced(D, D_new), reduced(T, T_new)
    return D_new @ solution(D, reg) @ Y @ (T_new @ solution(T, reg)).T


def of_rows(D, T, Y, reg, D_new, T_new):
    D, D_new = reduced(D, D_new)
    return D_new @ solution(D, reg) @ Y


def retrained(reference, setting, D, T, Y, reg):
    """Left-out predictions of settings B and D, each from a fit of its own."""
    F = np.empty(Y.shape)
    everything = [np.arange(Y.shape[1])]
    for i in range(len(Y)):
        rows = np.arange(len(Y)) != i
        for j in np.arange(Y.shape[1])[:, None] if setting == "D" else everything:
            cols = ~np.isin(np.arange(Y.shape[1]), j) if setting == "D" else j
            kept = D[rows], T[cols], Y[rows][:, cols]
            F[i, j] = reference(*kept, reg, D[[i]], T[j])[0]
    return F


MODELS = {
    "Kronecker": (CompleteKronRidge, ("reg",), of_both),
    "two steps": (TwoStepRidge, ("reg_rows", "reg_cols"), of_steps),
    "independent": (IndependentRidge, ("reg",), of_rows),
}


def fitted(name, reg, given, **parameters):
    make, weights, _ = MODELS[name]
    return make(**dict.fromkeys(weights, reg), **parameters).fit_matrix(*given)


def counts(found_of, expected_of, width, cases):
    """How many of the cases are right, told to be wrong, or refused; and each that is wrong."""
    found = Counter()
    for scale, sides, dtype, reg in cases:
        D, T, Y = table(scale, sides, dtype, width)
        with warnings.catch_warnings(record=True) as said, np.errstate(all="ignore"):
            warnings.simplefilter("always")
            try:
                given = found_of(D, T, Y, reg)
            except InputError:
                found["refused"] += 1
                continue
        expected = expected_of(D.astype(float), T.astype(float), Y, reg)
        error = np.abs(given - expected).max() / np.abs(Y).max()
        told = any(issubclass(one.category, LinAlgWarning) for one in said)
        found["told, but right"] += told and error <= RIGHT
        found["right" if error <= RIGHT else "told" if told else
              f"wrong by {error:.1g}: {scale:g}, {sides}, {dtype.__name__}, {reg:g}"] += 1  # fmt: skip
    return +found
