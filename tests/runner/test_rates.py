"""The same science on every machine: rates choose for ``auto``, which no item leaves open.

Sizes are above those from which ``auto`` asks for the rates.
"""

import json

import numpy as np
import pandas as pd
import pytest

from kronbench.datasets import load
from kronbench.datasets.checkerboard import generate
from kronbench.datasets.dataset import Dataset
from kronbench.pairs import SampledKroneckerOperator
from kronbench.papers.airola.measure import scaling
from kronbench.runner.items import load_plan
from kronbench.runner.job import run_experiment
from tests.helpers import merged

# One machine multiplies dense matrices at no cost, the other goes over pairs at none.
RATES = {
    "dense": dict(matrix_product=1e15, pair_product=1e8, pair_overhead=1e-6, factorization=1e5),
    "sparse": dict(matrix_product=1e8, pair_product=1e15, pair_overhead=0.0, factorization=1e5),
}
CLOCK = {
    *("seconds", "seconds_low", "seconds_high", "repeats", "cpu_seconds", "processors"),
    *("waiting", "busy", "next_seconds", "peak_mib"),
    *("selection_cpu", "fit_cpu", "prediction_cpu"),
}


@pytest.fixture
def two_machines(tmp_path, monkeypatch):
    """A function that runs something under both sets of rates."""

    def run(function):
        found = []
        for name, rates in RATES.items():
            file = tmp_path / f"{name}.json"
            file.write_text(json.dumps(rates))
            monkeypatch.setenv("KRONBENCH_RATES", str(file))
            found.append(function())
        return found

    return run


@pytest.fixture
def board():
    arrays = generate(np.random.default_rng(0), m=420, fraction=0.25, flip=0.2)
    return Dataset(name="Board", source="generated", arrays=arrays, kind="pairs")


def parameters(paper, name, **changes):
    return dict(load_plan(merged()).item(paper, name).parameters) | changes


def only_kron(entries, **changes):
    return {name: entry | changes for name, entry in entries.items() if name.startswith("Kron")}


def test_the_two_machines_choose_differently(two_machines, board):
    G = np.exp(-((board["rows"][:, None] - board["rows"][:420]) ** 2))[:420]
    rows = np.arange(420).repeat(210)
    cols = np.tile(np.arange(210), 420)
    methods = two_machines(lambda: SampledKroneckerOperator(G, G, rows, cols).method)
    assert set(methods) == {"dense", "sparse"}


def test_scaling(two_machines):
    spec = parameters("airola", "figure-7", sizes=[420])
    names = [name for name in spec["solvers"] if name.startswith("Kron")]

    def measured():  # here: a process of the experiment is a copy of one that has other rates
        solvers = scaling._Solvers(spec, names, scaling._Checkerboards(spec))
        solvers.measure(names, 0, 420)
        return pd.DataFrame(solvers.rows)

    same(*two_machines(measured))


def test_method_comparison(two_machines, board):
    spec = parameters("airola", "table-6", test_vertices=60)
    spec["methods"] = only_kron(spec["methods"])
    same(*two_machines(lambda: run_experiment("airola.method_comparison", spec, board, "Board")))


@pytest.mark.parametrize("item", ["figure-3", "figure-4"])
def test_early_stopping(two_machines, item):
    data = load("ki", policy="surrogate")
    spec = parameters("airola", item, folds=[0], regs=[1.0], iterations=3)
    same(*two_machines(lambda: run_experiment("airola.early_stopping", spec, data, "Ki")))


def same(first, second):
    untimed = [name for name in first if name not in CLOCK]
    assert {"auc"} <= set(untimed)
    pd.testing.assert_frame_equal(first[untimed], second[untimed], check_exact=True)
