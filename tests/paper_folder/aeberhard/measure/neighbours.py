"""Share of points that their neighbours get right, by the number of neighbours.

Parameters
----------
solver : classifier by its neighbours
neighbours : numbers of neighbours
"""

import pandas as pd

from kronbench.solvers import make_solver
from kronbench_suite.runner.columns import Columns

from .left_out import accuracy

COLUMNS = Columns(
    key=("neighbours",),
)


def run(spec, data, rng):
    """One row for each number of neighbours."""
    rows = []
    for k in spec["neighbours"]:
        model = make_solver(spec["solver"], n_neighbors=k)
        rows.append({"neighbours": k, "accuracy": accuracy(model, data)})
    return pd.DataFrame(rows)
