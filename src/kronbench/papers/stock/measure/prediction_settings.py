"""Which unlabelled pairs belong to which prediction setting, for a real label matrix."""

import numpy as np
import pandas as pd

from kronbench.datasets.drug_target import kernels
from kronbench.runner.columns import Columns

COLUMNS = Columns(key=("row", "col"))


def run(spec, data, rng):
    """One row for each pair: position, role, whether it interacts (Stock et al. 2016, figure 1).

    ``role`` is "train", or the setting A (no label, both vertices known), B (new row), C (new
    column) or D (both new); new vertices come last.
    """
    _, _, Y = kernels(data)
    m, q = Y.shape
    known_row = np.arange(m) < m - spec["new_targets"]
    known_col = np.arange(q) < q - spec["new_drugs"]
    of_known, of_new = np.where(known_col, "train", "C"), np.where(known_col, "B", "D")
    role = np.where(known_row[:, None], of_known, of_new)
    role[(role == "train") & (rng.random(Y.shape) < spec["withheld"])] = "A"
    shuffled = Y[np.ix_(rng.permutation(m), rng.permutation(q))]
    row, col = np.divmod(np.arange(m * q), q)
    return pd.DataFrame(
        {"row": row, "col": col, "role": role.ravel(), "interacts": shuffled.ravel() > 0}
    )
