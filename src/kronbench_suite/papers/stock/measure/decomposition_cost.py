"""What an eigendecomposition of both kernels costs, and what follows from it at every weight.

Parameters
----------
grid : regularization weights of the grid
regs : weights of the fits without a shortcut
missing : share of the labels that are left out
tol : tolerance of MINRES
max_iter : its most iterations
"""

from collections import deque
from functools import partial

import numpy as np
import pandas as pd

from kronbench.datasets.drug_target import kernels
from kronbench.linalg.eigen import kernel_spectrum
from kronbench.models import CompleteKronRidge, KronRidge
from kronbench.pairs import PairData
from kronbench.pairs.leave_one_out import two_step_leave_one_out
from kronbench_suite.papers.stock.measure.kernels import PRECOMPUTED
from kronbench_suite.runner.clock import time_interleaved
from kronbench_suite.runner.columns import TIMING, Columns

_PATIENCE = 1.0  # seconds after which a piece of work is long enough to be timed once

COLUMNS = TIMING | Columns(
    key=("step", "method", "setting", "reg"),
)


def run(spec, data, rng):
    """One row for each step, method, setting and weight (Stock et al. 2016, sections 3 and 5.1).

    From the eigenpairs: the dual coefficients for weights of 1 ("another weight") and all left-out
    predictions ("grid"). From the kernel matrices: Kronecker regression, "closed form" on all
    pairs, "iterative" by MINRES without some.
    """
    K, G, Y = kernels(data)
    ways = {("decompositions",): lambda: (kernel_spectrum(K), kernel_spectrum(G))}
    # Section 5.1: from the eigenpairs, coefficients at another weight, and left-out predictions.
    rows, cols = ways["decompositions",]()
    grid = np.asarray(spec["grid"], dtype=float)
    for method, solve in at_another_weight(rows, cols, Y).items():
        ways["another weight", method] = solve
    for setting in "ABCD":
        points = partial(two_step_leave_one_out, setting, rows, cols, Y, grid, grid)
        ways["grid", "TS", setting] = lambda points=points: deque(points(), maxlen=0)
    # Without some of the pairs there is no closed form: the pairs that are left.
    kept = np.sort(rng.permutation(Y.size)[round(spec["missing"] * Y.size) :])
    i, j = np.divmod(kept, Y.shape[1])
    pairs, y = PairData(K, G, i, j), Y[i, j]
    # Nearly complete pairs are a dense matrix: two BLAS products are the fastest way.
    minres = {"solver": "minres", "product": "dense", "tol": spec["tol"], **PRECOMPUTED}
    for reg in spec["regs"]:
        closed = CompleteKronRidge(reg=reg, **PRECOMPUTED)
        iterative = KronRidge(reg=reg, max_iter=spec["max_iter"], **minres)
        ways["closed form", "KK", "", reg] = partial(closed.fit_matrix, K, G, Y)
        ways["iterative", "KK", "", reg] = partial(iterative.fit, pairs, y)
    KronRidge(max_iter=2, **minres).fit(pairs, y)  # loads compiled code
    rows_of_work = []
    for names, (result, timing) in time_interleaved(ways, max_seconds=_PATIENCE).items():
        named = zip(("step", "method", "setting", "reg"), names, strict=False)
        row = {key: name for key, name in named if name != ""}
        if names[0] == "grid":
            row["points"] = len(grid) ** 2
        elif names[0] == "iterative":
            left = result.predict(pairs) + result.reg * result.dual_coef_
            reached = np.linalg.norm(left - y) / np.linalg.norm(y)
            row |= {"iterations": result.n_iter_, "reached": reached}
        rows_of_work.append(row | timing.columns())
    return pd.DataFrame(rows_of_work)


def at_another_weight(rows, cols, Y):
    """What computes the dual coefficients of each method from the eigenpairs, for weights of 1."""
    x, s = rows.values[:, None], cols.values
    half = rows.coordinates(Y)
    coordinates = half @ cols.vectors

    def both(weights):
        return rows.vectors @ (coordinates / weights) @ cols.vectors.T

    return {
        "IT": lambda: rows.vectors @ (half / (x + 1.0)),
        "KK": lambda: both(x * s + 1.0),
        "TS": lambda: both((x + 1.0) * (s + 1.0)),
    }
