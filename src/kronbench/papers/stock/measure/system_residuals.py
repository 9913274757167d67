"""Four ways to learn from complete pairs, each in its own equation."""

import numpy as np
import pandas as pd

from kronbench.datasets.drug_target import kernels
from kronbench.models import CompleteKronRidge, IndependentRidge, TwoStepRidge
from kronbench.papers.stock.measure.kernels import PRECOMPUTED
from kronbench.runner.columns import Columns

COLUMNS = Columns(key=("method",))


def run(spec, data, rng):
    """One row for each method (Stock et al. 2016, table 3.3).

    ``residual`` is that of the system for the dual coefficients, of least squares where it has no
    solution; ``deviation`` that of the printed prediction function from the model's predictions.
    """
    K, G, Y = kernels(data)
    reg, reg_cols = spec["reg"], spec["reg_cols"]
    independent = IndependentRidge(reg=reg, row_kernel="precomputed").fit_matrix(K, None, Y)
    kronecker = CompleteKronRidge(reg=reg, **PRECOMPUTED).fit_matrix(K, G, Y)
    ordinary = CompleteKronRidge(reg=0.0, **PRECOMPUTED).fit_matrix(K, G, Y)
    two_step = TwoStepRidge(reg_rows=reg, reg_cols=reg_cols, **PRECOMPUTED).fit_matrix(K, G, Y)
    A, B, C, D = (model.dual_coef_ for model in (independent, kronecker, ordinary, two_step))
    rows_solved = K @ D + reg * D
    # left and right side of the system, printed function, predictions of the model
    methods = {
        "independent-task": (K @ A + reg * A, Y, K @ A, independent.predict_matrix(K)),
        "Kronecker kernel": (
            *(K @ B @ G + reg * B, Y),
            *(K @ B @ G, kronecker.predict_matrix(K, G)),
        ),
        "ordinary Kronecker least squares": (
            *(K @ (K @ C @ G) @ G, K @ Y @ G),
            *(K @ C @ G, ordinary.predict_matrix(K, G)),
        ),
        "two-step": (
            *(rows_solved @ G + reg_cols * rows_solved, Y),
            *(K @ D @ G, two_step.predict_matrix(K, G)),
        ),
    }
    return pd.DataFrame(
        {
            "method": method,
            "residual": np.linalg.norm(left - right) / np.linalg.norm(right),
            "deviation": np.abs(printed - predicted).max() / np.abs(predicted).max(),
        }
        for method, (left, right, printed, predicted) in methods.items()
    )
