"""Which labels each approach to transfer learning is given, for a real split."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from kronbench.datasets import Dataset
from kronbench.datasets.drug_target import kernels
from kronbench.papers.stock.measure.transfer_learning_curves import Split
from kronbench.runner.columns import Columns

COLUMNS = Columns(
    key=("approach", "tasks", "position"),
    counts=("n_tasks", "protein"),
    texts=("role",),
    values={
        "approach": ("independent-task", "multi-task", "zero-shot", "almost zero-shot"),
        "tasks": ("auxiliary", "target"),
        "role": ("constant", "varying", "test", "none"),
    },
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each approach, protein and group of tasks (Stock et al. 2016, figure 6).

    Proteins stand in the order of the split of ``transfer_learning_curves``, its first repetition,
    the test proteins last; ``tasks`` is "auxiliary" or "target", ``n_tasks`` their number.
    ``role`` is "constant" (training labels whatever the size), "varying" (the first
    ``spec["size"]`` proteins), "test" or "none".
    """
    _, _, Y = kernels(data)
    split = Split.draw(spec, data, Y.shape, repetition=0)
    n_pool, n_test = len(split.pool), len(split.test)
    position = np.arange(n_pool + n_test)
    varying = np.where(position < spec["size"], "varying", "none")
    constant = np.where(position < n_pool, "constant", "none")
    nothing = np.full(len(position), "none")
    frames = []
    for approach, auxiliary, target in (
        ("independent-task", nothing, varying),
        ("multi-task", varying, varying),
        ("zero-shot", varying, nothing),
        ("almost zero-shot", constant, varying),
    ):
        target = np.where(position < n_pool, target, "test")
        for tasks, n_tasks, role in (
            ("auxiliary", Y.shape[1] - 1, auxiliary),
            ("target", 1, target),
        ):
            frames.append(
                pd.DataFrame(
                    {
                        "approach": approach,
                        "tasks": tasks,
                        "n_tasks": n_tasks,
                        "position": position,
                        "protein": np.concatenate([split.pool, split.test]),
                        "role": role,
                    }
                )
            )
    return pd.concat(frames, ignore_index=True)
