"""Compile, so that no clock sees the compiler."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

import numpy as np

from kronbench.evaluation import concordance_index, macro_auc, micro_auc, roc_auc
from kronbench.linalg import csi, incomplete_cholesky
from kronbench.pairs import SampledKroneckerOperator
from kronbench.pairs.data import small_pairs
from kronbench.solvers import SolverMissing, import_solver


def warm_up(solvers: Iterable[str]) -> None:
    """Run each compiled product, factorization and metric once, and solvers by import path.

    numba keeps the code in its cache. A solver knows itself what it needs: the class method
    ``warm_up`` is called where it has one.
    """
    rng = np.random.default_rng(0)
    pairs, y = small_pairs()
    features = pairs.row_features
    gram = features @ features.T
    # Products of each way and precision, with one vector and with several.
    for dtype in (np.float64, np.float32):
        for method in ("sparse", "dense", "lowrank"):
            operator = SampledKroneckerOperator(
                gram, gram, pairs.rows, pairs.cols, method=method, dtype=dtype
            )
            operator.matvec(y)
            operator.matmat(np.column_stack([y, y]))
        few = np.arange(320)  # as few pairs as vertices, and enough to be summed directly
        sums = rng.random((320, 320))
        operator = SampledKroneckerOperator(sums, sums, few, few, method="sparse", dtype=dtype)
        operator.matvec(few)
    # Factorizations and metrics that measurements call beside solvers.
    incomplete_cholesky(gram)
    csi(gram, features[:, :1], max_rank=4)
    concordance_index(y, rng.random(len(y)))
    roc_auc(y, rng.random(len(y)))
    macro_auc(y.reshape(12, 12), rng.random((12, 12)), axis=1)
    micro_auc(y.reshape(12, 12), rng.random((12, 12)))
    # Solvers that say what they compile; one of a package that is not installed is left out.
    for path in sorted(set(solvers)):
        with contextlib.suppress(SolverMissing):  # the experiment reports the reason
            solver = import_solver(path)
            if hasattr(solver, "warm_up"):
                solver.warm_up()
