"""Learning curves of transfer between tasks: what labels of other drugs are worth for one drug."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.datasets.drug_target import kernels
from kronbench.evaluation import concordance_index, macro_auc, micro_auc
from kronbench.experiments.seeds import generator
from kronbench.models import CompleteKronRidge, IndependentRidge, TwoStepRidge

PRECOMPUTED = {"row_kernel": "precomputed", "col_kernel": "precomputed"}


def run(spec, data, rng):
    """One row for each repetition, training size and curve (Stock et al. 2016, figure 7).

    Every drug in turn is the target task, all other drugs are auxiliary. ``score`` is the mean
    over target tasks of the AUC (binary labels) or concordance index over the test proteins of
    their own split, over the tasks for which it is defined. ``approach`` with ``method`` and
    ``selection`` (the leave-one-out setting in which weights were chosen) names a curve:

    - independent-task: ridge regression on ``size`` labels of the target task;
    - multi-task: ``size`` proteins with the labels of all tasks, target included;
    - zero-shot: ``size`` proteins with the labels of all tasks but the target;
    - almost zero-shot: ``size`` labels of the target task, and those of the other tasks for all
      proteins of the pool, with which the target's missing labels are imputed.

    Weights of pairwise models are those of the largest AUC over left-out pairs where labels are
    binary, of the least squared error where they are not; those of a ridge regression for one task
    always of the least squared error, since a task with one class of labels has no AUC. For the
    target tasks of one of ``task_folds`` folds they are chosen on the tasks of the other folds:
    in zero-shot learning nothing has seen a label of the target task.
    """
    K, G, Y = kernels(data)
    sizes = spec["sizes"][data.name]
    rows = []
    for repetition in tqdm(range(spec["repetitions"]), desc=data.name, unit="repetition"):
        split = Split.draw(spec, data, repetition)
        task = Transfer(K, G, Y, split, np.asarray(spec["regs"], dtype=float))
        for size in sizes:
            for approach, method, selection, F in task.predictions(size):
                rows.append(
                    {
                        "repetition": repetition,
                        "size": size,
                        "approach": approach,
                        "method": method,
                        "selection": selection,
                        "score": task.score(F),
                    }
                )
    return pd.DataFrame(rows)
