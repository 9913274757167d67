"""How informative Gaussian kernels are: the entries off the diagonal, by the width."""

import numpy as np
import pandas as pd

from kronbench.datasets.drug_target import labelled_pairs
from kronbench.linalg import gram
from kronbench.runner.columns import Columns

COLUMNS = Columns(
    key=("side", "gamma"),
)


def run(spec, data, rng):
    """One row for each side and each of ``gammas`` (Airola & Pahikkala, section 5.3).

    ``mean`` is that of the entries exp(-gamma ||x - x'||^2) off the diagonal of the kernel matrix
    of all vertices; ``low`` and ``high`` are their 5 % and 95 % quantiles.
    """
    pairs, _ = labelled_pairs(data, rng, 1.0)
    rows = []
    for side, features in (("start", pairs.row_features), ("end", pairs.col_features)):
        for gamma in spec["gammas"]:
            K = gram(features, kernel="gaussian", gamma=gamma)
            entries = K[np.triu_indices(len(K), 1)]
            low, high = np.quantile(entries, (0.05, 0.95))
            place = {"side": side, "gamma": float(gamma), "vertices": len(K)}
            rows.append(place | {"mean": entries.mean(), "low": low, "high": high})
    return pd.DataFrame(rows)
