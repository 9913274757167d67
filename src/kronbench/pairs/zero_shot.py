"""Zero-shot predictions for every task in turn, from the labels of all other tasks."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from kronbench.errors import InputError, check_positive
from kronbench.linalg.eigen import Spectrum, check_symmetric, kernel_spectrum
from kronbench.pairs.leave_one_out import ridge_leave_one_out


def two_step_zero_shot(
    K: np.ndarray | Spectrum,
    G: np.ndarray | Spectrum,
    Y: np.ndarray,
    across: np.ndarray,
    reg_rows: float,
    reg_cols: float,
) -> np.ndarray:
    """Two-step predictions (t, q) for new rows, each column from the labels of all others.

    ``TwoStepRidge`` trained q times without one task (Stock et al. 2016, Section 6.2), by the
    shortcut of the second step: O(m^3 + q^3 + m^2 q + t q (m + q)) for all columns together.

    Parameters
    ----------
    K : (m, m) array, or its full Spectrum
        Kernel of the training rows; with its eigenpairs other weights cost no O(m^3) again.
    G : (q, q) array, or its full Spectrum
        Kernel of the tasks.
    Y : (m, q) array
    across : (t, m) array
        Kernel values of the new rows with the training rows.
    reg_rows, reg_cols : float
        lambda_d, lambda_t > 0.

    Raises
    ------
    InputError
        Shapes do not fit, a value is not finite, or a weight is not positive.
    """
    reg_rows, reg_cols = check_positive(reg_rows, "reg_rows"), check_positive(reg_cols, "reg_cols")
    K, Y, across = _checked(K, G, Y, across)
    predicted = across @ _coefficients(K, Y, reg_rows)
    cols = _spectrum(G, "G")
    (left_out,) = ridge_leave_one_out(cols, np.ascontiguousarray(predicted.T), [reg_cols])
    return left_out.T


def kron_zero_shot(
    K: np.ndarray | Spectrum,
    G: np.ndarray | Spectrum,
    Y: np.ndarray,
    across: np.ndarray,
    reg: float,
) -> np.ndarray:
    """As ``two_step_zero_shot``, for ``CompleteKronRidge``.

    With K = U X U', the labels Y' u_a of direction a follow a ridge regression with the kernel
    x_a G, whose leave-one-task-out prediction is known in closed form; over x_a it is the
    coefficient of k' u_a. O(m^3 + q^3 + m^2 q + m q^2) for all columns together.

    Raises
    ------
    InputError
        As there.
    """
    reg = check_positive(reg, "reg")
    K, Y, across = _checked(K, G, Y, across)
    rows, cols = _spectrum(K, "K"), _spectrum(G, "G")
    kept = rows.values > 0
    x, U = rows.values[kept], rows.vectors[:, kept]
    inverse = 1.0 / (np.outer(x, cols.values) + reg)
    Z = U.T @ Y
    held_out = Z - (inverse * (Z @ cols.vectors)) @ cols.vectors.T / (inverse @ cols.squared.T)
    return (across @ U / x) @ held_out


def _spectrum(kernel, name):
    return kernel if isinstance(kernel, Spectrum) else kernel_spectrum(kernel, name)


def _coefficients(K, Y, reg):
    """(K + reg I)^-1 Y."""
    if isinstance(K, Spectrum):
        return K.vectors @ (K.coordinates(Y) / (K.values + reg)[:, None])
    check_symmetric(K, "K")
    system = K + reg * np.eye(len(K))
    try:
        factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        raise InputError(
            "K has eigenvalues below -reg_rows: give psd_part(K), or a larger reg_rows"
        ) from None
    return cho_solve(factor, Y)


def _checked(K, G, Y, across):
    """K, labels and kernel values in double precision, of shapes that fit."""
    if not isinstance(K, Spectrum):
        K = np.asarray(K, dtype=np.float64)
    Y, across = (np.asarray(matrix, dtype=np.float64) for matrix in (Y, across))
    m, q = (len(side.vectors if isinstance(side, Spectrum) else side) for side in (K, G))
    if Y.shape != (m, q) or across.ndim != 2 or across.shape[1] != m:
        raise InputError(
            f"Y has shape {Y.shape} and across {across.shape}: give {(m, q)}, a label for each "
            f"pair, and {m} kernel values for each new row"
        )
    if not (np.isfinite(Y).all() and np.isfinite(across).all()):
        raise InputError("Y or across holds NaN or infinite values: give finite numbers")
    return K, Y, across
