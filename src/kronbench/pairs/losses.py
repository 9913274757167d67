"""The losses of Table 2 of Airola & Pahikkala (2018): value, gradient, (generalized) Hessian.

A loss L(p, y) is a function of the predictions p and the labels y of the n training pairs. Every
Hessian of the table has the form H = W P = W^1/2 P W^1/2 with a nonnegative diagonal W
(``weights``) and a projection P (``project``): the identity for a loss that is a sum over pairs,
centring for RankRLS, whose W is a multiple of the identity. A Newton method needs no more.

The printed gradient and second derivative of the logistic loss overflow for y p > 709; they are
computed through the logistic function here. At the kink y p = 1 the hinge losses take the value of
the smooth side y p > 1, and the gradient p - y of the squared hinge needs y in {-1, 1}.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from kronbench.linalg.blas1 import dot


@dataclass
class Loss:
    """Convex loss L(p, y): functions of the predictions p (n,) and the labels y (n,).

    Attributes
    ----------
    value : L(p, y), a float
    gradient : (sub)gradient of L with respect to p, (n,)
    weights : the diagonal W >= 0 of H = W P, (n,): numbers, or a mask where it is one or zero
    of_pairs : what each pair adds to L, (n,), for a loss that is a sum over pairs
    project : P v, a function of v (n,): the identity for a sum over pairs
    margin : bool
        Whether it is a loss of binary classification, for labels in {-1, 1}.
    """

    value: Callable[[np.ndarray, np.ndarray], float]
    gradient: Callable[[np.ndarray, np.ndarray], np.ndarray]
    weights: Callable[[np.ndarray, np.ndarray], np.ndarray]
    of_pairs: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    project: Callable[[np.ndarray], np.ndarray] = lambda v: v
    margin: bool = False

    def hessian_product(self, p: np.ndarray, y: np.ndarray, v: np.ndarray) -> np.ndarray:
        """H v for v (n,), in O(n)."""
        return self.weights(p, y) * self.project(v)


def with_sample_weight(loss: Loss, sample_weight: np.ndarray) -> Loss:
    """sum_i s_i l(p_i, y_i) of a loss that is sum_i l(p_i, y_i), with weights s (n,)."""
    of_pairs: Callable = loss.of_pairs  # type: ignore[assignment]
    return Loss(
        value=lambda p, y: dot(sample_weight, of_pairs(p, y)),
        gradient=lambda p, y: sample_weight * loss.gradient(p, y),
        weights=lambda p, y: sample_weight * loss.weights(p, y),
        margin=loss.margin,
    )


def _sum(of_pairs, **functions):
    """The loss that is the sum of ``of_pairs``."""
    return Loss(lambda p, y: float(of_pairs(p, y).sum()), of_pairs=of_pairs, **functions)


def _half_squares(error, **functions):
    """The loss 1/2 sum_i error_i^2, whose value is one dot product."""
    return Loss(
        lambda p, y: 0.5 * dot(residual := error(p, y), residual),
        of_pairs=lambda p, y: 0.5 * error(p, y) ** 2,
        **functions,
    )


def _minus_mean(v):
    return v - v.mean()


# The rows of Table 2, with g = gradient and H = weights times project.
LOSSES = {
    # squared error, 1/2 sum_i (p_i - y_i)^2
    "ridge": _half_squares(
        lambda p, y: p - y,
        gradient=lambda p, y: p - y,
        weights=lambda p, y: np.ones_like(p),
    ),
    # hinge, sum_i max(0, 1 - y_i p_i); its generalized Hessian is zero
    "l1svm": _sum(
        lambda p, y: np.maximum(0, 1 - y * p),
        gradient=lambda p, y: np.where(y * p < 1, -y, 0),
        weights=lambda p, y: np.zeros_like(p),
        margin=True,
    ),
    # squared hinge, 1/2 sum_i max(0, 1 - y_i p_i)^2
    "l2svm": _half_squares(
        lambda p, y: np.maximum(0, 1 - y * p),
        gradient=lambda p, y: np.where(y * p < 1, p - y, 0),
        weights=lambda p, y: y * p < 1,
        margin=True,
    ),
    # sum_i log(1 + exp(-y_i p_i))
    "logistic": _sum(
        lambda p, y: np.logaddexp(0, -y * p),
        gradient=lambda p, y: -y * expit(-y * p),
        weights=lambda p, y: expit(p) * expit(-p),
        margin=True,
    ),
    # Regularized least-squares ranking, 1/4 sum_ij (y_i - p_i - y_j + p_j)^2, in O(n): with
    # e = p - y it is n/2 sum_i (e_i - mean e)^2, its gradient n (e - mean e), and its Hessian
    # n I - 1 1^T: n times the centring projection
    "rankrls": Loss(
        lambda p, y: 0.5 * len(p) * dot(error := _minus_mean(p - y), error),
        gradient=lambda p, y: len(p) * _minus_mean(p - y),
        weights=lambda p, y: np.full_like(p, len(p)),
        project=_minus_mean,
    ),
}
