"""Four ways to learn from complete pairs: the residual of each one's own equation."""

import numpy as np
import pandas as pd

from kronbench.datasets.drug_target import kernels
from kronbench.models import CompleteKronRidge, IndependentRidge, TwoStepRidge

PRECOMPUTED = {"row_kernel": "precomputed", "col_kernel": "precomputed"}


def run(spec, data, rng):
    """One row for each method (Stock et al. 2016, table 3.3), with weights ``reg``, ``reg_cols``.

    ``residual`` is that of the system for the dual coefficients A, of least squares where the
    system has no solution, relative to its right-hand side; ``deviation`` is the largest
    difference between the printed prediction function, evaluated with A, and what the fitted model
    predicts for its training vertices, relative to the largest prediction.
    """
    K, G, Y = kernels(data)
    reg, reg_cols = spec["reg"], spec["reg_cols"]
    independent = IndependentRidge(reg, row_kernel="precomputed").fit_matrix(K, None, Y)
    kronecker = CompleteKronRidge(reg, **PRECOMPUTED).fit_matrix(K, G, Y)
    ordinary = CompleteKronRidge(0.0, **PRECOMPUTED).fit_matrix(K, G, Y)
    two_step = TwoStepRidge(reg, reg_cols, **PRECOMPUTED).fit_matrix(K, G, Y)
    A, B, C, D = (model.dual_coef_ for model in (independent, kronecker, ordinary, two_step))
    rows = [
        ("independent-task", K @ A + reg * A, Y, K @ A, independent.predict_matrix(K)),
        ("Kronecker kernel", K @ B @ G + reg * B, Y, K @ B @ G, kronecker.predict_matrix(K, G)),
        (
            "ordinary Kronecker least squares",
            K @ (K @ C @ G) @ G,
            K @ Y @ G,
            K @ C @ G,
            ordinary.predict_matrix(K, G),
        ),
        (
            "two-step",
            (K @ D + reg * D) @ G + reg_cols * (K @ D + reg * D),
            Y,
            K @ D @ G,
            two_step.predict_matrix(K, G),
        ),
    ]
    return pd.DataFrame(
        {
            "method": name,
            "residual": np.linalg.norm(left - right) / np.linalg.norm(right),
            "deviation": np.abs(printed - predicted).max() / np.abs(predicted).max(),
        }
        for name, left, right, printed, predicted in rows
    )
