"""Test AUC of two SVMs with Gaussian kernels over folds, training sizes and weights."""

from functools import partial

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.evaluation import roc_auc
from kronbench.papers.airola.measure.libsvm_kernel import LibSVMKernel
from kronbench.papers.airola.measure.zero_shot import Folds
from kronbench.runner.columns import Columns
from kronbench.runner.solvers import make_solver, scores_of

COLUMNS = Columns(
    key=("fold", "size", "method", "reg"),
    repeats=("fold",),
)


def run(spec, data, rng):
    """One row for each fold, size, solver and weight (Airola & Pahikkala, section 5.3).

    A solver with ``precompute`` is LibSVM, with kernel values that are made once for all subsets
    of a fold. ``over_weights`` is the largest less the smallest ``auc`` over the weights.
    """
    problems = Folds(spec, data, rng)
    kernels = {
        name: LibSVMKernel(entry["parameters"], max(spec["sizes"][name]))
        for name, entry in spec["solvers"].items()
        if entry["parameters"].get("precompute")
    }
    rows = []
    for fold in tqdm(problems.folds, desc=data.name, unit="fold"):
        test, y_test = problems.test(fold)
        for name, entry in spec["solvers"].items():
            sizes = spec["sizes"][name]
            if name in kernels:
                train = _on_kernel(kernels[name], problems, fold, max(sizes))
            else:
                train = partial(_train, entry, problems, fold)
            for size in sizes:
                place = {"fold": fold, "size": size, "n": problems.n_train(size, fold)}
                models = (train(size, reg) for reg in spec["regs"])
                areas = [roc_auc(y_test, scores_of(model, test)) for model in models]
                place |= {"method": name, "over_weights": max(areas) - min(areas)}
                for reg, area in zip(spec["regs"], areas, strict=True):
                    rows.append(place | {"reg": float(reg), "auc": area})
    return pd.DataFrame(rows)


def _train(entry, problems, fold, size, reg):
    pairs, y = problems.train(size, fold)
    model = make_solver(entry["solver"], reg=reg, **entry["parameters"]).fit(pairs, y)
    # the same predictor, sooner
    return model.to_vec_trick() if hasattr(model, "to_vec_trick") else model


def _on_kernel(kernel, problems, fold, largest):
    index = problems.train_index(largest, fold)
    kernel.take(problems.pairs[index])

    def train(size, reg):
        subset = problems.train_index(size, fold)
        return kernel.train(np.searchsorted(index, subset), problems.y[subset], reg)

    return train
