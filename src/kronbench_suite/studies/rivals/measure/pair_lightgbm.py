"""LightGBM on both sides' features, as a solver of pairs."""

from __future__ import annotations

import itertools

import lightgbm
import numpy as np
from sklearn.base import BaseEstimator

from kronbench.pairs import PairData
from kronbench_suite.studies.rivals.measure.pair_rivals import features


class PairLightGBM(BaseEstimator):
    """Boosted trees on the features [d, t]: logistic loss for two labels, else squared error.

    A tree reads a share ``colsample_bytree`` of the features, each in at most ``max_bin`` bins;
    a leaf has ``min_child_samples`` pairs at least, and its value the L2 penalty ``reg_lambda``.
    """

    def __init__(
        self,
        n_estimators=100,
        num_leaves=31,
        learning_rate=0.1,
        colsample_bytree=1.0,
        max_bin=63,
        min_child_samples=20,
        reg_lambda=0.0,
        random_state=None,
    ):
        self.n_estimators = n_estimators
        self.num_leaves = num_leaves
        self.learning_rate = learning_rate
        self.colsample_bytree = colsample_bytree
        self.max_bin = max_bin
        self.min_child_samples = min_child_samples
        self.reg_lambda = reg_lambda
        self.random_state = random_state

    def fit(self, X: PairData, y: np.ndarray) -> PairLightGBM:
        """Boost on n pairs with labels y (n,)."""
        two = len(np.unique(y)) == 2
        model = lightgbm.LGBMClassifier if two else lightgbm.LGBMRegressor
        # One thread and one way to count, for the same trees on every machine. Counting by columns
        # reads those features alone that a tree has: up to twice as fast as by rows.
        fixed = {"n_jobs": 1, "deterministic": True, "force_col_wise": True, "verbosity": -1}
        fixed["bin_construct_sample_cnt"] = 20000  # pairs that place the bins
        self.booster_ = model(**self.get_params(), **fixed).fit(features(X), y).booster_
        return self

    def predict(self, X: PairData) -> np.ndarray:
        """Scores (t,): affinities, or logits of the larger label."""
        return self.booster_.predict(features(X), raw_score=True)

    def decision_path(self, X: PairData, n_estimators) -> np.ndarray:
        """Scores (t, s) by each number of trees, up to the fitted one."""
        pairs, parts = features(X), itertools.pairwise([0, *n_estimators])
        scores = [  # of the trees that each number adds to the one before
            self.booster_.predict(pairs, start_iteration=n, num_iteration=m - n, raw_score=True)
            for n, m in parts
        ]
        return np.cumsum(scores, axis=0).T
