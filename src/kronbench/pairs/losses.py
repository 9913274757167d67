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

import numpy as np
from scipy.special import expit

from kronbench.errors import InputError
from kronbench.linalg.blas1 import dot


class Loss:
    """Convex loss L(p, y) of the predictions p (n,) for labels y (n,).

    ``margin`` says that the loss is one of binary classification, for labels in {-1, 1}.
    """

    margin = False

    def of_pairs(self, p: np.ndarray, y: np.ndarray) -> np.ndarray:
        """What each pair adds to L, (n,), for a loss that is a sum over pairs."""
        raise NotImplementedError

    def value(self, p: np.ndarray, y: np.ndarray) -> float:
        """L(p, y), a float."""
        return float(self.of_pairs(p, y).sum())

    def gradient(self, p: np.ndarray, y: np.ndarray) -> np.ndarray:
        """(Sub)gradient of L with respect to p, (n,)."""
        raise NotImplementedError

    def weights(self, p: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The diagonal W >= 0 of H = W P, (n,): numbers, or a mask where it is one or zero."""
        raise NotImplementedError

    def project(self, v: np.ndarray) -> np.ndarray:
        """P v: the identity for a sum over pairs."""
        return v

    def hessian_product(self, p: np.ndarray, y: np.ndarray, v: np.ndarray) -> np.ndarray:
        """H v for v (n,), in O(n)."""
        return self.weights(p, y) * self.project(v)


class Weighted(Loss):
    """sum_i s_i l(p_i, y_i) of a loss that is sum_i l(p_i, y_i), with weights s (n,)."""

    def __init__(self, loss: Loss, sample_weight: np.ndarray):
        self._loss, self._weight = loss, sample_weight
        self.margin = loss.margin

    def value(self, p: np.ndarray, y: np.ndarray) -> float:
        return dot(self._weight, self._loss.of_pairs(p, y))

    def gradient(self, p: np.ndarray, y: np.ndarray) -> np.ndarray:
        return self._weight * self._loss.gradient(p, y)

    def weights(self, p: np.ndarray, y: np.ndarray) -> np.ndarray:
        return self._weight * self._loss.weights(p, y)


class Ridge(Loss):
    """Squared error, 1/2 sum_i (p_i - y_i)^2."""

    def of_pairs(self, p: np.ndarray, y: np.ndarray) -> np.ndarray:
        return 0.5 * (p - y) ** 2

    def value(self, p: np.ndarray, y: np.ndarray) -> float:
        residual = p - y
        return 0.5 * dot(residual, residual)

    def gradient(self, p: np.ndarray, y: np.ndarray) -> np.ndarray:
        return p - y

    def weights(self, p: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.ones_like(p)


class L1SVM(Loss):
    """Hinge, sum_i max(0, 1 - y_i p_i); its generalized Hessian is zero."""

    margin = True

    def of_pairs(self, p: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.maximum(0, 1 - y * p)

    def gradient(self, p: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.where(y * p < 1, -y, 0)

    def weights(self, p: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.zeros_like(p)


class L2SVM(Loss):
    """Squared hinge, 1/2 sum_i max(0, 1 - y_i p_i)^2."""

    margin = True

    def of_pairs(self, p: np.ndarray, y: np.ndarray) -> np.ndarray:
        return 0.5 * np.maximum(0, 1 - y * p) ** 2

    def value(self, p: np.ndarray, y: np.ndarray) -> float:
        slack = np.maximum(0, 1 - y * p)
        return 0.5 * dot(slack, slack)

    def gradient(self, p: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.where(y * p < 1, p - y, 0)

    def weights(self, p: np.ndarray, y: np.ndarray) -> np.ndarray:
        return y * p < 1


class Logistic(Loss):
    """Logistic, sum_i log(1 + exp(-y_i p_i))."""

    margin = True

    def of_pairs(self, p: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.logaddexp(0, -y * p)

    def gradient(self, p: np.ndarray, y: np.ndarray) -> np.ndarray:
        return -y * expit(-y * p)

    def weights(self, p: np.ndarray, y: np.ndarray) -> np.ndarray:
        return expit(p) * expit(-p)


class RankRLS(Loss):
    """Regularized least-squares ranking, 1/4 sum_ij (y_i - p_i - y_j + p_j)^2, in O(n).

    With e = p - y the double sum is n/2 sum_i (e_i - mean e)^2, its gradient n (e - mean e) and
    its Hessian n I - 1 1^T: n times the centring projection.
    """

    def value(self, p: np.ndarray, y: np.ndarray) -> float:
        error = self.project(p - y)
        return 0.5 * len(p) * dot(error, error)

    def gradient(self, p: np.ndarray, y: np.ndarray) -> np.ndarray:
        return len(p) * self.project(p - y)

    def weights(self, p: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.full_like(p, len(p))

    def project(self, v: np.ndarray) -> np.ndarray:
        return v - v.mean()


LOSSES = {
    "ridge": Ridge(),
    "l1svm": L1SVM(),
    "l2svm": L2SVM(),
    "logistic": Logistic(),
    "rankrls": RankRLS(),
}


def get_loss(name: str) -> Loss:
    """The loss of that name, one of ``LOSSES``."""
    if not isinstance(name, str) or name not in LOSSES:
        raise InputError(f"loss={name!r} is unknown: give one of {', '.join(LOSSES)}")
    return LOSSES[name]
