"""Seconds, rate and memory of the sampled Kronecker product, a process for each method."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import sparse

from kronbench.linalg import gram
from kronbench.pairs import SampledKroneckerOperator
from kronbench.runner.clock import Stopwatch, TimeCap, in_turn, measure, peak_mib
from kronbench.runner.columns import TIMING, Columns, Parameter
from kronbench.runner.processes import one_process
from kronbench.runner.solvers import SolverMissing, import_solver

if TYPE_CHECKING:
    from kronbench.datasets import Dataset

# The loops are chosen on import.
_ENVIRONMENTS = {"plain numba": {"KRONBENCH_PLAIN_NUMBA": "1"}}

METHODS = (
    "matrix product", "sparse", "plain numba", "dense", "lowrank", "auto", "scipy", "RLScore",
)  # fmt: skip

_VEC_TRICK = "rlscore.utilities.sampled_kronecker_products.sampled_vec_trick"

COLUMNS = TIMING | Columns(
    key=("method", "m", "dtype", "threads"),
    clock=("setup_seconds", "gflops"),
    ratios_of_clock=("blas_share", "speed_up"),
    counts=("n",),
    numbers=("deviation",),
    conditions=("chosen",),
    values={
        "method": (Parameter(("methods",)),),
        "m": (Parameter(("methods", "*")),),
        "dtype": (Parameter(("dtypes",)),),
        "threads": (Parameter(("threads",)),),
    },
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each of ``methods``, its sizes (m = q), ``dtypes`` and ``threads``.

    A product R (G kron K) R' v with n = ``fraction`` m^2 random pairs and Gaussian kernels
    (gamma 1) on one feature, uniform on (0, 100). "matrix product" is the BLAS on two square
    matrices of its order m: the rate of the machine. "scipy" is a sparse matrix product and
    gathered inner products; "plain numba" is the sparse method without the vector instructions of
    its innermost loops; "RLScore" is the product of the papers' authors, in double precision
    alone, left out with a reason where rlscore is not installed. A process for each point, because
    threads of BLAS and numba that wait for each other would be measured with it. ``seconds`` is a
    median; ``gflops`` counts the operations of the sparse method for every route but "matrix
    product", so that rates compare; ``setup_seconds`` is the time to the end of the first product;
    ``chosen`` is what "auto" took, and the version of RLScore; ``deviation`` is the largest of
    some outputs from sums over all coefficients in double precision, relative to the largest of
    them; ``blas_share`` is the rate relative to a matrix product of order ``order`` in the same
    precision, in turn with it; ``speed_up`` is over the sparse method.
    """
    # Here: on import it makes a lock, which is not for the copies of a process to remove.
    from tqdm import tqdm

    rows, capped, skipped = [], [], []
    methods = dict(spec["methods"])
    if "RLScore" in methods:
        try:
            import_solver(_VEC_TRICK)
        except SolverMissing as reason:
            skipped.append(str(reason))
            del methods["RLScore"]
    points = [
        (method, dtype, threads)
        for method in methods
        for dtype in spec["dtypes"]
        for threads in spec["threads"]
    ]
    for method, dtype, threads in tqdm(points, unit="curve"):
        cap = TimeCap(spec["time_cap"])
        for m in methods[method]:
            if not cap.allows(m):
                capped.append(f"{method} m = {m}")
                break
            with one_process(__name__, environment=_ENVIRONMENTS.get(method)) as pool:
                row = pool.apply(
                    _measure, (method, m, spec["fraction"], dtype, threads, spec["order"])
                )
            rows.append(row)
            cap.record(m, row["setup_seconds"] + 3 * row["seconds"])
    frame = _compared(pd.DataFrame(rows))
    if capped:
        skipped.append("products past the time cap were not run: " + ", ".join(capped))
    frame.attrs["skipped"] = skipped
    return frame


