"""Share of points that three classifiers get right, each point left out once.

Parameters
----------
methods : keys of METHODS
"""

import pandas as pd
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.model_selection import LeaveOneOut, cross_val_score

from kronbench_suite.runner.columns import Columns

from ..solvers.neighbours import ScaledNeighbours

COLUMNS = Columns(key=("method",))

METHODS = {
    "LDA": LinearDiscriminantAnalysis(),
    "QDA": QuadraticDiscriminantAnalysis(),
    "1-NN": ScaledNeighbours(1),
}


def run(spec, data, rng):
    """One row for each method: its accuracy in per cent."""
    return pd.DataFrame(
        {"method": name, "accuracy": accuracy(METHODS[name], data)} for name in spec["methods"]
    )


def accuracy(model, data):
    """Per cent of right classes, each from the other points."""
    return 100 * cross_val_score(model, data["X"], data["y"], cv=LeaveOneOut()).mean()
