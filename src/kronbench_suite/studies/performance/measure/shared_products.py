"""What shared and saved products buy: a whole path of ridge weights, a symmetric inner solver.

Parameters
----------
fold : round of the cross-validation
fraction : share of the label matrix that is drawn as pairs
iterations : number of iterations
regs : regularization weights
"""

from functools import partial

import pandas as pd

from kronbench.datasets.drug_target import labelled_pairs
from kronbench.evaluation import VertexDisjointKFold, roc_auc
from kronbench.models import KronRidge, KronSVM
from kronbench.solvers import scores_of
from kronbench_suite.runner.clock import time_interleaved
from kronbench_suite.runner.columns import TIMING, Columns
from kronbench_suite.runner.seeds import generator

COLUMNS = TIMING | Columns(
    key=("model", "way"),
    ratios_of_clock=("ratio",),
)


def run(spec, data, rng):
    """A row for each way: seconds and AUC on one fold; ways in turn.

    ``ratio`` is over the first way of the same model. "all weights" has the test scores of the
    last iterate for each of ``regs``, "every iterate" those of all; its AUC is at the weight of
    "one weight".
    """
    pairs, y = labelled_pairs(data, generator(spec["seed"], "pairs", data.name), spec["fraction"])
    # One fold of the ninefold split of drugs and targets.
    splitter = VertexDisjointKFold(random_state=int(rng.integers(2**31)))
    train, test = list(splitter.split(pairs, y))[spec["fold"]]
    fold, test_pairs, test_y = (pairs[train], y[train]), pairs[test], y[test]
    regs = spec["regs"]
    middle = len(regs) // 2
    # The same way to make products in all of them, so that the AUC is not that of a machine.
    ridge = KronRidge(
        reg=regs[middle], solver="minres", max_iter=spec["iterations"], tol=0, product="sparse"
    )

    def path(every):
        found = ridge.path(*fold, regs, X_test=test_pairs)
        if every:
            return [found.test_scores(j) for j in range(len(regs))][middle][-1]
        return (found.solutions.coefficients[:, -1] @ found.test_images)[middle]

    def fitted(model):
        return lambda: scores_of(model.fit(*fold), test_pairs)

    # In turn: one weight, all weights by one path, and two solvers of the same SVM.
    ways = {
        ("ridge", "one weight"): fitted(ridge),
        ("ridge", "all weights"): partial(path, False),
        ("ridge", "all weights, every iterate"): partial(path, True),
        ("L2-SVM", "QMR"): fitted(KronSVM(reg=1.0, solver="qmr", product="sparse")),
        ("L2-SVM", "CG"): fitted(KronSVM(reg=1.0, solver="cg", product="sparse")),
    }
    rows, first = [], {}
    for (model, way), (scores, timing) in time_interleaved(ways).items():
        plain = first.setdefault(model, timing)
        row = {"model": model, "way": way, "n": len(train), **timing.columns()}
        row |= {"ratio": timing.seconds / plain.seconds, "busy": plain.busy or timing.busy}
        rows.append(row | {"auc": roc_auc(test_y, scores)})
    return pd.DataFrame(rows)
