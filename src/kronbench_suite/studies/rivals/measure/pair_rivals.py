"""Rivals of the kernel methods as solvers of pairs: trees on both sides' features, factors."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import ExtraTreesRegressor

from kronbench.evaluation import additive_scores
from kronbench.models._pair_classifier import concatenated
from kronbench.pairs import PairData


class Margins(BaseEstimator):
    """Row and column effects alone (:func:`kronbench.evaluation.additive_scores`)."""

    def fit(self, X: PairData, y: np.ndarray) -> Margins:
        """Keep the n training pairs and their labels y (n,)."""
        self.X_, self.y_ = X, y
        return self

    def predict(self, X: PairData) -> np.ndarray:
        """Scores (t,) of pairs of the same vertices."""
        return additive_scores(self.X_, self.y_, X)


class PairExtraTrees(ExtraTreesRegressor):
    """scikit-learn's extremely randomized trees on the features [d, t]; labels are numbers."""

    def fit(self, X: PairData, y: np.ndarray) -> PairExtraTrees:
        """Grow the trees on n pairs with labels y (n,)."""
        return super().fit(features(X), y)

    def predict(self, X: PairData) -> np.ndarray:
        """Scores (t,): the mean of the trees."""
        return super().predict(features(X))


class PairFactors(BaseEstimator):
    """Labels as margins plus an inner product of factors, by alternating ridge regressions.

    Minimizes sum_h (r_h - u_i' v_j)^2 + reg (||U||^2 + ||V||^2), r what the margins leave of the
    labels; it reads no features. Written here, since the libraries that factor with numbers for
    labels are of users and items alone, or no longer install.
    """

    def __init__(self, rank=10, reg=1.0, sweeps=20, random_state=None):
        self.rank = rank
        self.reg = reg
        self.sweeps = sweeps
        self.random_state = random_state

    def fit(self, X: PairData, y: np.ndarray) -> PairFactors:
        """Alternate between the sides, O(n rank^2) a sweep."""
        self.margins_ = Margins().fit(X, y)
        rest = y - self.margins_.predict(X)
        rng = np.random.default_rng(self.random_state)
        sides = (X.rows, X.n_rows), (X.cols, X.n_cols)
        factors = [rng.normal(0, 0.1, (size, self.rank)) for _, size in sides]
        for step in range(2 * self.sweeps):
            # a ridge regression for each vertex of one side
            (index, size), (other, _) = sides[step % 2], sides[1 - step % 2]
            order = np.argsort(index, kind="stable")
            occurring, starts = np.unique(index[order], return_index=True)
            A = factors[1 - step % 2][other][order]
            squares = np.add.reduceat(A[:, :, None] * A[:, None, :], starts)
            moments = np.add.reduceat(A * rest[order, None], starts)
            ridge = squares + self.reg * np.eye(self.rank)
            factors[step % 2] = np.zeros((size, self.rank))
            factors[step % 2][occurring] = np.linalg.solve(ridge, moments[:, :, None])[:, :, 0]
        self.row_factors_, self.col_factors_ = factors
        return self

    def predict(self, X: PairData) -> np.ndarray:
        """Scores (t,) of pairs of the same vertices."""
        inner = np.einsum("ij,ij->i", self.row_factors_[X.rows], self.col_factors_[X.cols])
        return self.margins_.predict(X) + inner


def features(X: PairData) -> np.ndarray:
    """The features [d, t] (n, d + r) of the pairs, in single precision."""
    rows, cols = np.float32(X.row_features), np.float32(X.col_features)
    return concatenated(rows, X.rows, cols, X.cols)
