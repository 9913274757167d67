"""What shared and saved products buy: a whole path of ridge weights, a symmetric inner solver."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from kronbench.datasets import Dataset
from kronbench.datasets.drug_target import labelled_pairs
from kronbench.evaluation import VertexDisjointKFold, roc_auc
from kronbench.models import KronRidge, KronSVM
from kronbench.runner.clock import in_turn
from kronbench.runner.columns import TIMING, Columns
from kronbench.runner.seeds import generator

COLUMNS = TIMING | Columns(
    key=("model", "way"),
    ratios_of_clock=("ratio",),
    counts=("n",),
    numbers=("auc",),
    values={
        "model": ("ridge", "L2-SVM"),
        "way": ("one weight", "all weights", "all weights, every iterate", "QMR", "CG"),
    },
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """A row for each way: wall seconds, processor seconds, AUC on one fold; ways in turn.

    ``ratio`` is over the first way of the same model. "all weights" has the test scores of the
    last iterate for each of ``regs``, "every iterate" those of all; its AUC is at the weight of
    "one weight".
    """
    pairs, y = labelled_pairs(
        data, rng=generator(spec["seed"], "pairs", data.name), fraction=spec["fraction"]
    )
    splits = list(VertexDisjointKFold(random_state=int(rng.integers(2**31))).split(pairs, y))
    train, test = splits[spec["fold"]]
    train_pairs, train_y, test_pairs, test_y = pairs[train], y[train], pairs[test], y[test]
    regs = spec["regs"]
    middle = len(regs) // 2
    ridge = KronRidge(
        reg=regs[middle], solver="minres", max_iter=spec["iterations"], tol=0, product="sparse"
    )

    def one_weight():
        return ridge.fit(train_pairs, train_y).decision_function(test_pairs)

    def path():
        found = ridge.path(train_pairs, train_y, regs, X_test=test_pairs)
        return (found.solutions.coefficients[:, -1] @ found.test_images)[middle]

    def whole_path():
        found = ridge.path(train_pairs, train_y, regs, X_test=test_pairs)
        return [found.test_scores(j) for j in range(len(regs))][middle][-1]

    def svm(solver):
        model = KronSVM(reg=1.0, solver=solver, product="sparse")
        return lambda: model.fit(train_pairs, train_y).decision_function(test_pairs)

    # The same way to make products in all of them, so that the AUC is not that of a machine.
    ways = [
        ("ridge", "one weight", one_weight),
        ("ridge", "all weights", path),
        ("ridge", "all weights, every iterate", whole_path),
        ("L2-SVM", "QMR", svm("qmr")),
        ("L2-SVM", "CG", svm("cg")),
    ]
    found = in_turn({(model, way): solve for model, way, solve in ways})
    rows, first = [], {}
    for (model, way), (scores, timing) in found.items():
        seconds, busy = first.setdefault(model, (timing.seconds, timing.busy))
        row = {"model": model, "way": way, "n": len(train_pairs), **timing.columns()}
        row |= {"ratio": timing.seconds / seconds, "busy": busy or timing.busy}
        rows.append(row | {"auc": roc_auc(test_y, scores)})
    return pd.DataFrame(rows)