def _compared(frame):
    """The frame with every time relative to the sparse method's; busy where either was."""
    keys = ["m", "dtype", "threads"]
    sparse_rows = frame[frame["method"] == "sparse"].set_index(keys)[["seconds", "busy"]]
    own = sparse_rows.reindex(pd.MultiIndex.from_frame(frame[keys]))
    frame["speed_up"] = own["seconds"].to_numpy() / frame["seconds"]
    frame["busy"] |= own["busy"].fillna(False).astype(bool).to_numpy()
    return frame


def _measure(method, m, fraction, dtype, threads, order):
    import numba
    import threadpoolctl

    # Before the threads are limited, so that those of its loops are, where it was built with them
    vec_trick = import_solver(_VEC_TRICK) if method == "RLScore" else None
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    point = {"method": method, "m": m, "dtype": dtype, "threads": threads}
    rng = np.random.default_rng(m)
    with threadpoolctl.threadpool_limits(threads):
        if method == "matrix product":
            A = rng.random((m, m)).astype(dtype)
            A @ A
            _, timing = measure(lambda: A @ A, enough=0.4)
            return point | {
                "n": m * m,
                **timing.columns(),
                "setup_seconds": 0.0,
                "gflops": 2e-9 * m**3 / timing.seconds,
                "chosen": "",
                "deviation": np.nan,
                "peak_mib": peak_mib(),
            }
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
            SampledKroneckerOperator(G[:9], K[:9], [0], [0], [0], [0], kind) @ v[:1]
        with Stopwatch() as setup:
            if method == "scipy":
                product = _scipy_product(G, K, rows, cols)
                chosen = ""
            elif method == "RLScore":
                product = _reference_product(vec_trick, G, K, rows, cols)
                chosen = importlib.metadata.version("rlscore")
            else:
                operator = SampledKroneckerOperator(G, K, rows, cols, method=kind)
                product, chosen = operator.matvec, operator.method
            product(v)
        A = rng.random((order, order)).astype(dtype)
        A @ A
        found = in_turn({"product": lambda: product(v), "machine": lambda: A @ A}, enough=0.4)
    (u, timing), (_, machine) = found["product"], found["machine"]
    gflops = 4e-9 * m * len(rows) / timing.seconds
    return point | {
        "n": len(rows),
        **timing.columns(),
        "busy": timing.busy or machine.busy,
        "setup_seconds": setup.seconds,
        "gflops": gflops,
        "blas_share": gflops / (2e-9 * order**3 / machine.seconds),
        "chosen": chosen,
        "peak_mib": peak_mib(),
        "deviation": _deviation(u, G, K, rows, cols, v),
    }


def _deviation(u, G, K, rows, cols, v):
    """Against the sums over all coefficients, of which a sparse product adds up those of a row."""
    some = np.linspace(0, len(rows) - 1, 50).astype(int)
    V = sparse.csr_array((v.astype(float), (rows, cols)), shape=(len(G), len(K)))
    expected = [G[rows[h]].astype(float) @ (V @ K[cols[h]].astype(float)) for h in some]
    return np.abs(u[some] - expected).max() / np.abs(expected).max()


def _scipy_product(G, K, rows, cols):
    """Algorithm 1 as it is written with scipy alone: a sparse product, then gathered rows."""

    def product(v):
        V = sparse.csr_array((v, (rows, cols)), shape=(len(G), len(K)))
        S = V @ K
        u = np.empty(len(rows), v.dtype)
        for start in range(0, len(rows), 1 << 16):
            part = slice(start, start + (1 << 16))
            u[part] = np.einsum("hk,kh->h", G[rows[part]], S[:, cols[part]])
        return u

    return product


def _reference_product(vec_trick, G, K, rows, cols):
    """Algorithm 1 of its authors: both matrices in C order, pairs in 32 bits on either side."""
    pairs = rows.astype(np.int32), cols.astype(np.int32)
    return lambda v: vec_trick(v, G, K, *pairs, *pairs)
