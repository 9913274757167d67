"""Two or more ways to the same end, in turn: alone on the machine, and beside other programs."""

import subprocess
import sys
from functools import partial

import numba
import numpy as np
import pandas as pd
import threadpoolctl

from kronbench.datasets.checkerboard import checkerboard
from kronbench.linalg import KernelColumns, csi, gram, incomplete_cholesky
from kronbench.pairs import SampledKroneckerOperator
from kronbench.runner.clock import time_interleaved
from kronbench.runner.columns import TIMING, Columns
from kronbench.runner.processes import busy_programs, fresh_process
from kronbench.runner.seeds import generator
from kronbench.runner.solvers import make_solver

COLUMNS = TIMING | Columns(
    key=("line", "way"),
    clock=("beside_seconds", "beside_low", "beside_high", "beside_cpu_seconds"),
    ratios_of_clock=("times_faster", "beside_times_faster", "slow_down"),
    # A rounding error: the BLAS of this machine orders its sums.
    conditions=("programs", "deviation"),
)


def run(spec, data, rng):
    """One row for each of ``lines`` and its ``ways``, of which the first is the plain one.

    A line is a process of its own, in which all ways take turns twice: alone, and beside as many
    ``programs`` that keep a processor busy as this job has threads. Ways are methods of a product,
    its threads (0: those of the job), further parameters of a fit, factorizations, or modules that
    a program imports before it makes twenty products, from its start to its end, alone.

    ``times_faster`` is over the first way, ``slow_down`` that of the programs.
    """
    # Here: on import it makes a lock, which is not for the copies of a process to remove.
    from tqdm import tqdm

    threads = numba.get_num_threads()
    rows = []
    for name, line in tqdm(spec["lines"].items(), unit="line"):
        # More threads than processors are there only for a library that is told so on import.
        most = max(line["ways"].values()) if line["work"] == "threads" else 0
        environment = {"NUMBA_NUM_THREADS": str(most)} if most > threads else None
        with fresh_process(__name__, environment=environment) as pool:
            rows += pool.apply(_measure, (name, line, spec["seed"], threads))
    return pd.DataFrame(rows)


def _measure(name, line, seed, threads):
    numba.set_num_threads(threads)
    imports = line["work"] == "import"
    first, beside = {}, {}
    with threadpoolctl.threadpool_limits(threads):
        ways = _WORK[line["work"]](line, generator(seed, name))
        # Code is loaded, memory touched; a program of its own does both each time.
        if not imports:
            first = {way: call() for way, call in ways.items()}
        calm = time_interleaved(ways)
        if not imports:
            with busy_programs(threads):
                beside = time_interleaved(ways)
    plain = next(iter(ways))
    rows = []
    for way in ways:
        alone, reference = calm[way][1], calm[plain][1]
        row = {"line": name, "work": line["work"], "way": way, **alone.columns()}
        if line["work"] == "threads":
            row["threads"] = line["ways"][way] or threads
        row["busy"] = alone.busy or reference.busy
        row["times_faster"] = reference.seconds / alone.seconds
        if first.get(way) is not None:
            row["deviation"] = np.abs(first[way] - first[plain]).max() / np.abs(first[plain]).max()
        if beside:
            shared, reference = beside[way][1], beside[plain][1]
            row |= {
                "programs": threads,
                "beside_seconds": shared.seconds,
                "beside_low": shared.seconds_low,
                "beside_high": shared.seconds_high,
                "beside_cpu_seconds": shared.cpu_seconds,
                "beside_times_faster": reference.seconds / shared.seconds,
                "slow_down": shared.seconds / alone.seconds,
            }
        rows.append(row)
    return rows


def _problem(line, rng):
    m, n = line["vertices"], line["pairs"]
    kernels = [gram(100 * rng.random((m, 1)), kernel="gaussian", gamma=1.0) for _ in range(2)]
    rows, cols = np.divmod(np.sort(rng.choice(m * m, n, replace=False)), m)
    return (*kernels, rows, cols), rng.standard_normal(n)


def _products(line, rng):
    problem, v = _problem(line, rng)
    operators = {way: SampledKroneckerOperator(*problem, method=way) for way in line["ways"]}
    return {way: partial(operator.matvec, v) for way, operator in operators.items()}


def _threads(line, rng):
    problem, v = _problem(line, rng)
    operator = SampledKroneckerOperator(*problem, method=line["method"])
    given = numba.get_num_threads()

    def product(threads):
        numba.set_num_threads(threads or given)
        try:
            return operator @ v
        finally:
            numba.set_num_threads(given)

    return {way: partial(product, threads) for way, threads in line["ways"].items()}


def _fits(line, rng):
    pairs, y = checkerboard(line["vertices"], rng)

    def fit(further):
        make_solver(line["solver"], **line["parameters"] | further).fit(pairs, y)

    return {way: partial(fit, further) for way, further in line["ways"].items()}


def _factors(line, rng):
    X = rng.random((line["points"], 8))
    kernel = KernelColumns(X, "gaussian", 1.0)
    targets = np.sin(2 * np.pi * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(len(X))

    def decompose(way):
        if way == "CSI":
            csi(kernel, targets, line["rank"], lookahead=40, tol=0.0)
        else:
            incomplete_cholesky(kernel, line["rank"], 0.0)

    return {way: partial(decompose, way) for way in line["ways"]}


def make_products(method, m, n):
    """What a program does after its imports."""
    line = {"vertices": m, "pairs": n, "ways": [method]}
    product = _products(line, np.random.default_rng(0))[method]
    for _ in range(20):
        product()


_PROGRAM = """
import importlib

for name in ({first!r}, "numba", "numpy", "kronbench"):
    importlib.import_module(name)
from kronbench.papers.performance.measure.calm_and_busy import make_products

make_products({method!r}, {vertices}, {pairs})
"""


def _imports(line, rng):
    def run_program(first):
        program = _PROGRAM.format(first=first, **line)
        subprocess.run([sys.executable, "-c", program], check=True)

    return {way: partial(run_program, way) for way in line["ways"]}


_WORK = {
    "product": _products,
    "threads": _threads,
    "fit": _fits,
    "factor": _factors,
    "import": _imports,
}
