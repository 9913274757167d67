"""Gradients and Hessians of the losses against finite differences and the printed formulas.

Parameters
----------
n : number of scores
repetitions : number of times that scores and labels are drawn
"""

import numpy as np
import pandas as pd

from kronbench.pairs import LOSSES
from kronbench_suite.runner.columns import Columns

# Points keep this distance from the kinks of the hinge losses; differences take a smaller step,
# whose square and whose inverse times rounding are about equal.
_FROM_KINK = 0.01
_STEP = 1e-4

COLUMNS = Columns(
    key=("loss", "repetition"),
    repeats=("repetition",),
    rounding=(
        *("gradient_deviation", "hessian_deviation", "printed_deviation"),
        # as they are shown
        *("gradient against differences", "Hessian against differences", "against the formulas"),
    ),
)


def run(spec, data, rng):
    """One row for each loss and repetition (Airola & Pahikkala, table 2).

    Deviations of the gradient from central differences of the value, of a product with the Hessian
    from one of the gradient, and of all from the printed formulas: each the largest difference,
    relative to the largest entry or to 1.
    """
    n, rows = spec["n"], []
    for repetition in range(spec["repetitions"]):
        # Random labels, and scores that keep away from the kinks of the hinge losses.
        y = rng.choice([-1.0, 1.0], n)
        p = 2 * rng.standard_normal(n)
        near = np.abs(1 - y * p) < _FROM_KINK
        p[near] += y[near] * 2 * _FROM_KINK
        v = rng.standard_normal(n)
        printed = _printed(p, y)
        for name, loss in LOSSES.items():
            # Derivatives as they are programmed: the gradient, and the Hessian column by column.
            gradient = loss.gradient(p, y)
            hessian = np.column_stack([loss.hessian_product(p, y, unit) for unit in np.eye(n)])
            # Central differences of the value, and of the gradient along one random direction.
            slopes = [
                (loss.value(p + step, y) - loss.value(p - step, y)) / (2 * _STEP)
                for step in _STEP * np.eye(n)
            ]
            step = _STEP / np.abs(v).max()
            change = loss.gradient(p + step * v, y) - loss.gradient(p - step * v, y)
            product = loss.hessian_product(p, y, v)
            # The same three beside the formulas of table 2.
            ours = loss.value(p, y), gradient, hessian
            of_printed = [_deviation(*both) for both in zip(ours, printed[name], strict=True)]
            row = {"loss": name, "repetition": repetition, "n": n}
            row["gradient_deviation"] = _deviation(gradient, slopes)
            row["hessian_deviation"] = _deviation(product, change / (2 * step))
            row["printed_deviation"] = np.max(of_printed)  # not Python's max, which drops a NaN
            rows.append(row)
    return pd.DataFrame(rows)


def _deviation(ours, reference):
    return float(np.max(np.abs(ours - reference)) / max(1.0, np.max(np.abs(reference))))


def _printed(p, y):
    """Table 2: value, gradient and Hessian matrix of each loss."""
    n, margins = len(p), y * p
    inside, hinge, odds = margins < 1, np.maximum(0, 1 - margins), np.exp(margins)
    curvature = odds / (1 + odds) ** 2
    differences = (y[:, None] - p[:, None] - y + p) ** 2
    of_pairs = np.where(np.eye(n) > 0, n - 1.0, -1.0)
    return {
        "ridge": (np.sum((p - y) ** 2) / 2, p - y, np.eye(n)),
        "l1svm": (np.sum(hinge), np.where(inside, -y, 0), np.zeros((n, n))),
        "l2svm": (np.sum(hinge**2) / 2, np.where(inside, p - y, 0), np.diag(1.0 * inside)),
        "logistic": (np.sum(np.log(1 + np.exp(-margins))), -y / (1 + odds), np.diag(curvature)),
        "rankrls": (np.sum(differences) / 4, np.sum(y - p) + n * (p - y), of_pairs),
    }
