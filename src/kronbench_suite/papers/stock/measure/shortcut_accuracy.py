"""Leave-one-out shortcuts against retraining without what they leave out.

Parameters
----------
regs : regularization weights
retrainings : most models that are trained anew
"""

from functools import partial

import numpy as np
import pandas as pd
from scipy.linalg import cho_factor, cho_solve
from tqdm import tqdm

from kronbench.datasets.drug_target import kernels
from kronbench.models import CompleteKronRidge, IndependentRidge, TwoStepRidge
from kronbench.pairs.spectral_filters import as_filter
from kronbench_suite.papers.stock.measure.kernels import PRECOMPUTED
from kronbench_suite.papers.stock.measure.retraining import retrained_kron_leave_one_out
from kronbench_suite.runner.clock import time_interleaved
from kronbench_suite.runner.columns import TIMING, Columns

# 1 - d(H) is known to about the number of vertices times the rounding error.
_FITTED = 1e-12

_PATIENCE = 1.0  # seconds after which retraining is long enough to be timed once

COLUMNS = TIMING | Columns(
    key=("model", "setting", "reg"),
    clock=("reusing_seconds", "retraining_seconds"),
)


def run(spec, data, rng):
    """One row for each model, setting and weight (Stock et al. 2016, table 5.1).

    ``left_out`` counts the pairs, rows or columns, ``retrained`` those without which a model is
    trained. Other spectral filters have rows without times, where Corollaries 3 to 5 are defined.
    """
    K, G, Y = kernels(data)
    m, q = Y.shape
    largest = np.abs(Y).max()
    rows = []
    for reg in tqdm(spec["regs"], desc=data.name, unit="weight"):
        # The methods of table 5.1, then two-step regression with other spectral filters.
        cases = *_cases(K, G, Y, reg), *_filter_cases(K, G, Y, reg)
        for name, setting, shortcut, reusing, retrain in cases:
            F = shortcut()  # loads compiled code
            # where a whole row (column) is left out, j (i) is zero
            shape = 1 if setting == "C" else m, 1 if setting == "B" else q
            places = np.argwhere(np.ones(shape))
            kept = places[rng.permutation(len(places))[: spec["retrainings"]]]
            if reusing is None:  # another filter, whose formula may have no value
                kept = [at for at in kept if np.isfinite(_predicted(F, setting, *at)).all()]
                if not kept:
                    continue
            retrained = partial(_all_retrained, retrain, kept)
            row = {"model": name, "setting": setting, "reg": reg}
            row |= {"left_out": len(places), "retrained": len(kept)}
            if reusing is None:
                predictions, timed = retrained(), {"waiting": 0.0, "busy": False}
            else:
                ways = {"shortcut": shortcut, "reusing": reusing, "retraining": retrained}
                found = time_interleaved(ways, max_seconds=_PATIENCE)
                (F, timing), (again, of_reusing), (predictions, of_retraining) = found.values()
                timings = timing, of_reusing, of_retraining
                timed = {"reusing_deviation": np.abs(again - F).max() / largest}
                timed |= timing.columns() | {"reusing_seconds": of_reusing.seconds}
                seconds = of_retraining.seconds * len(places) / len(kept)
                timed |= {"retraining_seconds": seconds}
                timed |= {"waiting": max(each.waiting for each in timings)}
                timed |= {"busy": any(each.busy for each in timings)}
            # The largest difference of the shortcut from a model that is trained anew.
            differences = [
                np.abs(predicted - _predicted(F, setting, i, j)).max()
                for (i, j), predicted in zip(kept, predictions, strict=True)
            ]
            rows.append(row | {"deviation": max(differences) / largest} | timed)
    return pd.DataFrame(rows)


def _all_retrained(retrain, places):
    return [retrain(i, j) for i, j in places]


def _predicted(F, setting, i, j):
    return {"A": F[i, j], "B": F[i], "C": F[:, j], "D": F[i, j]}[setting]


def _cases(K, G, Y, reg):
    """Yield (model, setting, shortcut, reusing, retrain)."""
    independent = partial(IndependentRidge, reg=reg, row_kernel="precomputed")
    given = "B", independent, K, None, Y
    retrain = partial(_without_vertices, *given)
    yield "IT", "B", partial(_shortcut, *given), lambda: _held_out_smoother(K, reg) @ Y, retrain
    makers = {
        "KK": partial(CompleteKronRidge, reg=reg, **PRECOMPUTED),
        "TS": partial(TwoStepRidge, reg_rows=reg, reg_cols=reg, **PRECOMPUTED),
    }
    # without one pair the data are not complete: ridge regression with a kernel of pairs, for two
    # steps that of Theorem 2 with the weight 1
    x, U = np.linalg.eigh(K)
    s, V = np.linalg.eigh(G)
    values = np.outer(x, s) / (reg * reg + reg * x[:, None] + reg * s)
    vectors = np.kron(U, V)
    pairwise = {
        "KK": (np.kron(K, G), reg),
        "TS": ((vectors * values.ravel()) @ vectors.T, 1.0),
    }
    for name, make in makers.items():
        for setting in "ABCD":
            given = setting, make, K, G, Y
            if setting == "A":
                reusing = partial(_from_one_inverse, *pairwise[name], Y)
                retrain = partial(_without_pair, *pairwise[name], Y)
            else:
                reusing = partial(_reusing, name, setting, K, G, Y, reg)
                retrain = partial(_without_vertices, *given)
            yield name, setting, partial(_shortcut, *given), reusing, retrain


