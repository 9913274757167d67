"""Predictions of a kernel model of pairs by the sampled Kronecker product."""

from __future__ import annotations

import numpy as np

from kronbench.linalg import gram
from kronbench.pairs import PairData, SampledKroneckerOperator


class VecTrickPredictor:
    """Decision values of a Gaussian kernel model of s support pairs through R (G kron K) C' a."""

    def __init__(
        self, support_pairs: PairData, dual_coef: np.ndarray, intercept: float, gamma: float
    ):
        self.dual_coef = dual_coef
        self.intercept = intercept
        self.gamma = gamma
        row_vertices, self._in_rows = np.unique(support_pairs.rows, return_inverse=True)
        col_vertices, self._in_cols = np.unique(support_pairs.cols, return_inverse=True)
        self._row_features = support_pairs.row_features[row_vertices]
        self._col_features = support_pairs.col_features[col_vertices]

    def decision_function(self, X: PairData) -> np.ndarray:
        """Scores (n,) of the pairs of X; each kernel value of two vertices is computed once."""
        row_vertices, rows = np.unique(X.rows, return_inverse=True)
        col_vertices, cols = np.unique(X.cols, return_inverse=True)
        product = SampledKroneckerOperator(
            self._gram(X.row_features[row_vertices], self._row_features),
            self._gram(X.col_features[col_vertices], self._col_features),
            rows,
            cols,
            self._in_rows,
            self._in_cols,
            method="sparse",  # the paper's, whatever this machine does fastest
        )
        return product.matvec(self.dual_coef) + self.intercept

    def _gram(self, features, support_features):
        return gram(features, support_features, kernel="gaussian", gamma=self.gamma)
