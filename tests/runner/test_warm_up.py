"""A timed job compiles before its clock: products, metrics, and what the named solvers need."""

import sys

import pytest

from kronbench import models
from kronbench.linalg import adi_nodes, panel_loops
from kronbench.models import _libsvm_calls, pair_knn
from kronbench.pairs import _routes
from kronbench_suite.runner.warm_up import warm_up


def test_products_and_each_named_solver_are_warmed_up_once(tmp_path, monkeypatch):
    """Of two from outside one knows what it must compile, one does not say."""
    knowing = "calls = []\nclass Knowing:\n    def warm_up(): calls.append(1)\n"
    (tmp_path / "warm_outside.py").write_text(knowing + "class Silent: ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    named = ["warm_outside.Knowing", "warm_outside.Silent", "not_installed_anywhere.Solver"]
    warm_up([*named, named[0]])
    assert sys.modules["warm_outside"].calls == [1]
    for kernel in (panel_loops.accumulate, panel_loops.contract):
        assert {"float32", "float64"} <= {kinds[0].dtype.name for kinds in kernel.signatures}


@pytest.mark.parametrize(
    ("name", "where", "kernel"),
    [
        ("PairKNN", pair_knn, "_search"),
        ("PairLibSVM", _libsvm_calls, "svm_problem"),
        ("CompleteKronRidge", adi_nodes, "_next_factors"),
        ("KronSVM", panel_loops, "accumulate"),
        ("KronRidge", panel_loops, "contract"),
    ],
)
def test_an_estimator_calls_what_it_compiles(monkeypatch, name, where, kernel):
    called = []
    own = getattr(where, kernel)
    for holder in (where, _routes):  # which imports the kernels of products by name
        if hasattr(holder, kernel):
            monkeypatch.setattr(holder, kernel, lambda *a: (called.append(kernel), own(*a))[1])
    getattr(models, name).warm_up()
    assert called