def _shortcut(setting, make, K, G, Y):
    return make().fit_matrix(K, G, Y).loo(setting)


def _without_vertices(setting, make, K, G, Y, i, j):
    """Predictions of a model that is trained without row i (B), column j (C) or both (D)."""
    rows, cols = np.arange(Y.shape[0]), np.arange(Y.shape[1])
    test_rows, test_cols = rows, cols
    if setting in "BD":
        rows, test_rows = np.delete(rows, i), [i]
    if setting in "CD":
        cols, test_cols = np.delete(cols, j), [j]
    G_train = G_test = None  # of independent tasks
    if G is not None:
        G_train, G_test = G[np.ix_(cols, cols)], G[np.ix_(test_cols, cols)]
    model = make().fit_matrix(K[np.ix_(rows, rows)], G_train, Y[np.ix_(rows, cols)])
    return model.predict_matrix(K[np.ix_(test_rows, rows)], G_test).ravel()


def _without_pair(kernel, reg, Y, i, j):
    """Ridge regression with a kernel matrix of all pairs, row-major, but one."""
    pair = i * Y.shape[1] + j
    keep = np.delete(np.arange(Y.size), pair)
    system = kernel[np.ix_(keep, keep)]
    system[np.diag_indices_from(system)] += reg
    return kernel[pair, keep] @ np.linalg.solve(system, Y.ravel()[keep])


def _from_one_inverse(kernel, reg, Y):
    """Setting A from one factorization of the system of all pairs, O(m^3 q^3)."""
    system = kernel + reg * np.eye(len(kernel))
    inverse = cho_solve(cho_factor(system), np.eye(len(kernel)))
    return Y - (inverse @ Y.ravel() / np.diag(inverse)).reshape(Y.shape)


def _reusing(name, setting, K, G, Y, reg):
    """KK by the eigenpairs, TS by a Cholesky factor, of each kernel without each vertex."""
    if name == "KK":
        return retrained_kron_leave_one_out(setting, K, G, Y, [reg], reuse=True)[0]
    left = _smoother(K, reg) if setting == "C" else _held_out_smoother(K, reg)
    right = _smoother(G, reg) if setting == "B" else _held_out_smoother(G, reg)
    return left @ Y @ right.T


def _smoother(kernel, reg):
    """The hat matrix kernel (kernel + reg I)^-1."""
    return cho_solve(cho_factor(kernel + reg * np.eye(len(kernel))), kernel).T


def _held_out_smoother(kernel, reg):
    """Row i predicts vertex i from the labels of all others: one Cholesky factor a row."""
    smoother = np.zeros(kernel.shape)
    for i in range(len(kernel)):
        kept = np.delete(np.arange(len(kernel)), i)
        system = kernel[np.ix_(kept, kept)]
        system[np.diag_indices_from(system)] += reg
        smoother[i, kept] = cho_solve(cho_factor(system, overwrite_a=True), kernel[kept, i])
    return smoother


def _filter_cases(K, G, Y, reg):
    """The same for filters that are not ridge, by the formula, without what reuses.

    A filter that fits a vertex whatever its label is has d(H) = 1 there, and the formula is 0 / 0:
    NaN, also where rounding would make a number of it.
    """
    for name in ("cutoff", "iterated-tikhonov", "landweber"):
        hats, held_out = [], []
        for kernel in (K, G):
            values, vectors = np.linalg.eigh(kernel)
            values = np.maximum(values, 0.0)
            H = (vectors * (values * as_filter(name)(values, reg))) @ vectors.T
            d = np.diag(H)
            hats.append(H)
            held_out.append((H - np.diag(d)) / np.where(1 - d > _FITTED, 1 - d, np.nan)[:, None])
        filters = {"row_filter": name, "col_filter": name}
        make = partial(TwoStepRidge, reg_rows=reg, reg_cols=reg, **filters, **PRECOMPUTED)
        for setting in "BCD":
            left = hats[0] if setting == "C" else held_out[0]
            right = hats[1] if setting == "B" else held_out[1]
            retrain = partial(_without_vertices, setting, make, K, G, Y)
            F = left @ Y @ right.T
            yield f"TS, {name}", setting, partial(np.asarray, F), None, retrain
