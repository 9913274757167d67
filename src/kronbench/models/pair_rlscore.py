"""The Kronecker SVM of RLScore, the reference implementation of the vec trick papers.

RLScore is optional and not among the dependencies: importing this module without it raises
ModuleNotFoundError, which the experiments report as a reason to skip the solver.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from rlscore.learner.kron_svm import KronSVM as ReferenceKronSVM

from kronbench.linalg import gram
from kronbench.models._pair_classifier import PairClassifier
from kronbench.models._parameters import COUNT, POSITIVE, TwoKernels, estimator, parameter
from kronbench.pairs import PairData


@estimator
class PairRLScore(PairClassifier, TwoKernels):
    """RLScore's dual Kronecker L2-SVM: the problem and the iterations of ``KronSVM``.

    Parameters
    ----------
    reg : float, default 1.0
        Regularization weight, the paper's lambda > 0.
    {kernels}
    max_iter : int, default 10
        Newton steps, RLScore's ``maxiter``. It has no stopping rule.
    max_inner : int, default 10
        QMR iterations in each Newton step, RLScore's ``inneriter``.

    Attributes
    ----------
    {pair_classes}
    dual_coef_ : (n,) array
        Coefficients of the pairs.

    References
    ----------
    T. Pahikkala, A. Airola: RLScore: regularized least-squares learners. Journal of Machine
    Learning Research 17(221), 2016.
    """

    reg: float = parameter(1.0, POSITIVE)
    max_iter: int = parameter(10, COUNT)
    max_inner: int = parameter(10, COUNT)

    def fit(self, X: PairData, y: ArrayLike) -> Self:
        """Train on the n pairs of X with labels (n,) of two values; O(n (m + q)) an iteration."""
        signs = self._start_fit(X, y)
        row_vertices, rows = np.unique(X.rows, return_inverse=True)
        col_vertices, cols = np.unique(X.cols, return_inverse=True)
        self._row_features = X.row_features[row_vertices]
        self._col_features = X.col_features[col_vertices]
        self._learner = ReferenceKronSVM(
            K1=self._row_gram(self._row_features),
            K2=self._col_gram(self._col_features),
            Y=signs,
            label_row_inds=rows,
            label_col_inds=cols,
            regparam=self.reg,
            maxiter=self.max_iter,
            inneriter=self.max_inner,
        )
        self.dual_coef_ = self._learner.A
        return self

    def _decision_function(self, X):
        row_vertices, rows = np.unique(X.rows, return_inverse=True)
        col_vertices, cols = np.unique(X.cols, return_inverse=True)
        return self._learner.predict(
            self._row_gram(X.row_features[row_vertices]),
            self._col_gram(X.col_features[col_vertices]),
            rows,
            cols,
        )

    def _row_gram(self, features):
        return gram(features, self._row_features, kernel=self.row_kernel, gamma=self.row_gamma)

    def _col_gram(self, features):
        return gram(features, self._col_features, kernel=self.col_kernel, gamma=self.col_gamma)
