"""Leave-one-out shortcuts against retraining without what they leave out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd
from scipy.linalg import cho_factor, cho_solve
from tqdm import tqdm

from kronbench.datasets import Dataset
from kronbench.datasets.drug_target import kernels
from kronbench.models import CompleteKronRidge, IndependentRidge, TwoStepRidge
from kronbench.pairs.leave_one_out_by_retraining import retrained_kron_leave_one_out
from kronbench.pairs.spectral_filters import as_filter
from kronbench.runner.clock import in_turn
from kronbench.runner.columns import TIMING, Columns, Parameter

PRECOMPUTED = {"row_kernel": "precomputed", "col_kernel": "precomputed"}

# 1 - d(H) is known to about the number of vertices times the rounding error.
_FITTED = 1e-12

_PATIENCE = 1.0  # seconds after which retraining is long enough to be timed once

COLUMNS = TIMING | Columns(
    key=("model", "setting", "reg"),
    clock=("reusing_seconds", "retraining_seconds"),
    counts=("left_out", "retrained"),
    numbers=("deviation", "reusing_deviation"),
    values={
        "model": (
            *("IT", "KK", "TS"),
            *("TS, cutoff", "TS, iterated-tikhonov", "TS, landweber"),
        ),
        "setting": ("A", "B", "C", "D"),
        "reg": (Parameter(("regs",)),),
    },
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each model, setting and weight (Stock et al. 2016, table 5.1).

    ``left_out`` counts what is left out one at a time (pairs, rows or columns), ``retrained`` how
    many of these, drawn at random, a model is trained without: at most ``spec["retrainings"]``.
    ``deviation`` is the largest difference between shortcut and retraining, relative to the
    largest label. ``seconds`` is the time of the shortcut for all of them, from the kernel
    matrices; ``retraining_seconds`` that of retraining all, extrapolated from those that were
    made; ``reusing_seconds`` that of leaving out all one after the other in dense linear algebra
    that factorizes nothing twice, whose results differ by ``reusing_deviation``. The three ways
    take turns; ``waiting`` is that of the most disturbed.

    Two-step regression with another spectral filter on both sides has rows of its own, without
    times: the formulas of Corollaries 3 to 5 with its hat matrices, against retraining with it;
    ``retrained`` are those of the draw where the formula is defined, see ``_filter_cases``.
    """
    K, G, Y = kernels(data)
    largest = np.abs(Y).max()
    rows = []
    for reg in tqdm(spec["regs"], desc=data.name, unit="weight"):
        for name, setting, shortcut, reusing, retrain in _cases(K, G, Y, reg):
            shortcut()  # loads compiled code
            places = _places(setting, Y.shape)
            kept = places[rng.permutation(len(places))[: spec["retrainings"]]]
            ways = in_turn(
                {
                    "shortcut": shortcut,
                    "reusing": reusing,
                    "retraining": partial(_all_retrained, retrain, kept),
                },
                patience=_PATIENCE,
            )
            F, timing = ways["shortcut"]
            reused, reusing_timing = ways["reusing"]
            retrained, retraining_timing = ways["retraining"]
            rows.append(
                {
                    "model": name,
                    "setting": setting,
                    "reg": reg,
                    "left_out": len(places),
                    "retrained": len(kept),
                    "deviation": _deviation(F, setting, kept, retrained) / largest,
                    "reusing_deviation": np.abs(reused - F).max() / largest,
                    **timing.columns(),
                    "reusing_seconds": reusing_timing.seconds,
                    "retraining_seconds": retraining_timing.seconds * len(places) / len(kept),
                    "waiting": max(each.waiting for _, each in ways.values()),
                    "busy": any(each.busy for _, each in ways.values()),
                }
            )
        for name, setting, F, retrain in _filter_cases(K, G, Y, reg):
            places = _places(setting, Y.shape)
            drawn = places[rng.permutation(len(places))[: spec["retrainings"]]]
            kept = [p for p in drawn if np.isfinite(_predicted(F, setting, *p)).all()]
            if not kept:
                continue
            deviation = _deviation(F, setting, kept, _all_retrained(retrain, kept))
            rows.append(
                {
                    "model": name,
                    "setting": setting,
                    "reg": reg,
                    "left_out": len(places),
                    "retrained": len(kept),
                    "deviation": deviation / largest,
                    "waiting": 0.0,
                    "busy": False,
                }
            )
    return pd.DataFrame(rows)


