"""The largest fits and low-rank factors: seconds and memory, a process for each size.

Parameters
----------
solvers : import path and parameters of each solver
sizes : vertices on a side of the training checkerboard, by solver
test_pairs : number of test pairs
factor_sizes : numbers of points of low-rank factors
factors : features, gamma, rank and lookahead of these factors
"""

from functools import partial

import numba
import numpy as np
import pandas as pd
import psutil

from kronbench.datasets.generators import checkerboard
from kronbench.evaluation import roc_auc
from kronbench.linalg import KernelColumns, csi, incomplete_cholesky
from kronbench.pairs import PairData
from kronbench.solvers import make_solver, scores_of
from kronbench_suite.runner.clock import Stopwatch, measure, peak_mib, time_interleaved
from kronbench_suite.runner.columns import TIMING, Columns
from kronbench_suite.runner.processes import fresh_process
from kronbench_suite.runner.seeds import generator

# Seconds after which a decomposition is not repeated: at a million points incomplete Cholesky has
# a second call, since the first of all also waits for the memory that the machine gives it.
_PATIENCE = 8.0

COLUMNS = TIMING | Columns(
    key=("task", "solver", "n"),
    clock=("product_seconds", "predict_seconds"),
    ratios_of_clock=("products", "ratio"),
    conditions=("peak_bytes",),
)


def run(spec, data, rng):
    """Rows of two kinds, told apart by ``task``, each with its ``solver``.

    "KronSVM": a fit for each of ``solvers`` and its ``sizes`` (m = q), and the prediction of pairs
    between new vertices; ``products`` is ``seconds`` in units of a product with Q. "factor":
    incomplete Cholesky and CSI of one rank in turn, with kernel columns on demand (Bach & Jordan
    2005, section 5.3); ``peak_bytes`` is what of the peak was not there before, for each number of
    G.
    """
    rows = []
    for name, entry in spec["solvers"].items():
        for m in spec["sizes"].get(name, ()):
            with fresh_process(__name__) as pool:
                rows.append(pool.apply(_measure, (name, entry, m, spec)))
    threads = {"initializer": numba.set_num_threads, "initargs": (numba.get_num_threads(),)}
    for n in spec["factor_sizes"]:
        with fresh_process(__name__, **threads) as pool:
            rows += pool.apply(_measure_factors, (n, spec["factors"], spec["seed"]))
    return pd.DataFrame(rows)


def _measure(name, entry, m, spec):
    dtype = np.dtype(entry.get("dtype", "float64"))
    pairs, y = _board(dtype, m, generator(spec["seed"], "train", m))
    # Compiled code is loaded before the clock starts.
    small = _board(dtype, 40, generator(spec["seed"], "warm-up"))
    make_solver(entry["solver"], **entry["parameters"]).fit(*small)
    model = make_solver(entry["solver"], **entry["parameters"])
    _, timing = measure(lambda: model.fit(pairs, y))
    peak = peak_mib()
    side = max(m, int(np.ceil(np.sqrt(4 * spec["test_pairs"]))))
    share = spec["test_pairs"] / side**2
    test, y_test = _board(dtype, side, generator(spec["seed"], "test", m), fraction=share)
    with Stopwatch() as prediction:
        scores = scores_of(model, test)
    operator = model.prediction_operator(pairs)
    v = np.where(y > 0, 1.0, -1.0).astype(dtype)
    # With Q = X X', which the dual form has in one.
    primal = model.form == "primal"
    multiply = (lambda v: operator.matvec(operator.rmatvec(v))) if primal else operator.matvec
    multiply(v)
    _, product = measure(lambda: multiply(v))
    row = {"task": "KronSVM", "solver": name, "m": m, "n": len(pairs), "peak_mib": peak}
    row |= timing.columns() | {"busy": timing.busy or product.busy}
    row |= {"product_seconds": product.seconds, "products": timing.seconds / product.seconds}
    row |= {"predict_pairs": len(test), "predict_seconds": prediction.seconds}
    # steps of iterated regularization have no one objective
    objective = np.nan if model.iterated else model.objective_path_[-1]
    return row | {"auc": roc_auc(y_test, scores), "objective": objective}


def _board(dtype, m, rng, **options):
    """A checkerboard with features and labels of one precision."""
    pairs, y = checkerboard(m, rng, **options)
    sides = (pairs.row_features, pairs.col_features)
    features = (side.astype(dtype, copy=False) for side in sides)
    return PairData(*features, pairs.rows, pairs.cols), y.astype(dtype, copy=False)


def _measure_factors(n, factors, seed):
    rank, ahead = factors["rank"], factors["lookahead"]
    columns = {"incomplete Cholesky": rank, "CSI": rank + ahead}  # of G; the smaller comes first
    for size in (300, n):
        rng = generator(seed, "points", size)
        X = rng.random((size, factors["features"]))
        targets = np.sin(2 * np.pi * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(size)
        kernel = KernelColumns(X, "gaussian", factors["gamma"])
        # ways that no tolerance ends before their rank
        plain = partial(incomplete_cholesky, kernel, rank, 0.0)
        aided = partial(csi, kernel, targets, rank, lookahead=ahead, tol=0.0)
        if size < n:  # compiled code is loaded before the clock starts
            plain()
            aided()
    before, peaks = psutil.Process().memory_info().rss / 2**20, {}

    def decomposed(name, decompose):
        reached = decompose().rank
        peaks.setdefault(name, peak_mib())  # a peak is never taken back
        return reached

    ways = zip(columns, (plain, aided), strict=True)
    calls = {name: partial(decomposed, name, decompose) for name, decompose in ways}
    found = time_interleaved(calls, max_seconds=_PATIENCE)
    first = found["incomplete Cholesky"][1]
    rows = []
    for name, (reached, timing) in found.items():
        row = {"task": "factor", "solver": name, "n": n, "rank": reached}
        row |= {"columns": columns[name], **timing.columns()}
        row |= {"busy": timing.busy or first.busy, "peak_mib": peaks[name]}
        row["ratio"] = timing.seconds / first.seconds
        row["peak_bytes"] = (peaks[name] - before) * 2**20 / (n * columns[name])
        rows.append(row)
    return rows
