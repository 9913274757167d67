"""Share of points that their neighbours get right, by the number of neighbours.

Parameters
----------
neighbours : numbers of neighbours
"""

import pandas as pd
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kronbench_suite.runner.columns import Columns

from .left_out import accuracy

COLUMNS = Columns(
    key=("neighbours",),
)


def run(spec, data, rng):
    """One row for each number of neighbours."""
    rows = []
    for k in spec["neighbours"]:
        model = make_pipeline(StandardScaler(), KNeighborsClassifier(k))
        rows.append({"neighbours": k, "accuracy": accuracy(model, data)})
    return pd.DataFrame(rows)
