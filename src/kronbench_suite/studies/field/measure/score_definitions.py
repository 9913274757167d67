"""One set of predictions, every definition of a score that is in use.

Parameters
----------
kernels : arrays of the kernels
ridge : parameters of the model
positive_above : affinity above which a pair is positive
stand_in_step : step between test pairs, where no fold can be had
"""

import numpy as np
import pandas as pd

from kronbench.datasets.drug_target import affinities, unit_kernel
from kronbench.evaluation import (
    AFFINITY_SCORES,
    additive_scores,
    affinity_scores,
    concordance_index,
)
from kronbench.models import KronRidge
from kronbench.pairs import PairData
from kronbench_suite.runner.columns import Columns

COLUMNS = Columns(key=("predictions", "score"))

_REVERSED = "ci_later_reversed"
_DEFINITIONS = AFFINITY_SCORES | {_REVERSED: "get_cindex, of the file in the reverse order"}
_FAMILIES = {"ci": "concordance", "in": "concordance", "rm": "rm2", "au": "area", "ms": "error"}


def run(spec, data, rng):
    """One row for each set of predictions and each score of ``AFFINITY_SCORES``.

    The test pairs are those of the stored predictions, each in its order; all others train ours.
    ``family`` is the name under which a score is quoted.
    """
    Y = affinities(data)
    known = np.isfinite(Y)
    # Predictions that a publication stores, on test pairs in its own order.
    stored = {}
    if "predictions" in data.arrays:
        names = ("predictions", "predicted_rows", "predicted_cols")
        for k, block in enumerate(zip(*(data[name] for name in names), strict=True), 1):
            stored[f"MDeePred, model {k}"] = block
        rows, cols = data["predicted_rows"][0], data["predicted_cols"][0]
    else:  # a stand-in: nothing is stored of it
        rows, cols = (side[:: spec["stand_in_step"]] for side in np.nonzero(known))
    # All other pairs train our model and the additive baseline.
    known[rows, cols] = False
    kernels = [unit_kernel(data[name]) for name in spec["kernels"]]
    train, test = np.nonzero(known), (rows, cols)
    X, X_test, y = PairData(*kernels, *train), PairData(*kernels, *test), Y[train]
    ridge = KronRidge(
        row_kernel="precomputed", col_kernel="precomputed", solver="minres", **spec["ridge"]
    ).fit(X, y - y.mean())
    stored["KronRidge"] = (ridge.predict(X_test) + y.mean(), *test)
    stored["row and column effects"] = (additive_scores(X, y, X_test), *test)
    table = []
    for name, (predicted, *pairs) in stored.items():
        # Every definition on the same predictions, and one of them in the reverse order.
        y = Y[tuple(pairs)]
        found = affinity_scores(y, predicted, *pairs, spec["positive_above"])
        found[_REVERSED] = concordance_index(y[::-1], predicted[::-1], pairs="later")
        for score, value in found.items():
            row = {"predictions": name, "score": score, "value": value, "n": len(y)}
            said = {"family": _FAMILIES[score[:2]], "definition": _DEFINITIONS[score]}
            table.append(row | said)
    return pd.DataFrame(table)
