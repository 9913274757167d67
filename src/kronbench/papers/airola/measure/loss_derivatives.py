"""Gradients and Hessians of the losses against finite differences and the printed formulas."""

import numpy as np
import pandas as pd

from kronbench.pairs import LOSSES
from kronbench.runner.columns import Columns

# Points keep this distance from the kinks of the hinge losses; differences take a smaller step,
# whose square and whose inverse times rounding are about equal.
_FROM_KINK = 0.01
_STEP = 1e-4

COLUMNS = Columns(
    key=("loss", "draw"),
    repeats=("draw",),
)


def run(spec, data, rng):
    """One row for each loss and draw of n predictions and labels (Airola & Pahikkala, table 2).

    Deviations of the gradient from central differences of the value, of a product with the Hessian
    from one of the gradient, and of all from the printed formulas: each the largest difference,
    relative to the largest entry or to 1.
    """
    n, rows = spec["n"], []
    for draw in range(spec["draws"]):
        p, y = _point(rng, n)
        v = rng.standard_normal(n)
        for name, loss in LOSSES.items():
            gradient = loss.gradient(p, y)
            hessian = np.column_stack([loss.hessian_product(p, y, unit) for unit in np.eye(n)])
            slopes = [
                (loss.value(p + step, y) - loss.value(p - step, y)) / (2 * _STEP)
                for step in _STEP * np.eye(n)
            ]
            step = _STEP / np.abs(v).max()
            change = loss.gradient(p + step * v, y) - loss.gradient(p - step * v, y)
            ours = loss.value(p, y), gradient, hessian
            row = {"loss": name, "draw": draw, "n": n}
            row["gradient_deviation"] = _deviation(gradient, slopes)
            row["hessian_deviation"] = _deviation(
                loss.hessian_product(p, y, v), change / (2 * step)
            )
            # not Python's max, which drops a NaN
            row["printed_deviation"] = np.max(
                [_deviation(*both) for both in zip(ours, PRINTED[name](p, y), strict=True)]
            )
            rows.append(row)
    return pd.DataFrame(rows)


def _point(rng, n):
    y = rng.choice([-1.0, 1.0], n)
    p = 2 * rng.standard_normal(n)
    near = np.abs(1 - y * p) < _FROM_KINK
    p[near] += y[near] * 2 * _FROM_KINK
    return p, y


def _deviation(ours, reference):
    return float(np.max(np.abs(ours - reference)) / max(1.0, np.max(np.abs(reference))))


def _ridge(p, y):
    return np.sum((p - y) ** 2) / 2, p - y, np.eye(len(p))


def _l1svm(p, y):
    loss = np.maximum(0, 1 - p * y)
    return np.sum(loss), np.where(p * y < 1, -y, 0), np.zeros((len(p), len(p)))


def _l2svm(p, y):
    loss, inside = np.maximum(0, 1 - p * y) ** 2, p * y < 1
    return np.sum(loss) / 2, np.where(inside, p - y, 0), np.diag(np.where(inside, 1.0, 0.0))


def _logistic(p, y):
    diagonal = np.exp(y * p) / (1 + np.exp(y * p)) ** 2
    return np.sum(np.log(1 + np.exp(-y * p))), -y / (1 + np.exp(y * p)), np.diag(diagonal)


def _rankrls(p, y):
    n = len(p)
    loss = (y[:, None] - p[:, None] - y + p) ** 2
    hessian = np.where(np.eye(n) > 0, n - 1.0, -1.0)
    return np.sum(loss) / 4, np.sum(y - p) + n * (p - y), hessian


# Table 2 as printed: value, gradient, Hessian matrix.
PRINTED = dict(ridge=_ridge, l1svm=_l1svm, l2svm=_l2svm, logistic=_logistic, rankrls=_rankrls)
