"""Compile and calibrate, so that no clock sees the compiler or the choice of ``auto``."""

from __future__ import annotations

import numba
import numpy as np

from kronbench.evaluation import concordance_index, macro_auc, micro_auc, roc_auc
from kronbench.linalg import csi, incomplete_cholesky
from kronbench.models import CompleteKronRidge, PairKNN, PairLibSVM, PairSGD, PairSklearnKNN
from kronbench.pairs import PairData, SampledKroneckerOperator, calibrate


def compile_kernels(threads: int | None = None) -> None:
    """Run each compiled product, factorization, solver and metric once, then calibrate.

    numba keeps the code in its cache and :func:`kronbench.pairs.calibrate` the rates in
    Kronbench's, for one thread and for ``threads`` (all of numba's when None), in both
    precisions; a kernel that is missing here only makes its first job slower.
    """
    rng = np.random.default_rng(0)
    features = rng.random((12, 3))
    gram = features @ features.T
    pairs = PairData.complete(features, features)
    y = np.where(rng.random(len(pairs)) < 0.5, -1.0, 1.0)
    for dtype in (np.float64, np.float32):
        for method in ("sparse", "dense", "lowrank"):
            operator = SampledKroneckerOperator(
                gram, gram, pairs.rows, pairs.cols, method=method, dtype=dtype
            )
            operator.matvec(y)
            operator.matmat(np.column_stack([y, y]))
    incomplete_cholesky(gram)
    csi(gram, features[:, :1], max_rank=4)
    CompleteKronRidge().fit(pairs, y).loo("D")
    for neighbours in (PairKNN(n_neighbors=2), PairSklearnKNN(n_neighbors=2)):
        neighbours.fit(pairs, y).decision_function(pairs)
    PairSGD(n_updates=len(y)).fit(pairs, y)
    PairLibSVM(gamma=1.0).fit(pairs, y)
    concordance_index(y, rng.random(len(y)))
    roc_auc(y, rng.random(len(y)))
    macro_auc(y.reshape(12, 12), rng.random((12, 12)), axis=1)
    micro_auc(y.reshape(12, 12), rng.random((12, 12)))
    for dtype in (np.float64, np.float32):
        for n_threads in {1, threads or numba.get_num_threads()}:
            calibrate(dtype, n_threads)
