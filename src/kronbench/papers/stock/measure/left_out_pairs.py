"""What the leave-one-out shortcuts leave out, read off from their own predictions."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from kronbench.datasets import Dataset
from kronbench.datasets.drug_target import kernels
from kronbench.models import TwoStepRidge
from kronbench.runner.columns import Columns

COLUMNS = Columns(
    key=("setting", "row", "col"),
    numbers=("influence",),
    texts=("role",),
    values={"setting": ("A", "B", "C", "D"), "role": ("train", "test", "unused")},
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each setting and pair of a small label matrix (Stock et al. 2016, figure 3).

    The prediction F_ij is linear in the labels; ``influence`` is the coefficient of the label of
    (row, col) in the prediction of ``spec["pair"]``, from the shortcut applied to unit labels.
    ``role`` is "train" where it is not zero; else the pair is left out, and it is "test" if the
    same pairs are left out to predict it, "unused" if not.
    """
    K, G, _ = kernels(data)
    m, q = spec["shape"]
    K, G = K[:m, :m], G[:q, :q]
    frames = []
    for setting in "ABCD":
        influence = _influence(setting, K, G, spec["reg"])
        ignored = np.abs(influence) < 1e-9 * np.abs(influence).max()
        pair = np.ravel_multi_index(spec["pair"], (m, q))
        same = (ignored == ignored[pair]).all(axis=1)
        role = np.where(ignored[pair], np.where(same, "test", "unused"), "train")
        row, col = np.divmod(np.arange(m * q), q)
        frames.append(
            pd.DataFrame(
                {
                    "setting": setting,
                    "row": row,
                    "col": col,
                    "role": role,
                    "influence": influence[pair],
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def _influence(setting, K, G, reg):
    """Coefficient of each label (column) in each leave-one-out prediction (row)."""
    m, q = len(K), len(G)
    columns = []
    for pair in range(m * q):
        unit = np.zeros(m * q)
        unit[pair] = 1.0
        model = TwoStepRidge(
            reg_rows=reg, reg_cols=reg, row_kernel="precomputed", col_kernel="precomputed"
        )
        columns.append(model.fit_matrix(K, G, unit.reshape(m, q)).loo(setting).ravel())
    return np.column_stack(columns)
