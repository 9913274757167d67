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


def run(spec, data, rng):
    """One row for each of ``solvers`` and its ``sizes`` (m = q).

    ``seconds`` is the fit with its kernels and factors, ``predict_seconds`` the prediction of
    ``test_pairs`` pairs between fresh vertices, ``peak_mib`` the largest resident set of the
    process, its data included. ``products`` is ``seconds`` in units of ``product_seconds``, those
    of one product with the training matrix by the same method: what is not spent in products
    shows, on any machine.
    """
    context = multiprocessing.get_context("spawn")
    rows = []
    for name, entry in spec["solvers"].items():
        for m in spec["sizes"][name]:
            with context.Pool(1) as pool:
                rows.append(pool.apply(_measure, (name, entry, m, spec)))
    return pd.DataFrame(rows)


def _measure(name, entry, m, spec):
    pairs, y = checkerboard(m, generator(spec["seed"], "train", m))
    # Compiled code is loaded before the clock starts.
    small, labels = checkerboard(40, generator(spec["seed"], "warm-up"))
    make_solver(entry["solver"], **entry["parameters"]).fit(small, labels)
    model = make_solver(entry["solver"], **entry["parameters"])
    _, timing = measure(lambda: model.fit(pairs, y))
    peak = peak_mib()
    side = max(m, int(np.ceil(np.sqrt(4 * spec["test_pairs"]))))
    test, y_test = checkerboard(
        side, generator(spec["seed"], "test", m), fraction=spec["test_pairs"] / side**2
    )
    with Stopwatch() as prediction:
        scores = model.decision_function(test)
    operator = model.prediction_operator(pairs)
    v = np.where(y > 0, 1.0, -1.0)
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
