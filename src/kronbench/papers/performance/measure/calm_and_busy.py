"""Two or more ways to the same end, in turn: alone on the machine, and beside other programs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from functools import partial

import numba
import numpy as np
import pandas as pd
import threadpoolctl

from kronbench.datasets import Dataset
from kronbench.datasets.checkerboard import checkerboard
from kronbench.linalg import KernelColumns, csi, gram, incomplete_cholesky
from kronbench.pairs import SampledKroneckerOperator
from kronbench.runner.clock import in_turn
from kronbench.runner.columns import TIMING, Columns, Parameter
from kronbench.runner.processes import busy_programs, one_process
from kronbench.runner.seeds import generator
from kronbench.runner.solvers import make_solver

COLUMNS = TIMING | Columns(
    key=("line", "way"),
    clock=("beside_seconds", "beside_low", "beside_high", "beside_cpu_seconds"),
    ratios_of_clock=("times_faster", "beside_times_faster", "slow_down"),
    texts=("work",),
    # A rounding error: the BLAS of this machine orders its sums.
    conditions=("programs", "deviation"),
    values={
        "line": (Parameter(("lines",)),),
        "work": (Parameter(("lines", "*", "work")),),
        "way": (Parameter(("lines", "*", "ways")),),
    },
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each of ``lines`` and its ``ways``, of which the first is the plain one.

    A line is a process of its own, in which all ways take turns twice: alone, and beside as many
    ``programs`` that keep a processor busy as this job has threads ("import": alone). Its ``work``
    is

    - "product": R (G kron K) R' v with ``pairs`` random pairs of m = q = ``vertices`` and Gaussian
      kernels (gamma 1) of one uniform feature on (0, 100); ways are names of its methods;
    - "threads": the same by ``method``; ways have numbers of threads, 0 for those of the job;
    - "fit": of ``solver`` with ``parameters`` on a checkerboard of m = q = ``vertices``; ways have
      further parameters, which come before these;
    - "factor": of ``rank`` columns, of the Gaussian kernel of ``points`` uniform points with eight
      features; ways are "incomplete Cholesky" and "CSI" (40 look-ahead steps);
    - "import": a program of its own, from its start to its end, that makes twenty products by
      ``method``; ways are the modules that it imports first.

    ``seconds`` is a median, ``times_faster`` over the first way; what was measured beside the
    programs begins with "beside". ``slow_down`` is those seconds over the calm ones: two where
    processors are shared alike. ``deviation`` is the largest difference of a product to that of
    the first way, relative to the largest number of it.
    """
    # Here: on import it makes a lock, which is not for the copies of a process to remove.
    from tqdm import tqdm

    threads = numba.get_num_threads()
    rows = []
    for name, line in tqdm(spec["lines"].items(), unit="line"):
        # More threads than processors are there only for a library that is told so on import.
        most = max(line["ways"].values()) if line["work"] == "threads" else 0
        environment = {"NUMBA_NUM_THREADS": str(most)} if most > threads else None
        with one_process(__name__, environment=environment) as pool:
            rows += pool.apply(_measure, (name, line, spec["seed"], threads))
    return pd.DataFrame(rows)


def _measure(name, line, seed, threads):
    numba.set_num_threads(threads)
    with threadpoolctl.threadpool_limits(threads):
        ways = _WORK[line["work"]](line, generator(seed, name))
        # Code is loaded, memory touched; a program of its own does both each time.
        imports = line["work"] == "import"
        first = {} if imports else {way: call() for way, call in ways.items()}
        calm = in_turn(ways)
        beside = {}
        if not imports:
            with busy_programs(threads):
                beside = in_turn(ways)
    plain = next(iter(ways))
    disturbed = calm[plain][1].busy
    rows = []
    for way in ways:
        alone = calm[way][1]
        row = {"line": name, "work": line["work"], "way": way, **alone.columns()}
        if line["work"] == "threads":
            row["threads"] = line["ways"][way] or threads
        row |= {
            "busy": row["busy"] or disturbed,
            "times_faster": calm[plain][1].seconds / alone.seconds,
            "deviation": _deviation(first.get(way), first.get(plain)),
        }
        if beside:
            shared = beside[way][1]
            row |= {
                "programs": threads,
                "beside_seconds": shared.seconds,
                "beside_low": shared.seconds_low,
                "beside_high": shared.seconds_high,
                "beside_cpu_seconds": shared.cpu_seconds,
                "beside_times_faster": beside[plain][1].seconds / shared.seconds,
                "slow_down": shared.seconds / alone.seconds,
            }
        rows.append(row)
    return rows


def _deviation(result, plain):
    return np.nan if result is None else np.abs(result - plain).max() / np.abs(plain).max()


def make_products(method: str, m: int, n: int) -> None:
    """What a program does after its imports."""
    ways = _products({"vertices": m, "pairs": n, "ways": [method]}, np.random.default_rng(0))
    for _ in range(20):
        ways[method]()


def _products(line, rng):
    problem, v = _problem(line, rng)
    return {way: partial(_operator(way, problem).matvec, v) for way in line["ways"]}


def _threads(line, rng):
    problem, v = _problem(line, rng)
    operator, given = _operator(line["method"], problem), numba.get_num_threads()

    def product(threads):
        numba.set_num_threads(threads or given)
        try:
            return operator @ v
        finally:
            numba.set_num_threads(given)

    return {way: partial(product, threads) for way, threads in line["ways"].items()}


def _problem(line, rng):
    m, n = line["vertices"], line["pairs"]
    kernels = [gram(100 * rng.random((m, 1)), kernel="gaussian", gamma=1.0) for _ in range(2)]
    rows, cols = np.divmod(np.sort(rng.choice(m * m, n, replace=False)), m)
    return (*kernels, rows, cols), rng.standard_normal(n)


def _operator(method, problem):
    return SampledKroneckerOperator(*problem, method=method)


def _fits(line, rng):
    pairs, y = checkerboard(line["vertices"], rng)

    def fit(further):
        make_solver(line["solver"], **line["parameters"] | further).fit(pairs, y)

    return {way: partial(fit, further) for way, further in line["ways"].items()}


def _factors(line, rng):
    rank, n = line["rank"], line["points"]
    X = rng.random((n, 8))
    kernel = KernelColumns(X, "gaussian", 1.0)
    targets = np.sin(2 * np.pi * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(n)
    calls = {
        "incomplete Cholesky": partial(incomplete_cholesky, kernel, rank, 0.0),
        "CSI": partial(csi, kernel, targets, rank, lookahead=40, tol=0.0),
    }

    def decompose(call):
        call()

    return {way: partial(decompose, calls[way]) for way in line["ways"]}


_PROGRAM = """
import importlib, sys

first, method, m, n = sys.argv[1:]
for name in (first, "numba", "numpy", "kronbench"):
    importlib.import_module(name)
from kronbench.papers.performance.measure.calm_and_busy import make_products

make_products(method, int(m), int(n))
"""


def _imports(line, rng):
    command = [sys.executable, "-c", _PROGRAM]
    sizes = [line["method"], str(line["vertices"]), str(line["pairs"])]

    def run_program(first):
        subprocess.run([*command, first, *sizes], check=True)

    return {way: partial(run_program, way) for way in line["ways"]}


_WORK = {
    "product": _products, "threads": _threads, "fit": _fits, "factor": _factors,
    "import": _imports,
}  # fmt: skip
