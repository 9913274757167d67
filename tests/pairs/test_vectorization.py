"""The innermost loops are in vectors and the passes in blocks, whatever else the machine does.

Nothing here is timed. What LLVM made of the loops is read from the machine code that runs, and
what a pass goes through from the places it touches, or from the memory it asks for. The numbers
belong to the locked numba: where another one makes other loops, look whether they are as fast
(performance figure 1) before the numbers here follow.
"""

import json
import math
import os
import platform
import subprocess
import sys
import tracemalloc
from collections import Counter, OrderedDict
from pathlib import Path

import llvmlite.binding
import numba
import numpy as np
import pytest

from kronbench.classes.kernels import StoredKernels
from kronbench.classes.softmax import softmax
from kronbench.linalg import _lowrank_loops, krylov
from kronbench.pairs import SampledKroneckerOperator, _panel_loops, _routes

ROOT = Path(__file__).parents[2]

FEATURES = (
    llvmlite.binding.get_host_cpu_features().flatten()
    if numba.config.CPU_FEATURES is None
    else numba.config.CPU_FEATURES
)
WIDEST = 512 if "+avx512f" in FEATURES else 256 if "+avx2" in FEATURES else 128

# What a turn of each loop in vectors holds as (arithmetic, loads, stores), divided by the common
# factor that unrolling brings, and how often it is there at least; the same with vectors of 256
# and of 512 bits. A product and its addition are one. Four columns at once read a fifth number
# for four products, (4, 5, ...), one column at a time two for each, (1, 2, ...).
LOOPS = {
    "_lowrank_loops.cholesky_step": {(4, 5, 1): 1, (1, 2, 1): 1, (4, 5, 0): 1, (1, 2, 0): 3},
    "_lowrank_loops.project_out": {
        **{(4, 5, 1): 1, (1, 2, 1): 1, (4, 5, 0): 1, (1, 2, 0): 3},
        **{(1, 1, 1): 1, (2, 1, 0): 1},  # minus the shift; the sum and the squared norm
    },
    "_lowrank_loops.advance": {
        **{(4, 5, 1): 1, (8, 3, 3): 1, (2, 1, 1): 1},  # _add, _reflect by twos and the one left
        **{(28, 11, 7): 2, (1, 2, 1): 16},  # _combine by fours, twice, and what is left of it
    },
    "kernels._few_columns": {(4, 5, 0): 1, (1, 2, 0): 1},
    "vectors._sum_of_products": {(1, 2, 0): 1},
    "vectors._inner": {(1, 2, 0): 1},
    "vectors._add": {(1, 2, 1): 1},
    "vectors._advance": {(1, 2, 1): 1},
    "vectors._turn": {(1, 2, 1): 1},
    "softmax._add_curvature": {(1, 2, 0): 1, (2, 3, 1): 1},
}


