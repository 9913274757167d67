"""The dimensions of a training set of pairs, counted on a real fold."""

import numpy as np
import pandas as pd

from kronbench.papers.airola.measure.zero_shot import zero_shot_splits
from kronbench.runner.columns import Columns

COLUMNS = Columns()


def run(spec, data, rng):
    """One row: n, m, q, d, r of the training pairs of one round (Airola & Pahikkala, table 1).

    ``m`` and ``q`` count the vertices that occur in them; ``n_test`` the test pairs of the round,
    ``shared_start`` and ``shared_end`` the vertices that these share with the training pairs.
    """
    pairs, _, splits = zero_shot_splits(spec, data, rng)
    train, test = (pairs[part] for part in splits[spec["fold"]])
    row = {
        "n": len(train),
        "m": len(np.unique(train.rows)),
        "q": len(np.unique(train.cols)),
        "d": pairs.row_features.shape[1],
        "r": pairs.col_features.shape[1],
        "n_test": len(test),
        "shared_start": len(np.intersect1d(train.rows, test.rows)),
        "shared_end": len(np.intersect1d(train.cols, test.cols)),
    }
    return pd.DataFrame([row])
