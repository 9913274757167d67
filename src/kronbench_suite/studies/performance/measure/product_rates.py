"""Seconds, rate and memory of the sampled Kronecker product, a process for each method.

Parameters
----------
methods : vertices on a side, by method of multiplication
fraction : share of the cells that are pairs
order : order of a matrix product
dtypes : precisions
threads : numbers of threads
"""

import itertools
from functools import partial
from importlib.metadata import version

import numpy as np
import pandas as pd
from scipy import sparse

from kronbench.linalg import gram
from kronbench.pairs import SampledKroneckerOperator
from kronbench.solvers import import_solver, installed
from kronbench_suite.runner.clock import Stopwatch, measure, peak_mib, time_interleaved
from kronbench_suite.runner.columns import TIMING, Columns
from kronbench_suite.runner.processes import fresh_process

# The loops are chosen on import.
_ENVIRONMENTS = {"plain numba": {"KRONBENCH_PLAIN": "1"}}

_VEC_TRICK = "rlscore.utilities.sampled_kronecker_products.sampled_vec_trick"
_OURS = "kronbench.pairs.SampledKroneckerOperator"

COLUMNS = TIMING | Columns(
    key=("method", "m", "dtype", "threads"),
    clock=("setup_seconds", "gflops"),
    ratios_of_clock=("blas_share", "speed_up"),
    conditions=("chosen",),
    rounding=("deviation",),
)


def run(spec, data, rng):
    """One row for each of ``methods``, its sizes (m = q), ``dtypes`` and ``threads``.

    A product R (G kron K) R' v with n = ``fraction`` m^2 random pairs and Gaussian kernels of one
    uniform feature, or of two square matrices by BLAS. A process for each point, because threads
    of BLAS and numba that wait for each other would be measured. ``gflops`` counts the operations
    of the sparse method for every other; ``deviation`` is that of some outputs from sums over all
    coefficients; ``blas_share`` is over a matrix product of ``order``, in turn with it.
    """
    # It is imported here, since tqdm makes a lock at import, which copied processes must not have.
    from tqdm import tqdm

    solvers = {name: _VEC_TRICK if name == "RLScore" else _OURS for name in spec["methods"]}
    methods, skipped = installed({name: {"solver": path} for name, path in solvers.items()})
    rows = []
    for method in tqdm(methods, unit="method"):
        sizes = spec["methods"][method]
        for dtype, threads, m in itertools.product(spec["dtypes"], spec["threads"], sizes):
            point = {"method": method, "m": m, "dtype": dtype, "threads": threads}
            with fresh_process(__name__, environment=_ENVIRONMENTS.get(method)) as pool:
                row = pool.apply(_measure, (point, spec["fraction"], spec["order"]))
            rows.append(point | row)
    # Where numba may use fewer threads than asked, points are the same: the first one stays.
    frame = pd.DataFrame(rows).drop_duplicates(list(COLUMNS.key), ignore_index=True)
    # Every time beside that of the sparse method; busy where either was.
    keys = ["m", "dtype", "threads"]
    plain = frame[frame["method"] == "sparse"].set_index(keys)[["seconds", "busy"]]
    plain = plain.reindex(pd.MultiIndex.from_frame(frame[keys]))
    frame["speed_up"] = plain["seconds"].to_numpy() / frame["seconds"]
    frame["busy"] |= plain["busy"].fillna(False).astype(bool).to_numpy()
    frame.attrs["skipped"] = skipped
    return frame


def _measure(point, fraction, order):
    import numba
    import threadpoolctl

    method, m, dtype, threads = point.values()
    # Before the threads are limited, so that those of its loops are, where it was built with them
    vec_trick = import_solver(_VEC_TRICK) if method == "RLScore" else None
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    rng = np.random.default_rng(m)
    with threadpoolctl.threadpool_limits(threads):
        if method == "matrix product":
            A = rng.random((m, m)).astype(dtype)
            A @ A
            _, timing = measure(lambda: A @ A, min_seconds=0.4)
            row = {"n": m * m, **timing.columns(), "setup_seconds": 0.0, "chosen": ""}
            gflops = 2e-9 * m**3 / timing.seconds
            return row | {"gflops": gflops, "deviation": np.nan, "peak_mib": peak_mib()}
        n = round(fraction * m * m)
        G, K = (
            gram(100 * rng.random((m, 1)), kernel="gaussian", gamma=1.0).astype(dtype)
            for _ in range(2)
        )
        # Distinct pairs without a permutation of all m^2: a random number of each row's columns.
        rows, cols = np.divmod(np.flatnonzero(rng.random(m * m) < fraction)[:n], m)
        v = rng.standard_normal(len(rows)).astype(dtype)
        kind = "sparse" if method == "plain numba" else method
        if kind == "sparse":  # compiled, or read from numba's cache, before the clock starts
            SampledKroneckerOperator(G[:9], K[:9], [0], [0], [0], [0], method=kind) @ v[:1]
        with Stopwatch() as setup:
            if method == "scipy":
                product, chosen = partial(_scipy_product, G, K, rows, cols), ""
            elif method == "RLScore":
                # in C order, with pairs in 32 bits on either side
                pairs = [rows.astype(np.int32), cols.astype(np.int32)] * 2
                product, chosen = (lambda v: vec_trick(v, G, K, *pairs)), version("rlscore")
            else:
                operator = SampledKroneckerOperator(G, K, rows, cols, method=kind)
                product, chosen = operator.matvec, operator.method
            product(v)
        A = rng.random((order, order)).astype(dtype)
        A @ A
        found = time_interleaved(
            {"product": lambda: product(v), "machine": lambda: A @ A}, min_seconds=0.4
        )
    (u, timing), (_, machine) = found["product"], found["machine"]
    gflops = 4e-9 * m * len(rows) / timing.seconds
    # Sums over all coefficients, of which a sparse product adds up those of a row.
    some = np.linspace(0, len(rows) - 1, 50).astype(int)
    V = sparse.csr_array((v.astype(float), (rows, cols)), shape=(m, m))
    expected = [G[rows[h]].astype(float) @ (V @ K[cols[h]].astype(float)) for h in some]
    row = {"n": len(rows), **timing.columns(), "busy": timing.busy or machine.busy}
    row |= {"setup_seconds": setup.seconds, "gflops": gflops}
    row |= {"blas_share": gflops / (2e-9 * order**3 / machine.seconds), "chosen": chosen}
    row["peak_mib"] = peak_mib()
    return row | {"deviation": np.abs(u[some] - expected).max() / np.abs(expected).max()}


def _scipy_product(G, K, rows, cols, v):
    """Algorithm 1 as it is written with scipy alone: a sparse product, then gathered rows."""
    S = sparse.csr_array((v, (rows, cols)), shape=(len(G), len(K))) @ K
    u = np.empty(len(rows), v.dtype)
    for start in range(0, len(rows), 1 << 16):
        part = slice(start, start + (1 << 16))
        u[part] = np.einsum("hk,kh->h", G[rows[part]], S[:, cols[part]])
    return u
