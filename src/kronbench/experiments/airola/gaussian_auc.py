"""Test AUC of two SVMs with Gaussian kernels over folds, training sizes and weights."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.bench.columns import Columns, Parameter
from kronbench.bench.solvers import make_solver
from kronbench.datasets import Dataset
from kronbench.evaluation import roc_auc
from kronbench.experiments.airola.scaling import Folds

COLUMNS = Columns(
    key=("fold", "size", "method", "reg"),
    repeats=("fold",),
    counts=("n",),
    numbers=("auc", "over_weights"),
    values={
        "fold": (Parameter(("folds",)),),
        "size": (Parameter(("sizes", "*")),),
        "method": (Parameter(("solvers",)),),
        "reg": (Parameter(("regs",)),),
    },
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each fold, size, solver and weight (Airola & Pahikkala, section 5.3).

    Training sets are subsets of a fold's pairs, as in ``scaling``; nothing is timed. ``solvers``
    has for each name ``solver`` and ``parameters``, ``sizes`` its numbers of pairs.
    ``over_weights`` is the largest less the smallest ``auc`` over the weights, of one fold, size
    and solver.
    """
    problems = Folds(spec, data, rng)
    rows = []
    for fold in tqdm(problems.folds, desc=data.name, unit="fold"):
        test, y_test = problems.test(fold)
        for name, entry in spec["solvers"].items():
            for size in spec["sizes"][name]:
                pairs, y = problems.train(size, fold)
                areas = []
                for reg in spec["regs"]:
                    model = make_solver(entry["solver"], reg=reg, **entry["parameters"])
                    model.fit(pairs, y)
                    if hasattr(model, "to_vec_trick"):  # the same predictor, sooner
                        model = model.to_vec_trick()
                    areas.append(roc_auc(y_test, model.decision_function(test)))
                place = {"fold": fold, "size": size, "n": len(pairs), "method": name}
                place["over_weights"] = max(areas) - min(areas)
                rows += [
                    place | {"reg": float(reg), "auc": area}
                    for reg, area in zip(spec["regs"], areas, strict=True)
                ]
    return pd.DataFrame(rows)
