"""What the leave-one-out shortcuts leave out, read off from their own predictions."""

import numpy as np
import pandas as pd

from kronbench.datasets.drug_target import kernels
from kronbench.models import TwoStepRidge
from kronbench.papers.stock.measure.kernels import PRECOMPUTED
from kronbench.runner.columns import Columns

COLUMNS = Columns(key=("setting", "row", "col"))


def run(spec, data, rng):
    """One row for each setting and pair of a small label matrix (Stock et al. 2016, figure 3).

    ``influence`` is the coefficient of the pair's label in the prediction of ``spec["pair"]``.
    ``role`` is "train" where it is not zero; else "test" if the same pairs are left out to predict
    the pair itself, "unused" if not.
    """
    K, G, _ = kernels(data)
    m, q = spec["shape"]
    pair = np.ravel_multi_index(spec["pair"], (m, q))
    model = TwoStepRidge(reg_rows=spec["reg"], reg_cols=spec["reg"], **PRECOMPUTED)
    row, col = np.divmod(np.arange(m * q), q)
    frames = []
    for setting in "ABCD":
        # the coefficient of each label (column) in each prediction (row)
        influence = np.empty((m * q, m * q))
        for label, unit in enumerate(np.eye(m * q)):
            model.fit_matrix(K[:m, :m], G[:q, :q], unit.reshape(m, q))
            influence[:, label] = model.loo(setting).ravel()
        ignored = np.abs(influence) < 1e-9 * np.abs(influence).max()
        same = (ignored == ignored[pair]).all(axis=1)
        role = np.where(ignored[pair], np.where(same, "test", "unused"), "train")
        found = {"setting": setting, "row": row, "col": col}
        found |= {"role": role, "influence": influence[pair]}
        frames.append(pd.DataFrame(found))
    return pd.concat(frames, ignore_index=True)
