"""Time and memory of an iteration against the number of compounds, a process for each point.

Parameters
----------
methods : numbers of compounds, by "bits", "dense" or "SMURFF"
proteins : number of proteins
bits : number of bits of a fingerprint
bits_set : bits of a compound that are set, at most
features : features of a protein
pairs : pairs for each compound
test_pairs : number of test pairs
latents : latent dimensions of SMURFF
reg : regularization weight
max_iter : iterations of a fit
"""

import numba
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.metrics import r2_score
from threadpoolctl import threadpool_limits

from kronbench.models import KronRidge
from kronbench.pairs import PairData
from kronbench.solvers import import_solver, installed
from kronbench_suite.runner.clock import Stopwatch, measure, peak_mib
from kronbench_suite.runner.columns import TIMING, Columns
from kronbench_suite.runner.processes import fresh_process
from kronbench_suite.runner.seeds import generator

_SMURFF = "smurff.MacauSession"
_OURS = "kronbench.models.KronRidge"

# Seconds after which an iteration is not repeated.
_PATIENCE = 20.0

COLUMNS = TIMING | Columns(
    key=("method", "compounds"),
    clock=("setup_seconds", "fit_seconds", "additions_seconds"),
    ratios_of_clock=("times_additions",),
)


def run(spec, data, rng):
    """One row for each of ``methods`` and its numbers of compounds.

    Compounds have sparse bits, most of them those of a series; proteins have Gaussian features,
    and a label is bilinear in both, with noise. "bits" is KronRidge in the primal form on the
    sparse matrix, "dense" the same on a dense one, both in single precision; ``seconds`` are those
    of a product X'X v, ``setup_seconds`` those before the first. ``additions_seconds`` are those
    of one addition for each bit of each pair and product, at the rate of sums by numpy. "SMURFF"
    is Macau with both sides as side information (solved directly, which is faster here than its
    conjugate gradients); ``seconds`` are those of a step of its sampler.
    """
    solvers = {name: _SMURFF if name == "SMURFF" else _OURS for name in spec["methods"]}
    methods, skipped = installed({name: {"solver": path} for name, path in solvers.items()})
    rows = []
    for method in methods:
        measured = _measure_sampler if method == "SMURFF" else _measure_ridge
        for n in spec["methods"][method]:
            with fresh_process(__name__, initializer=_one_thread) as pool:
                row = pool.apply(measured, (spec, n, method))
            rows.append({"method": method, "compounds": n} | row)
    frame = pd.DataFrame(rows)
    frame.attrs["skipped"] = skipped
    return frame


def _one_thread():
    numba.set_num_threads(1)
    threadpool_limits(1)


def _problem(spec, n):
    """Sparse bits (n, b), features (q, r), pairs as rows and columns, and their labels."""
    rng = generator(spec["seed"], "compounds", n)
    series = rng.integers(spec["bits"], size=(max(10, n // 100), 4 * spec["bits_set"] // 5))
    own = rng.integers(spec["bits"], size=(n, spec["bits_set"] - series.shape[1]))
    places = np.hstack([series[rng.integers(len(series), size=n)], own]).astype(np.int32)
    ends = np.arange(0, places.size + 1, spec["bits_set"], dtype=np.int32)
    ones = np.ones(places.size, np.float32)
    bits = sparse.csr_array((ones, places.ravel(), ends), shape=(n, spec["bits"]))
    bits.sum_duplicates()
    bits.data[:] = 1
    features = rng.standard_normal((spec["proteins"], spec["features"]), dtype=np.float32)
    size = round(n * spec["pairs"]) + spec["test_pairs"]
    cells = rng.permutation(np.unique(rng.integers(n * spec["proteins"], size=size)))
    rows, cols = np.divmod(cells, spec["proteins"])
    weights = rng.standard_normal((spec["bits"], 8), dtype=np.float32) / 7
    labels = ((bits @ weights)[rows] * features[cols, :8]).sum(axis=1) / 3
    labels += 0.5 * rng.standard_normal(len(rows), dtype=np.float32)
    return bits, features, rows, cols, labels


def _measure_ridge(spec, n, method):
    bits, features, rows, cols, labels = _problem(spec, n)
    X = PairData(bits.toarray() if method == "dense" else bits, features, rows, cols)
    test, train = np.split(np.arange(len(X)), [spec["test_pairs"]])
    y, X_train = labels[train], X[train]
    model = KronRidge(
        form="primal",
        solver="minres",
        reg=spec["reg"],
        max_iter=spec["max_iter"],
        fit_intercept=True,
        dtype="float32",
    )
    model.fit(X[train[:500]], y[:500])  # compiled code is loaded before the clock starts
    with Stopwatch() as setup:
        operator = model.prediction_operator(X_train)
        v = operator.rmatvec(y)
    _, timing = measure(lambda: operator.rmatvec(operator.matvec(v)), max_seconds=_PATIENCE)
    operator = None  # the fit makes its own
    _, fit = measure(lambda: model.fit(X_train, y), max_seconds=0)
    peak, numbers = peak_mib(), np.ones(1 << 14, np.float32)
    _, sums = measure(lambda: [numbers.sum() for _ in range(1000)])
    entries = int(np.diff(bits.indptr)[rows[train]].sum())
    additions = 2 * entries * sums.seconds / (1000 * numbers.size)
    row = {"n": len(train), **timing.columns(), "setup_seconds": setup.seconds}
    row |= {"fit_seconds": fit.seconds, "additions_seconds": additions, "peak_mib": peak}
    row |= {"times_additions": timing.seconds / additions, "busy": timing.busy or fit.busy}
    return row | {"r2": r2_score(labels[test], model.predict(X[test]))}


def _measure_sampler(spec, n, method):
    bits, features, rows, cols, labels = _problem(spec, n)
    train = slice(spec["test_pairs"], None)
    cells = labels[train].astype(float), (rows[train], cols[train])
    with Stopwatch() as setup:
        session = import_solver(_SMURFF)(
            Ytrain=sparse.coo_matrix(cells, (n, spec["proteins"])),
            is_scarce=True,
            side_info=[sparse.csr_matrix(side, dtype=float) for side in (bits, features)],
            direct=True,
            num_latent=spec["latents"],
            burnin=1,
            nsamples=100,
            verbose=0,
            num_threads=1,
            seed=1,
        )
        session.init()
        session.step()
    _, timing = measure(session.step, max_seconds=_PATIENCE)
    row = {"n": len(cells[0]), **timing.columns(), "setup_seconds": setup.seconds}
    return row | {"peak_mib": peak_mib()}
