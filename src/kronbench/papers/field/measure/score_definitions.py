"""One set of predictions, every definition of a score that is in use."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from kronbench.datasets import Dataset
from kronbench.datasets.drug_target import affinities
from kronbench.evaluation import (
    AFFINITY_SCORES,
    affinity_scores,
    concordance_index,
    margin_scores,
)
from kronbench.models import KronRidge
from kronbench.pairs import PairData
from kronbench.papers.field.measure.inputs import unit_kernel
from kronbench.runner.columns import Columns

COLUMNS = Columns(
    key=("predictions", "score"),
    counts=("n", "spelled_otherwise"),
    numbers=("value",),
    texts=("family", "definition"),
    values={
        "predictions": (
            *(f"MDeePred, model {k}" for k in (1, 2, 3, 4, 5)),
            *("KronRidge", "row and column effects"),
        ),
        "family": ("concordance", "rm2", "area", "error"),
    },
)

_REVERSED = "ci_later_reversed"
_DEFINITIONS = AFFINITY_SCORES | {_REVERSED: "get_cindex, of the file in the reverse order"}
_FAMILIES = {"ci": "concordance", "in": "concordance", "rm": "rm2", "au": "area", "ms": "error"}


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each set of predictions and each score of ``AFFINITY_SCORES``.

    And one for a score over later pairs, of the file in the reverse order. The test pairs are
    those of the stored predictions, each in its order; all others train ours:
    ``KronRidge`` with ``ridge`` parameters on ``kernels``, and row and column effects alone.
    ``definition`` says what the score is, ``family`` under which name it is quoted.
    """
    Y = affinities(data)
    known = np.isfinite(Y)
    stored = {}
    if "predictions" in data.arrays:
        names = ("predictions", "predicted_rows", "predicted_cols", "spelled_otherwise")
        for k, block in enumerate(zip(*(data[name] for name in names), strict=True), 1):
            stored[f"MDeePred, model {k}"] = block
        rows, cols = data["predicted_rows"][0], data["predicted_cols"][0]
    else:  # a stand-in: nothing is stored of it
        rows, cols = (side[:: spec["stand_in_step"]] for side in np.nonzero(known))
    known[rows, cols] = False
    for name, predicted in _ours(data, Y, np.nonzero(known), (rows, cols), spec).items():
        stored[name] = (predicted, rows, cols, np.zeros(len(rows), bool))
    frames = []
    for name, (predicted, rows, cols, other_spelling) in stored.items():
        y = Y[rows, cols]
        found = affinity_scores(y, predicted, rows, cols, spec["positive_above"])
        found[_REVERSED] = concordance_index(y[::-1], predicted[::-1], pairs="later")
        frames.append(
            pd.DataFrame(
                {
                    "predictions": name,
                    "score": list(found),
                    "family": [_FAMILIES[score[:2]] for score in found],
                    "definition": [_DEFINITIONS[score] for score in found],
                    "value": list(found.values()),
                    "n": len(rows),
                    "spelled_otherwise": int(other_spelling.sum()),
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def _ours(data, Y, train, test, spec):
    kernels = [unit_kernel(data[name]) for name in spec["kernels"]]
    X, X_test = PairData(*kernels, *train), PairData(*kernels, *test)
    y = Y[train]
    model = KronRidge(
        row_kernel="precomputed", col_kernel="precomputed", solver="minres", **spec["ridge"]
    )
    return {
        "KronRidge": model.fit(X, y - y.mean()).predict(X_test) + y.mean(),
        "row and column effects": margin_scores(X, y, X_test),
    }
