"""How often the passes of the compiled loops go through memory, whatever else the machine does.

Nothing here is timed: what a pass goes through is read from the places it touches, or from the
memory it asks for.
"""

import tracemalloc
from collections import OrderedDict

import numpy as np
import pytest

from kronbench.class_tree.kernels import StoredKernels
from kronbench.class_tree.softmax import softmax
from kronbench.linalg import _lowrank_loops, panel_loops
from kronbench.linalg.blas1 import axpby
from kronbench.pairs import SampledKroneckerOperator, _routes


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
    for panel in ("wide", "narrow", "batch"):
        monkeypatch.setattr(panel_loops, f"{loops}_{panel}", record)
    monkeypatch.setattr(_routes, half, getattr(panel_loops, half).py_func)
    matrix = rng.random((m, m))
    SampledKroneckerOperator(matrix, matrix, rows, cols, method="sparse") @ np.ones(len(rows))
    panels = -(-m // (4 * panel_loops.narrow_width(matrix.dtype)))
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


def test_a_sum_of_vectors_makes_no_temporary_of_its_length():
    y, x = np.ones(2**21), np.ones(2**21)
    assert peak_bytes(axpby, 2.0, x, 0.5, y) < 2**19


def test_exponentials_and_stored_kernels_are_passed_in_blocks():
    scores = np.zeros((2**16, 8))
    assert peak_bytes(softmax, scores) < scores.nbytes + 8 * len(scores) + 2**20
    kernel, block = np.ones((1024, 1024), np.float32), np.ones((1024, 16))
    narrow = StoredKernels([kernel])
    assert peak_bytes(narrow.product, block) < block.nbytes + 2**21 + 2**19
