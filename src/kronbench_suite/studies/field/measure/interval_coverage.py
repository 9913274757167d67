"""How many test labels lie in prediction intervals, by what is new in a pair.

Parameters
----------
draws : number of random draws of vertices
vertices : most rows and most columns of a draw, of which a quarter is new
held_out : share of the pairs of known vertices that do not train
reg : regularization weight
level : level of the intervals
"""

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.datasets.drug_target import affinities, unit_kernel
from kronbench.own_pairs.prediction_intervals import left_out, radius
from kronbench.own_pairs.recipe import Recipe
from kronbench.pairs import PairData
from kronbench_suite.runner.columns import Columns

COLUMNS = Columns(key=("setting", "errors of", "draw"), repeats=("draw",))


def run(spec, data, rng):
    """One row for each draw, setting of the test pairs, and setting whose errors give the radius.

    "usual" are the errors of pairs whose vertices are known (A), "own" those of the same setting.
    """
    kernels = {"row_kernel": "precomputed", "col_kernel": "precomputed"}
    recipe, table = Recipe("KronRidge", {**kernels, "reg": spec["reg"]}), []
    K, G = (unit_kernel(data[f"{side}_similarity"]) for side in ("drug", "target"))
    for draw in tqdm(range(spec["draws"]), data.name, unit="draw"):
        # A part of the vertices in a random order; the first quarter of each side is new.
        sizes = zip((len(K), len(G)), spec["vertices"], strict=True)
        rows, cols = (rng.permutation(size)[:most] for size, most in sizes)
        Y = affinities(data)[np.ix_(rows, cols)]
        X = PairData(K[np.ix_(rows, rows)], G[np.ix_(cols, cols)], *np.nonzero(np.isfinite(Y)))
        y, new = Y[X.rows, X.cols], (len(rows) // 4 > X.rows, len(cols) // 4 > X.cols)
        setting = np.array([*"ABCD"])[new[0] + 2 * new[1]]
        trains = (setting == "A") & (rng.random(len(y)) >= spec["held_out"])
        fitted = recipe.fit(X[trains], y[trains])
        missed = np.abs(fitted.scores(X) - y)
        errors = {of: left_out(recipe, fitted, X[trains], y[trains], of) for of in "ABCD"}
        for of in np.unique(setting[~trains]).tolist():
            for name, source in (("usual", "A"), ("own", of)):
                half = radius(errors, source, spec["level"])
                row = {"setting": of, "errors of": name, "draw": draw, "width": 2 * half}
                test = ~trains & (setting == of)
                table.append({**row, "coverage": np.mean(missed[test] <= half), "n": test.sum()})
    return pd.DataFrame(table)