@pytest.fixture(scope="module")
def held():
    """Kernel -> what its machine code holds, for each choice of dtypes."""
    if platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip(f"the loops are read in x86-64 machine code, not in {platform.machine()}")
    if WIDEST < 256:
        pytest.skip("this processor, or NUMBA_CPU_FEATURES, has no vectors of 256 bits (AVX2)")
    environment = {k: v for k, v in os.environ.items() if k != "KRONBENCH_PLAIN_NUMBA"}
    run = subprocess.run(
        [sys.executable, "-m", "tests.pairs.machine_code"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    by_kernel = {}
    for name, found in json.loads(run.stdout).items():
        kernel, _, dtypes = name.partition(", ")
        by_kernel.setdefault(kernel, {})[dtypes] = found
    return by_kernel


def test_kernels_get_contiguous_arrays_alone(held):
    for kernel, choices in held.items():
        for dtypes, found in choices.items():
            assert found["layouts"] == ["C"], f"{kernel} ({dtypes}) gets arrays with gaps"


@pytest.mark.parametrize("kernel", LOOPS)
def test_loops_are_in_vectors_and_share_their_loads(held, kernel):
    assert held[kernel]
    for dtypes, found in held[kernel].items():
        shapes = Counter()
        for loop in found["loops"].values():
            if loop["bits"] >= 256 and not loop["scalar"]:
                shape = loop["packed"], loop["loads"], loop["stores"]
                shapes[tuple(number // math.gcd(*shape) for number in shape)] += 1
        missing = Counter(LOOPS[kernel]) - shapes
        assert not missing, f"{kernel} ({dtypes}) lost {dict(missing)}; in vectors: {dict(shapes)}"


PANELS = {  # registers of a row, vectors that share it
    "wide": (_panel_loops._WIDE, 1),
    "narrow": (_panel_loops._NARROW, 1),
    "batch": (_panel_loops._WIDE // _panel_loops.BATCH, _panel_loops.BATCH),
}


@pytest.mark.parametrize(
    ("kernel", "panel"),
    [
        *(("_panel_loops.accumulate", panel) for panel in PANELS),
        ("sparse_features._add", "narrow"),
    ],
)
def test_sums_of_the_first_half_stay_in_registers(held, kernel, panel):
    registers, width = PANELS[panel]
    assert set(held[kernel]) == {"float32", "float64"}
    for found in held[kernel].values():
        # each load of the panel serves all vectors, and a coefficient a vector is loaded
        assert _stores_and_spills(found, registers * width, registers + width) == [0, 0]


@pytest.mark.parametrize("panel", PANELS)
def test_rows_of_the_second_half_stay_in_registers(held, panel):
    registers, width = PANELS[panel]
    assert set(held["_panel_loops.contract"]) == {"float32", "float64"}
    together = 4 // width
    for found in held["_panel_loops.contract"].values():
        # the panel, and the vector of outputs that the sums are added to
        loads = together * registers + 1
        assert _stores_and_spills(found, together * registers * width, loads, sums=4) == [1, 0]


def _stores_and_spills(found, products, loads, sums=0):
    """Stores and spills of the loop with so many products and no more than so many loads.

    A product that is not fused with its addition counts twice. At most ``sums`` additions may
    join lanes beside them.
    """
    full = [x for x in found["loops"].values() if x["bits"] == WIDEST]
    fitting = [
        [x["stores"], x["spills"]]
        for x in full
        if x["packed"] in range(products, products + sums + 1)
        and x["loads"] <= loads
        and not x["scalar"]
    ]
    assert fitting, f"no loop with {products} products in vectors on {loads} loads: {full}"
    return max(fitting)


@pytest.mark.parametrize("kernel", ["tree._up", "tree._down", "tree._couple"])
def test_trees_are_passed_by_sixteen_rows(held, kernel):
    assert set(held[kernel]) == {"float32", "float64"}
    for dtypes, found in held[kernel].items():
        assert found["loops"]
        for loop in found["loops"].values():
            in_a_store = max(1, loop["bits"] // (8 * np.dtype(dtypes).itemsize))
            assert loop["stores"] * in_a_store >= 16, f"{kernel} ({dtypes}): {loop}"


def test_sums_over_pairs_share_what_they_read_of_a_pair(held):
    """Four outputs: two numbers for each, and one coefficient for all, in eight operations."""
    assert set(held["_panel_loops.sums_over_pairs"]) == {"float32", "float64"}
    for dtypes, found in held["_panel_loops.sums_over_pairs"].items():
        assert found["loops"]
        for loop in found["loops"].values():
            assert loop["packed"] == loop["stores"] == loop["spills"] == 0, dtypes
            assert 9 * loop["scalar"] == 8 * loop["loads"] > 0, dtypes


class Cache:
    """Counts the rows that were not among the latest ``size`` different ones."""

    def __init__(self, size):
        self.size, self.rows = size, OrderedDict()
        self.touched = self.missed = 0

    def touch(self, rows):
        for row in rows:
            self.touched += 1
            if row not in self.rows:
                self.missed += 1
            self.rows[row] = None
            self.rows.move_to_end(row)
            if len(self.rows) > self.size:
                self.rows.popitem(last=False)


@pytest.mark.parametrize("half", ["accumulate", "contract"])
def test_a_panel_is_passed_in_blocks_that_stay_in_cache(monkeypatch, half):
    m = 600
    rng = np.random.default_rng(0)
    rows, cols = np.nonzero(rng.random((m, m)) < 0.25)
    cache = Cache(256)  # 256 KiB with vectors of 512 bits, less with narrower ones

    def accumulated(_, flat, offset, stride, panel, indices, values, at, stop):
        cache.touch([("sums", offset)])
        cache.touch(indices[at:stop].tolist())

    def contracted(_, out, rows, offset, stride, panel, indices, at, stop):
        assert rows.shape[1] <= cache.size  # those of all major vertices of a pass
        cache.touch([("row", offset)])
        cache.touch(indices[at:stop].tolist())

    loops, record = {
        "accumulate": ("_add_rows", accumulated),
        "contract": ("_inner_products", contracted),
    }[half]
    for panel in PANELS:
        monkeypatch.setattr(_panel_loops, f"{loops}_{panel}", record)
    monkeypatch.setattr(_routes, half, getattr(_panel_loops, half).py_func)
    matrix = rng.random((m, m))
    SampledKroneckerOperator(matrix, matrix, rows, cols, method="sparse") @ np.ones(len(rows))
    panels = -(-m * 8 // _panel_loops.PANEL_ROW)
    assert cache.touched >= panels * len(rows)
    assert cache.missed <= 0.15 * cache.touched


def test_a_cholesky_step_reads_the_columns_once(monkeypatch):
    n, t = 8192, 24
    cache = Cache(2048)  # of 64 points each: 1 MiB

    def columns_of(name):
        def record(columns, n_columns, low, high, *rest):
            for j in range(n_columns):
                cache.touch((id(columns), j, part) for part in range(low // 64, high // 64))

        monkeypatch.setattr(_lowrank_loops, name, record)

    columns_of("_add")
    columns_of("_inner_products")
    G, targets = np.ones((t + 1, n)), np.ones((1, n))
    step = _lowrank_loops.cholesky_step.py_func
    sums = np.empty((n // 64, t + 4))
    ones = np.ones(n)
    step(G, t, np.ones(t), 1.0, ones, np.zeros(n), 1.0, t, targets, sums)
    assert cache.missed == (t + 1) * n // 64


def peak_bytes(function, *args):
    """The most memory that numpy asked for in a call, beyond what was there."""
    function(*args)
    tracemalloc.start()
    try:
        function(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_an_update_makes_no_temporary_of_its_length():
    y, x = np.ones(2**21), np.ones(2**21)
    assert peak_bytes(krylov.update, y, 0.5, 2.0, x) < 2**19


def test_exponentials_and_stored_kernels_are_passed_in_blocks():
    scores = np.zeros((2**16, 8))
    assert peak_bytes(softmax, scores) < scores.nbytes + 8 * len(scores) + 2**20
    kernel, block = np.ones((1024, 1024), np.float32), np.ones((1024, 16))
    narrow = StoredKernels([kernel])
    assert peak_bytes(narrow.product, block) < block.nbytes + 2**21 + 2**19
