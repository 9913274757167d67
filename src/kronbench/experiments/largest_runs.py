"""Seconds, memory and AUC of KronSVM end to end on checkerboards, each in a process of its own."""

from __future__ import annotations

import multiprocessing

import numpy as np
import pandas as pd

from kronbench.bench.clock import Stopwatch, measure, peak_mib
from kronbench.bench.seeds import generator
from kronbench.bench.solvers import make_solver
from kronbench.datasets.checkerboard import checkerboard
from kronbench.evaluation import roc_auc
from kronbench.pairs import PairData


def run(spec, data, rng):
    """One row for each of ``solvers`` and its ``sizes`` (m = q), none where it has none.

    ``seconds`` is the fit with its kernels and factors, ``predict_seconds`` the prediction of
    ``test_pairs`` pairs between fresh vertices, ``peak_mib`` the largest resident set of the
    process, its data included. ``products`` is ``seconds`` in units of ``product_seconds``, those
    of one product with the training matrix by the same method: what is not spent in products
    shows, on any machine. A solver with ``dtype`` gets features and labels of that precision.
    """
    context = multiprocessing.get_context("spawn")
    rows = []
    for name, entry in spec["solvers"].items():
        for m in spec["sizes"].get(name, ()):
            with context.Pool(1) as pool:
                rows.append(pool.apply(_measure, (name, entry, m, spec)))
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
    operator.matvec(v)
    _, product = measure(lambda: operator.matvec(v))
    return {
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
        "peak_mib": peak,
    }


def _board(dtype, m, rng, **options):
    """A checkerboard with features and labels of one precision."""
    pairs, y = checkerboard(m, rng, **options)
    features = (
        side.astype(dtype, copy=False) for side in (pairs.row_features, pairs.col_features)
    )
    return PairData(*features, pairs.rows, pairs.cols), y.astype(dtype, copy=False)
