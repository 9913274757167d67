"""Zero-shot predictions for every task in turn, from the labels of all other tasks.

Both functions predict (t, q) labels of new rows, whose kernel values with the training rows are
``across`` (t, m). The spectra of the kernels of rows and of tasks are full.
"""

from __future__ import annotations

import numpy as np

from kronbench.linalg.eigen import Spectrum
from kronbench.pairs.leave_one_out import ridge_leave_one_out


def two_step_zero_shot(
    rows: Spectrum,
    tasks: Spectrum,
    Y: np.ndarray,
    across: np.ndarray,
    reg_rows: float,
    reg_cols: float,
) -> np.ndarray:
    """``TwoStepRidge`` trained q times without one task (Stock et al. 2016, Section 6.2).

    The shortcut of the second step gives all columns together, O(m^2 q + t q (m + q)).
    """
    coef = rows.vectors @ (rows.coordinates(Y) / (rows.values + reg_rows)[:, None])
    predicted = across @ coef
    (left_out,) = ridge_leave_one_out(
        tasks, np.ascontiguousarray(predicted.T), np.array([reg_cols])
    )
    return left_out.T


def kron_zero_shot(
    rows: Spectrum, tasks: Spectrum, Y: np.ndarray, across: np.ndarray, reg: float
) -> np.ndarray:
    """The same of ``CompleteKronRidge``.

    With K = U X U', the labels Y' u_a of direction a follow a ridge regression with the kernel
    x_a G, whose leave-one-task-out prediction is known in closed form; over x_a it is the
    coefficient of k' u_a. O(m^2 q + m q^2) for all columns together.
    """
    kept = rows.values > 0
    x, U = rows.values[kept], rows.vectors[:, kept]
    inverse = 1.0 / (np.outer(x, tasks.values) + reg)
    Z = U.T @ Y
    held_out = Z - (inverse * (Z @ tasks.vectors)) @ tasks.vectors.T / (inverse @ tasks.squared.T)
    return (across @ U / x) @ held_out
