"""Leave-one-out shortcuts against retraining without what they leave out."""

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.bench.clock import Stopwatch, repeated
from kronbench.datasets.drug_target import kernels
from kronbench.models import CompleteKronRidge, IndependentRidge, TwoStepRidge

PRECOMPUTED = {"row_kernel": "precomputed", "col_kernel": "precomputed"}


def run(spec, data, rng):
    """One row for each model, setting and weight (Stock et al. 2016, table 5.1).

    ``left_out`` counts what is left out one at a time (pairs, rows or columns), ``retrained`` how
    many of these, drawn at random, a model is trained without: at most ``spec["retrainings"]``.
    ``deviation`` is the largest difference between shortcut and retraining, relative to the
    largest label. ``seconds`` is the time of the shortcut for all of them, from the kernel
    matrices; ``retraining_seconds`` that of retraining all, by the mean of those that were made.
    """
    K, G, Y = kernels(data)
    rows = []
    for reg in tqdm(spec["regs"], desc=data.name, unit="weight"):
        for name, setting, shortcut, retrain in _cases(K, G, Y, reg):
            shortcut()  # loads compiled code
            F, short, cpu_short = repeated(shortcut)
            places = _places(setting, Y.shape)
            kept = places[rng.permutation(len(places))[: spec["retrainings"]]]
            deviations, seconds = [], 0.0
            for i, j in kept:
                with Stopwatch() as watch:
                    predicted = retrain(i, j)
                seconds += watch.seconds
                expected = {"A": F[i, j], "B": F[i], "C": F[:, j], "D": F[i, j]}[setting]
                deviations.append(np.abs(predicted - expected).max())
            rows.append(
                {
                    "model": name,
                    "setting": setting,
                    "reg": reg,
                    "left_out": len(places),
                    "retrained": len(kept),
                    # not Python's max, which drops a NaN
                    "deviation": np.max(deviations) / np.abs(Y).max(),
                    "seconds": short,
                    "cpu_seconds": cpu_short,
                    "retraining_seconds": seconds * len(places) / len(kept),
                }
            )
    return pd.DataFrame(rows)


def _places(setting, shape):
    """Pairs (i, j) to leave out; where a whole row (column) is left out, j (i) is zero."""
    m, q = shape
    rows, cols = np.divmod(np.arange(m * q), q)
    if setting == "B":
        rows, cols = np.arange(m), np.zeros(m, dtype=int)
    elif setting == "C":
        rows, cols = np.zeros(q, dtype=int), np.arange(q)
    return np.column_stack([rows, cols])


def _cases(K, G, Y, reg):
    """Yield (model, setting, shortcut, retrain) for the rows of table 5.1 and three more."""

    def independent():
        return IndependentRidge(reg, row_kernel="precomputed")

    def independent_row(i, j):
        keep = np.delete(np.arange(len(K)), i)
        model = independent().fit_matrix(K[np.ix_(keep, keep)], None, Y[keep])
        return model.predict_matrix(K[i : i + 1, keep])[0]

    yield "IT", "B", lambda: independent().fit_matrix(K, None, Y).loo("B"), independent_row
    makers = {
        "KK": lambda: CompleteKronRidge(reg, **PRECOMPUTED),
        "TS": lambda: TwoStepRidge(reg, reg, **PRECOMPUTED),
    }
    pairwise = {
        "KK": (np.kron(K, G), reg),
        "TS": (_two_step_pair_kernel(K, G, reg), 1.0),
    }
    for name, make in makers.items():
        for setting in "ABCD":
            retrain = _without_pair(*pairwise[name], Y)
            if setting != "A":
                retrain = _without_vertices(setting, make, K, G, Y)
            yield name, setting, _shortcut(setting, make, K, G, Y), retrain


def _shortcut(setting, make, K, G, Y):
    return lambda: make().fit_matrix(K, G, Y).loo(setting)


def _without_vertices(setting, make, K, G, Y):
    def retrain(i, j):
        rows, cols = np.arange(len(K)), np.arange(len(G))
        test_rows, test_cols = rows, cols
        if setting in "BD":
            rows, test_rows = np.delete(rows, i), [i]
        if setting in "CD":
            cols, test_cols = np.delete(cols, j), [j]
        model = make().fit_matrix(
            K[np.ix_(rows, rows)], G[np.ix_(cols, cols)], Y[np.ix_(rows, cols)]
        )
        return model.predict_matrix(K[np.ix_(test_rows, rows)], G[np.ix_(test_cols, cols)]).ravel()

    return retrain


def _without_pair(kernel, reg, Y):
    """Ridge regression with a kernel matrix of all pairs, row-major, but one."""

    def retrain(i, j):
        pair = i * Y.shape[1] + j
        keep = np.delete(np.arange(Y.size), pair)
        system = kernel[np.ix_(keep, keep)]
        system[np.diag_indices_from(system)] += reg
        return kernel[pair, keep] @ np.linalg.solve(system, Y.ravel()[keep])

    return retrain


def _two_step_pair_kernel(K, G, reg):
    """The kernel of Theorem 2, with which ridge regression of weight 1 is two-step regression."""
    x, U = np.linalg.eigh(K)
    s, V = np.linalg.eigh(G)
    products = np.outer(x, s)
    values = products / (reg * reg + reg * x[:, None] + reg * s)
    vectors = np.kron(U, V)
    return (vectors * values.ravel()) @ vectors.T
