"""What an eigendecomposition of both kernels costs, and what follows from it at every weight."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
import pandas as pd

from kronbench.datasets import Dataset
from kronbench.datasets.drug_target import kernels
from kronbench.linalg.eigen import Spectrum, kernel_spectrum
from kronbench.models import CompleteKronRidge, IndependentRidge, KronRidge, TwoStepRidge
from kronbench.pairs import PairData
from kronbench.pairs.leave_one_out import two_step_leave_one_out
from kronbench.runner.clock import in_turn
from kronbench.runner.columns import TIMING, Columns, Parameter

PRECOMPUTED = {"row_kernel": "precomputed", "col_kernel": "precomputed"}

_PATIENCE = 1.0  # seconds after which a piece of work is long enough to be timed once

COLUMNS = TIMING | Columns(
    key=("step", "method", "setting", "reg"),
    counts=("points", "iterations"),
    numbers=("deviation", "reached"),
    values={
        "step": ("decompositions", "another weight", "grid", "closed form", "iterative"),
        "method": ("IT", "KK", "TS"),
        "setting": ("A", "B", "C", "D"),
        "reg": (Parameter(("regs",)),),
    },
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each step, method, setting and weight (Stock et al. 2016, sections 3 and 5.1).

    - decompositions: the eigenpairs of both kernel matrices.
    - another weight: with these at hand, the dual coefficients for weights of 1; ``deviation`` is
      the largest difference from those of a model trained anew, relative to the largest.
    - grid: with these at hand, all leave-one-out predictions of two-step regression for the
      ``points`` of the ``grid`` of both weights, in each setting.
    - closed form: Kronecker ridge regression on all pairs from the kernel matrices, for each of
      ``regs``.
    - iterative: the same by MINRES on the pairs of which a share ``missing`` lacks, until the
      residual has fallen by ``tol``: ``reached`` in ``iterations``, of ``max_iter`` at most.
    """
    K, G, Y = kernels(data)
    ways = {("decompositions",): lambda: (kernel_spectrum(K), kernel_spectrum(G))}
    rows, cols = ways["decompositions",]()
    grid = np.asarray(spec["grid"], dtype=float)
    expected = {}
    for method, solve, model in _at_another_weight(rows, cols, Y):
        ways["another weight", method] = solve
        given = (K, None, Y) if method == "IT" else (K, G, Y)
        expected["another weight", method] = model.fit_matrix(*given).dual_coef_
    for setting in "ABCD":
        points = partial(two_step_leave_one_out, setting, rows, cols, Y, grid, grid)
        ways["grid", "TS", setting] = partial(_exhaust, points)
    pairs, y = _incomplete(K, G, Y, spec["missing"], rng)
    for reg in spec["regs"]:
        closed = CompleteKronRidge(reg=reg, **PRECOMPUTED)
        ways["closed form", "KK", "", reg] = partial(closed.fit_matrix, K, G, Y)
        # nearly complete pairs are a dense matrix: two BLAS products are the fastest way
        iterative = KronRidge(
            reg=reg,
            solver="minres",
            max_iter=spec["max_iter"],
            tol=spec["tol"],
            product="dense",
            **PRECOMPUTED,
        )
        ways["iterative", "KK", "", reg] = partial(iterative.fit, pairs, y)
    for warm in (ways["another weight", "KK"], partial(_warm, pairs, y)):
        warm()
    found = []
    for names, (result, timing) in in_turn(ways, patience=_PATIENCE).items():
        row = {
            key: name
            for key, name in zip(("step", "method", "setting", "reg"), names, strict=False)
            if name != ""
        }
        if names in expected:
            row["deviation"] = _deviation(result, expected[names])
        elif names[0] == "grid":
            row["points"] = len(grid) ** 2
        elif names[0] == "iterative":
            row |= {"iterations": result.n_iter_, "reached": _residual(result, pairs, y)}
        found.append(row | timing.columns())
    return pd.DataFrame(found)


def _at_another_weight(
    rows: Spectrum, cols: Spectrum, Y: np.ndarray
) -> Iterator[tuple[str, Callable[[], np.ndarray], object]]:
    """Yield (method, dual coefficients from the eigenpairs, the model that they are of)."""
    x, s = rows.values[:, None], cols.values
    half = rows.coordinates(Y)
    coordinates = half @ cols.vectors

    def both(weights):
        return rows.vectors @ (coordinates / weights) @ cols.vectors.T

    yield (
        "IT",
        lambda: rows.vectors @ (half / (x + 1.0)),
        IndependentRidge(reg=1.0, row_kernel="precomputed"),
    )
    yield "KK", lambda: both(x * s + 1.0), CompleteKronRidge(reg=1.0, **PRECOMPUTED)
    yield (
        "TS",
        lambda: both((x + 1.0) * (s + 1.0)),
        TwoStepRidge(reg_rows=1.0, reg_cols=1.0, **PRECOMPUTED),
    )


def _exhaust(points):
    for _ in points():
        pass


def _incomplete(K, G, Y, missing, rng):
    """All pairs but a random share, and their labels."""
    kept = np.sort(rng.permutation(Y.size)[round(missing * Y.size) :])
    i, j = np.divmod(kept, Y.shape[1])
    return PairData(K, G, i, j), Y[i, j]


def _warm(pairs, y):
    KronRidge(solver="minres", max_iter=2, product="dense", **PRECOMPUTED).fit(pairs, y)


def _deviation(one, other):
    return np.abs(one - other).max() / np.abs(other).max()


def _residual(model, pairs, y):
    """The residual of the system, relative to the labels."""
    left = model.predict(pairs) + model.reg * model.dual_coef_
    return np.linalg.norm(left - y) / np.linalg.norm(y)
