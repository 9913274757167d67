"""The Kronecker SVM of RLScore (Pahikkala & Airola 2016), which is optional.

Importing this module without it raises ModuleNotFoundError: the reason to skip the solver.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from rlscore.learner.kron_svm import KronSVM as ReferenceKronSVM

from kronbench.linalg import gram
from kronbench.models._pair_classifier import PairClassifier
from kronbench.models._parameters import COUNT, KERNEL, POSITIVE, WIDTH, estimator, parameter
from kronbench.pairs import PairData


@estimator
class PairRLScore(PairClassifier):
    """RLScore's dual Kronecker L2-SVM: the problem and the iterations of ``KronSVM``.

    Parameters
    ----------
    reg : float, default 1.0
        Regularization weight, the paper's lambda > 0.
    row_kernel, col_kernel : {"linear", "gaussian", "tanimoto", "precomputed"} or callable, \
default "linear"
        Positive semidefinite kernels of the row and the column vertices, as in
        :func:`kronbench.linalg.gram`.
    row_gamma, col_gamma : float, optional
        Inverse squared widths of Gaussian kernels, exp(-gamma ||x - x'||^2).
    max_iter : int, default 10
        Newton steps, RLScore's ``maxiter``. It has no stopping rule.
    max_inner : int, default 10
        QMR iterations in each Newton step, RLScore's ``inneriter``.

    Attributes
    ----------
    classes_ : (2,) array
        The larger label is positive.
    n_features_in_ : int
        d + r.
    dual_coef_ : (n,) array
        Coefficients of the pairs.
    """

    reg: float = parameter(1.0, POSITIVE)
    row_kernel: str | Callable = parameter("linear", *KERNEL)
    col_kernel: str | Callable = parameter("linear", *KERNEL)
    row_gamma: float | None = parameter(None, *WIDTH)
    col_gamma: float | None = parameter(None, *WIDTH)
    max_iter: int = parameter(10, COUNT)
    max_inner: int = parameter(10, COUNT)

    def fit(self, X: PairData, y: ArrayLike) -> Self:
        """Train on the n pairs of X with labels (n,) of two values; O(n (m + q)) an iteration."""
        signs = self._start_fit(X, y)
        # RLScore takes kernel matrices of the vertices in use, and positions in them.
        self._training = {"row": _used(X, "row")[0], "col": _used(X, "col")[0]}
        K, G, rows, cols = self._kernels(X)
        pairs = {"K1": K, "K2": G, "Y": signs, "label_row_inds": rows, "label_col_inds": cols}
        steps = {"maxiter": self.max_iter, "inneriter": self.max_inner}
        self._learner = ReferenceKronSVM(regparam=self.reg, **pairs, **steps)
        self.dual_coef_ = self._learner.A
        return self

    def _decision_function(self, X):
        return self._learner.predict(*self._kernels(X))

    def _kernels(self, X):
        """Kernel values with the training vertices of both sides, and positions of the pairs."""
        (row_features, rows), (col_features, cols) = _used(X, "row"), _used(X, "col")
        K = gram(row_features, self._training["row"], kernel=self.row_kernel, gamma=self.row_gamma)
        G = gram(col_features, self._training["col"], kernel=self.col_kernel, gamma=self.col_gamma)
        return K, G, rows, cols


def _used(X, side):
    """Features of the vertices in use on a side, and the positions of the pairs in them."""
    vertices, position = np.unique(getattr(X, f"{side}s"), return_inverse=True)
    return getattr(X, f"{side}_features")[vertices], position
