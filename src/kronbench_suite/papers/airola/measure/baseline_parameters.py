"""Test AUC of the baselines by the parameter that they select.

Parameters
----------
methods : solver of each method, its parameters, and the grid that it is measured over
grids : values of each parameter that is measured
"""

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.evaluation import roc_auc
from kronbench.solvers import make_solver
from kronbench_suite.papers.airola.measure.method_comparison import splits
from kronbench_suite.runner.columns import Columns
from kronbench_suite.runner.seeds import generator

COLUMNS = Columns(
    key=("method", "fold", "n_neighbors", "reg"),
    repeats=("fold",),
)


def run(spec, data, rng):
    """One row for each fold, method and value of its parameter (Airola & Pahikkala, section 5.6).

    Splits and seeds are those of ``method_comparison``. ``over`` names the parameter of a method
    that takes the values of ``grids``.
    """
    rows = []
    for fold, pairs, y, test_set in tqdm(splits(spec, data), desc=data.name, unit="fold"):
        # The seed and the test set of each fold are those of table 6.
        seed = int(generator(spec["seed"], data.name, fold).integers(2**31))
        test, y_test = test_set()
        for name, entry in spec["methods"].items():
            # Each value of the parameter that section 5.6 selects is scored on the test set.
            over, grid = entry["over"], spec["grids"][entry["over"]]
            model = make_solver(entry["solver"], **entry["parameters"])
            if hasattr(model, "decision_path"):  # one search for all numbers of neighbours
                found = model.fit(pairs, y).decision_path(test, grid).T
            else:
                each = (model.set_params(**{over: value}, random_state=seed) for value in grid)
                found = (made.fit(pairs, y).decision_function(test) for made in each)
            for value, scores in zip(grid, found, strict=True):
                # A row has one column for each kind of parameter, and NaN in that of the others.
                empty = dict.fromkeys(spec["grids"], np.nan)
                place = {"method": name, "fold": fold, **empty, over: value}
                rows.append(place | {"auc": roc_auc(y_test, scores)})
    return pd.DataFrame(rows)
