"""How many coefficients of the L2-SVM are zero at its optimum."""

import numpy as np
import pandas as pd

from kronbench.models import KronSVM
from kronbench.papers.airola.measure.zero_shot import zero_shot_splits
from kronbench.runner.columns import Columns

COLUMNS = Columns()


def run(spec, data, rng):
    """One row: the share of zeros among the coefficients of ``n`` training pairs of a round."""
    pairs, y, splits = zero_shot_splits(spec, data, rng)
    some = rng.permutation(splits[spec["fold"]][0])[: spec["pairs"]]
    model = KronSVM(
        reg=spec["reg"], max_iter=500, max_inner=1000, solver="cg", tol=1e-10, product="sparse"
    )
    sizes = np.abs(model.fit(pairs[some], y[some]).dual_coef_)
    zeros = np.mean(sizes <= 1e-8 * sizes.max())
    return pd.DataFrame({"n": [len(some)], "zeros": [zeros]})
