"""The drug-target data of Stock et al. 2016, from the folder that KRONBENCH_MIRROR names."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kronbench.evaluation import macro_auc, micro_auc
from kronbench.linalg import psd_part


def yamanishi(name):
    """Target kernel, drug kernel, and the (targets, drugs) matrix of interactions."""
    mirror = os.environ.get("KRONBENCH_MIRROR")
    if not mirror or not Path(mirror).is_dir():
        pytest.skip("KRONBENCH_MIRROR names no folder with the real data")

    def table(part):
        path = Path(mirror, "yamanishi", f"{name}_{part}.txt")
        path = path if path.exists() else path.with_name(path.name + ".gz")
        return pd.read_csv(path, sep="\t", index_col=0).to_numpy(np.float64)

    return psd_part(table("simmat_dg")), psd_part(table("simmat_dc")), table("admat_dgc")


def labels_for_classification(interactions):
    """N/N+ for interactions and -N/N- for the rest."""
    n, positive = interactions.size, interactions.sum()
    return np.where(interactions > 0, n / positive, -n / (n - positive))


def best_area(setting, interactions, grid):
    """The best area of ``grid(setting, score=...)``, measured as in Section 6.1."""

    def score(F):
        if setting in "AD":
            return micro_auc(interactions, F)
        return macro_auc(interactions, F, axis=1 if setting == "B" else 0)

    return grid(setting, score=score).max()
