"""Gradients and Hessians of the losses against finite differences and the printed formulas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from kronbench.pairs import LOSSES
from kronbench.runner.columns import Columns

if TYPE_CHECKING:
    from kronbench.datasets import Dataset

# Points keep this distance from the kinks of the hinge losses; differences take a smaller step,
# whose square and whose inverse times rounding are about equal.
_FROM_KINK = 0.01
_STEP = 1e-4

COLUMNS = Columns(
    key=("loss", "draw"),
    repeats=("draw",),
    counts=("n",),
    numbers=("gradient_deviation", "hessian_deviation", "printed_deviation"),
    values={"loss": ("ridge", "l1svm", "l2svm", "logistic", "rankrls")},
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each loss and draw of n predictions and labels (Airola & Pahikkala, table 2).

    ``gradient_deviation``: of the gradient from central differences of the value, entry by entry;
    ``hessian_deviation``: of the Hessian's product with a random vector from a central difference
    of the gradient; ``printed_deviation``: of value, gradient and Hessian matrix from the table's
    formulas as printed. Each is the largest difference, relative to the largest entry or to 1.
    """
    rows = []
    for draw in range(spec["draws"]):
        p, y = _point(rng, spec["n"])
        v = rng.standard_normal(spec["n"])
        for name, loss in LOSSES.items():
            rows.append(
                {
                    "loss": name,
                    "draw": draw,
                    "n": spec["n"],
                    "gradient_deviation": _deviation(
                        loss.gradient(p, y), _gradient_differences(loss, p, y)
                    ),
                    "hessian_deviation": _deviation(
                        loss.hessian_product(p, y, v), _hessian_difference(loss, p, y, v)
                    ),
                    # not Python's max, which drops a NaN
                    "printed_deviation": np.max(
                        [
                            _deviation(ours, printed)
                            for ours, printed in zip(
                                _ours(loss, p, y), PRINTED[name](p, y), strict=True
                            )
                        ]
                    ),
                }
            )
    return pd.DataFrame(rows)


def _point(rng, n):
    y = rng.choice([-1.0, 1.0], n)
    p = 2 * rng.standard_normal(n)
    slack = 1 - y * p
    near = np.abs(slack) < _FROM_KINK
    p[near] += y[near] * 2 * _FROM_KINK
    return p, y


def _gradient_differences(loss, p, y):
    gradient = np.empty_like(p)
    for i in range(len(p)):
        step = np.zeros_like(p)
        step[i] = _STEP
        gradient[i] = (loss.value(p + step, y) - loss.value(p - step, y)) / (2 * _STEP)
    return gradient


def _hessian_difference(loss, p, y, v):
    step = _STEP / np.abs(v).max()
    return (loss.gradient(p + step * v, y) - loss.gradient(p - step * v, y)) / (2 * step)


def _ours(loss, p, y):
    columns = [loss.hessian_product(p, y, unit) for unit in np.eye(len(p))]
    return loss.value(p, y), loss.gradient(p, y), np.column_stack(columns)


def _deviation(ours, reference):
    return float(np.max(np.abs(ours - reference)) / max(1.0, np.max(np.abs(reference))))


def _ridge(p, y):
    return np.sum((p - y) ** 2) / 2, p - y, np.eye(len(p))


def _l1svm(p, y):
    return (
        np.sum(np.maximum(0, 1 - p * y)),
        np.where(p * y < 1, -y, 0),
        np.zeros((len(p), len(p))),
    )


def _l2svm(p, y):
    return (
        np.sum(np.maximum(0, 1 - p * y) ** 2) / 2,
        np.where(p * y < 1, p - y, 0),
        np.diag(np.where(p * y < 1, 1.0, 0.0)),
    )


def _logistic(p, y):
    return (
        np.sum(np.log(1 + np.exp(-y * p))),
        -y / (1 + np.exp(y * p)),
        np.diag(np.exp(y * p) / (1 + np.exp(y * p)) ** 2),
    )


def _rankrls(p, y):
    n = len(p)
    return (
        np.sum((y[:, None] - p[:, None] - y + p) ** 2) / 4,
        np.sum(y - p) + n * (p - y),
        np.where(np.eye(n) > 0, n - 1.0, -1.0),
    )


# Table 2 as printed: value, gradient, Hessian matrix.
PRINTED = {
    "ridge": _ridge,
    "l1svm": _l1svm,
    "l2svm": _l2svm,
    "logistic": _logistic,
    "rankrls": _rankrls,
}
