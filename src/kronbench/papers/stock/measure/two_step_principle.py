"""Both steps of two-step ridge regression for one new target and one new drug."""

import numpy as np
import pandas as pd

from kronbench.datasets.drug_target import kernels
from kronbench.models import IndependentRidge, TwoStepRidge
from kronbench.papers.stock.measure.kernels import PRECOMPUTED
from kronbench.runner.columns import Columns

COLUMNS = Columns(key=("matrix", "row", "col"))


def run(spec, data, rng):
    """One row for each entry of each matrix that takes part (Stock et al. 2016, figure 2).

    An interacting pair, drawn at random, is new in both vertices. "step 1" is the new target's
    predictions for the known drugs (Eq. 10), "step 2" the new pair, "direct" the same by Eq. 11.
    """
    K, G, Y = kernels(data)
    reg, reg_cols = spec["reg"], spec["reg_cols"]
    i, j = rng.permutation(np.argwhere(Y > 0))[0]
    rows, cols = np.delete(np.arange(len(K)), i), np.delete(np.arange(len(G)), j)
    K_train, G_train, Y_train = K[np.ix_(rows, rows)], G[np.ix_(cols, cols)], Y[np.ix_(rows, cols)]
    k, g = K[i : i + 1, rows], G[j : j + 1, cols]
    first = IndependentRidge(reg=reg, row_kernel="precomputed").fit_matrix(K_train, None, Y_train)
    virtual = first.predict_matrix(k)
    second = IndependentRidge(reg=reg_cols, row_kernel="precomputed")
    both = TwoStepRidge(reg_rows=reg, reg_cols=reg_cols, **PRECOMPUTED)
    matrices = {"K": K_train, "G": G_train, "Y": Y_train, "k": k, "g": g}
    matrices |= {
        "step 1": virtual,
        "step 2": second.fit_matrix(G_train, None, virtual.T).predict_matrix(g),
        "label": Y[i : i + 1, j : j + 1],
        "direct": both.fit_matrix(K_train, G_train, Y_train).predict_matrix(k, g),
    }
    frames = []
    for name, matrix in matrices.items():
        row, col = np.divmod(np.arange(matrix.size), matrix.shape[1])
        frames.append(
            pd.DataFrame({"row": row, "col": col, "value": matrix.ravel(), "matrix": name})
        )
    return pd.concat(frames, ignore_index=True)
