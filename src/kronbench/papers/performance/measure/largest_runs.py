"""The largest fits and low-rank factors: seconds and memory, a process for each size."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numba
import numpy as np
import pandas as pd
import psutil
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline

from kronbench.datasets import Dataset
from kronbench.datasets.checkerboard import checkerboard
from kronbench.datasets.fingerprints import FingerprintRecipe
from kronbench.evaluation import roc_auc
from kronbench.linalg import KernelColumns, csi, incomplete_cholesky
from kronbench.models import KronRidge, VertexNystroem
from kronbench.pairs import PairData
from kronbench.runner.clock import Stopwatch, in_turn, measure, peak_mib
from kronbench.runner.columns import TIMING, Columns, Parameter
from kronbench.runner.processes import one_process
from kronbench.runner.seeds import generator
from kronbench.runner.solvers import make_solver

# Seconds after which a decomposition is not repeated: at a million points incomplete Cholesky has
# a second call, since the first of all also waits for the memory that the machine gives it.
_PATIENCE = 8.0

COLUMNS = TIMING | Columns(
    key=("task", "solver", "n"),
    clock=("product_seconds", "predict_seconds"),
    ratios_of_clock=("products", "ratio"),
    counts=("m", "q", "rank", "columns", "predict_pairs"),
    numbers=("auc", "objective", "r2", "trace_error"),
    conditions=("peak_bytes",),
    values={
        "task": ("KronSVM", "factor", "fingerprints"),
        "solver": (
            Parameter(("solvers",)),
            "incomplete Cholesky",
            "CSI",
            "KronRidge on landmarks",
        ),
    },
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """Rows of three kinds, told apart by ``task``, each with its ``solver``.

    "KronSVM": one row for each of ``solvers`` and its ``sizes`` (m = q), none where it has none.
    ``seconds`` is the fit with its kernels and factors, ``predict_seconds`` the prediction of
    ``test_pairs`` pairs between fresh vertices, ``peak_mib`` the largest resident set of the
    process, its data included. ``products`` is ``seconds`` in units of ``product_seconds``, those
    of one product with the training matrix by the same method (of the primal form, with X and X'
    together): what is not spent in products shows, on any machine. ``objective`` is the
    regularized risk in the end, none of a solver that regularizes by its steps. A solver with
    ``dtype`` gets features and labels of that precision.

    "factor": two rows for each of ``factor_sizes`` (n), incomplete Cholesky and CSI of one rank in
    turn, with the Gaussian kernel of uniform features and its columns on demand (Bach & Jordan
    2005, section 5.3). ``columns`` counts those that G has room for, ``ratio`` is over the seconds
    of incomplete Cholesky, ``peak_mib`` is read after the first call, and ``peak_bytes`` is what
    of it was not there before, for each of the n ``columns`` numbers of G, which take 8.

    "fingerprints": a row for each size of ``fingerprints``, n affinities of m compounds with q
    targets by :class:`kronbench.datasets.fingerprints.FingerprintRecipe`. ``seconds`` is the fit
    of ridge regression with the Tanimoto kernel of the compounds to ``rank`` landmarks, these and
    the features of all compounds included; ``predict_seconds`` that of as many pairs of as many
    new compounds, from their fingerprints on. ``r2`` is the share of the variance of those pairs'
    affinities that is predicted, ``trace_error`` what the landmarks miss of the kernel's trace.
    """
    rows = []
    for name, entry in spec["solvers"].items():
        for m in spec["sizes"].get(name, ()):
            with one_process(__name__) as pool:
                rows.append(pool.apply(_measure, (name, entry, m, spec)))
    threads = numba.get_num_threads()
    for n in spec["factor_sizes"]:
        with one_process(__name__, initializer=numba.set_num_threads, initargs=(threads,)) as pool:
            rows += pool.apply(_measure_factors, (n, spec["factors"], spec["seed"]))
    for size in spec["fingerprints"]["sizes"]:
        with one_process(__name__, initializer=numba.set_num_threads, initargs=(threads,)) as pool:
            rows.append(pool.apply(_measure_fingerprints, (size, spec)))
    return pd.DataFrame(rows)


def _measure(name, entry, m, spec):
    dtype = np.dtype(entry.get("dtype", "float64"))
    pairs, y = _board(dtype, m, generator(spec["seed"], "train", m))
    # Compiled code is loaded before the clock starts.
    small, labels = _board(dtype, 40, generator(spec["seed"], "warm-up"))
    make_solver(entry["solver"], **entry["parameters"]).fit(small, labels)
    model = make_solver(entry["solver"], **entry["parameters"])
    _, timing = measure(lambda: model.fit(pairs, y))
    peak = peak_mib()
    side = max(m, int(np.ceil(np.sqrt(4 * spec["test_pairs"]))))
    share = spec["test_pairs"] / side**2
    test, y_test = _board(dtype, side, generator(spec["seed"], "test", m), fraction=share)
    with Stopwatch() as prediction:
        scores = model.decision_function(test)
    operator = model.prediction_operator(pairs)
    v = np.where(y > 0, 1.0, -1.0).astype(dtype)
    multiply = _gram_product(operator) if model.form == "primal" else operator.matvec
    multiply(v)
    _, product = measure(lambda: multiply(v))
    return {
        "task": "KronSVM",
        "solver": name,
        "m": m,
        "n": len(pairs),
        **timing.columns(),
        "busy": timing.busy or product.busy,
        "product_seconds": product.seconds,
        "products": timing.seconds / product.seconds,
        "predict_pairs": len(test),
        "predict_seconds": prediction.seconds,
        "auc": roc_auc(y_test, scores),
        "objective": np.nan if model.iterated else model.objective_path_[-1],
        "peak_mib": peak,
    }


def _gram_product(design):
    """Of the pairs' kernel matrix X X' = Q, which the dual form has in one."""
    return lambda v: design.matvec(design.rmatvec(v))


def _board(dtype, m, rng, **options):
    """A checkerboard with features and labels of one precision."""
    pairs, y = checkerboard(m, rng, **options)
    features = (
        side.astype(dtype, copy=False) for side in (pairs.row_features, pairs.col_features)
    )
    return PairData(*features, pairs.rows, pairs.cols), y.astype(dtype, copy=False)


def _measure_factors(n, spec, seed):
    rank, lookahead = spec["rank"], spec["lookahead"]
    columns = {"incomplete Cholesky": rank, "CSI": rank + lookahead}
    # Compiled code is loaded before the clock starts.
    for decompose in _decompositions(*_points(300, spec, seed), spec).values():
        decompose()
    kernel, targets = _points(n, spec, seed)
    before, peaks = psutil.Process().memory_info().rss / 2**20, {}

    def decomposed(name, decompose):
        reached = decompose().rank
        # A peak is never taken back: the smaller factor comes first.
        peaks.setdefault(name, peak_mib())
        return reached

    ways = _decompositions(kernel, targets, spec)
    calls = {name: partial(decomposed, name, decompose) for name, decompose in ways.items()}
    found = in_turn(calls, patience=_PATIENCE)
    plain = found["incomplete Cholesky"][1]
    return [
        {
            "task": "factor",
            "solver": name,
            "n": n,
            "rank": reached,
            "columns": columns[name],
            **timing.columns(),
            "busy": timing.busy or plain.busy,
            "ratio": timing.seconds / plain.seconds,
            "peak_mib": peaks[name],
            "peak_bytes": (peaks[name] - before) * 2**20 / (n * columns[name]),
        }
        for name, (reached, timing) in found.items()
    ]


def _measure_fingerprints(size, spec):
    entry, seed = spec["fingerprints"], spec["seed"]
    n, m = size["pairs"], size["compounds"]
    recipe = FingerprintRecipe(
        size["series"], size["targets"], generator(seed, "series and targets", m)
    )
    # Compiled code is loaded before the clock starts.
    small, labels = recipe.pairs(400, 1000, generator(seed, "warm-up"))
    _on_landmarks(entry, 20).fit(small, labels).predict(small)
    pairs, y = recipe.pairs(m, n, generator(seed, "train", m))
    test, y_test = recipe.pairs(m, n, generator(seed, "test", m))
    model = _on_landmarks(entry, entry["rank"])
    _, timing = measure(lambda: model.fit(pairs, y))
    with Stopwatch() as prediction:
        predicted = model.predict(test)
    nystroem = model[0]
    return {
        "task": "fingerprints",
        "solver": "KronRidge on landmarks",
        "m": m,
        "q": size["targets"],
        "n": n,
        **timing.columns(),
        "busy": timing.busy or prediction.timing().busy,
        "rank": nystroem.row_landmarks_.shape[0],
        "trace_error": nystroem.row_trace_error_,
        "predict_pairs": n,
        "predict_seconds": prediction.seconds,
        "r2": r2_score(y_test, predicted),
        "peak_mib": peak_mib(),
    }


def _on_landmarks(entry, rank):
    landmarks = VertexNystroem(
        row_kernel="tanimoto", row_rank=rank, dtype="float32", random_state=0
    )
    return make_pipeline(
        landmarks,
        KronRidge(form="primal", dtype="float32", solver="minres", **entry["parameters"]),
    )


def _points(n, spec, seed):
    rng = generator(seed, "points", n)
    X = rng.random((n, spec["features"]))
    targets = np.sin(2 * np.pi * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(n)
    return KernelColumns(X, "gaussian", spec["gamma"]), targets


def _decompositions(kernel, targets, spec):
    """The smaller factor first; no tolerance ends them before the rank."""
    rank, lookahead = spec["rank"], spec["lookahead"]
    return {
        "incomplete Cholesky": partial(incomplete_cholesky, kernel, rank, 0.0),
        "CSI": partial(csi, kernel, targets, rank, lookahead=lookahead, tol=0.0),
    }
