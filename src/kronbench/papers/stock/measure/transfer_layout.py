"""Which labels each approach to transfer learning is given, for a real split."""

import numpy as np
import pandas as pd

from kronbench.datasets.drug_target import kernels
from kronbench.papers.stock.measure.transfer_learning_curves import Split
from kronbench.runner.columns import Columns

COLUMNS = Columns(key=("approach", "tasks", "position"))


def run(spec, data, rng):
    """One row for each approach, protein and group of tasks (Stock et al. 2016, figure 6).

    Proteins stand in the order of the first split of ``transfer_learning_curves``, the test
    proteins last. ``role`` is "constant" (training labels whatever the size), "varying" (those of
    the first ``size`` proteins), "test" or "none".
    """
    _, _, Y = kernels(data)
    split = Split.draw(spec, data, Y.shape, repetition=0)
    proteins = np.concatenate([split.pool, split.test])
    position, n_pool = np.arange(len(proteins)), len(split.pool)
    varying = np.where(position < spec["size"], "varying", "none")
    constant = np.where(position < n_pool, "constant", "none")
    nothing = np.full(len(position), "none")
    approaches = {  # the labels of auxiliary tasks and of the target
        "independent-task": (nothing, varying),
        "multi-task": (varying, varying),
        "zero-shot": (varying, nothing),
        "almost zero-shot": (constant, varying),
    }
    frames = []
    for approach, (auxiliary, target) in approaches.items():
        target = np.where(position < n_pool, target, "test")
        for tasks, n_tasks, role in (
            ("auxiliary", Y.shape[1] - 1, auxiliary),
            ("target", 1, target),
        ):
            found = {"approach": approach, "tasks": tasks, "n_tasks": n_tasks}
            found |= {"position": position, "protein": proteins, "role": role}
            frames.append(pd.DataFrame(found))
    return pd.concat(frames, ignore_index=True)