def _deviation(F, setting, places, retrained):
    """Largest difference between predictions (m, q) and those of the models trained anew."""
    return max(
        np.abs(predicted - _predicted(F, setting, i, j)).max()
        for (i, j), predicted in zip(places, retrained, strict=True)
    )


def _all_retrained(retrain, places):
    return [retrain(i, j) for i, j in places]


def _predicted(F, setting, i, j):
    return {"A": F[i, j], "B": F[i], "C": F[:, j], "D": F[i, j]}[setting]


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
    """Yield (model, setting, shortcut, reusing, retrain), table 5.1 and three rows more."""

    def independent():
        return IndependentRidge(reg=reg, row_kernel="precomputed")

    def independent_row(i, j):
        keep = np.delete(np.arange(len(K)), i)
        model = independent().fit_matrix(K[np.ix_(keep, keep)], None, Y[keep])
        return model.predict_matrix(K[i : i + 1, keep])[0]

    yield (
        "IT",
        "B",
        lambda: independent().fit_matrix(K, None, Y).loo("B"),
        lambda: _held_out_smoother(K, reg) @ Y,
        independent_row,
    )
    makers = {
        "KK": lambda: CompleteKronRidge(reg=reg, **PRECOMPUTED),
        "TS": lambda: TwoStepRidge(reg_rows=reg, reg_cols=reg, **PRECOMPUTED),
    }
    pairwise = {
        "KK": (np.kron(K, G), reg),
        "TS": (_two_step_pair_kernel(K, G, reg), 1.0),
    }
    for name, make in makers.items():
        for setting in "ABCD":
            if setting == "A":
                retrain = _without_pair(*pairwise[name], Y)
                reusing = partial(_from_one_inverse, *pairwise[name], Y)
            else:
                retrain = _without_vertices(setting, make, K, G, Y)
                reusing = partial(_REUSING[name], setting, K, G, Y, reg)
            yield name, setting, _shortcut(setting, make, K, G, Y), reusing, retrain


def _filter_cases(K, G, Y, reg):
    """Yield (model, setting, values of the formula, retrain) for filters that are not ridge.

    A filter that fits a vertex whatever its label is has d(H) = 1 there, and the formula is 0 / 0:
    NaN, also where rounding would make a number of it.
    """
    for name in ("cutoff", "iterated-tikhonov", "landweber"):
        H_k, H_g = (_filtered(kernel, name, reg) for kernel in (K, G))
        held_out = [
            _without_diagonal(H)
            / np.where(1 - np.diag(H) > _FITTED, 1 - np.diag(H), np.nan)[:, None]
            for H in (H_k, H_g)
        ]
        make = partial(
            TwoStepRidge,
            reg_rows=reg,
            reg_cols=reg,
            row_filter=name,
            col_filter=name,
            **PRECOMPUTED,
        )
        for setting in "BCD":
            left = H_k if setting == "C" else held_out[0]
            right = H_g if setting == "B" else held_out[1]
            retrain = _without_vertices(setting, make, K, G, Y)
            yield f"TS, {name}", setting, left @ Y @ right.T, retrain


def _filtered(kernel, name, reg):
    """The hat matrix of a spectral filter."""
    values, vectors = np.linalg.eigh(kernel)
    values = np.maximum(values, 0.0)
    return (vectors * (values * as_filter(name)(values, reg))) @ vectors.T


def _without_diagonal(matrix):
    return matrix - np.diag(np.diag(matrix))


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


def _from_one_inverse(kernel, reg, Y):
    """Setting A from one factorization of the system of all pairs, O(m^3 q^3)."""
    system = kernel + reg * np.eye(len(kernel))
    inverse = cho_solve(cho_factor(system), np.eye(len(kernel)))
    return Y - (inverse @ Y.ravel() / np.diag(inverse)).reshape(Y.shape)


def _kron_reusing(setting, K, G, Y, reg):
    """Eigenpairs of each kernel without each vertex, once each; those of the other shared."""
    return retrained_kron_leave_one_out(setting, K, G, Y, [reg], reuse=True)[0]


def _two_step_reusing(setting, K, G, Y, reg):
    """A Cholesky factor of each side without each vertex, or one of it with all."""
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


_REUSING = {"KK": _kron_reusing, "TS": _two_step_reusing}
