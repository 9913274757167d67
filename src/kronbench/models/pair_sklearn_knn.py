"""scikit-learn's K nearest neighbours on the concatenated features of pairs."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils._param_validation import StrOptions

from kronbench.models._pair_classifier import PairNeighborsClassifier, concatenated, occurring
from kronbench.models._parameters import COUNT, estimator, parameter
from kronbench.pairs import PairData

_BLOCK_BYTES = 2**26  # of concatenated features, and of neighbours, of a block of test pairs


@estimator
class PairSklearnKNN(PairNeighborsClassifier):
    """``KNeighborsClassifier`` on the features [d, t], as a user of scikit-learn would call it.

    ``PairKNN`` gives the same predictions, ties apart, from a search that knows the shared parts.

    Parameters
    ----------
    n_neighbors : int, default 5
        Number of neighbours K.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default "auto"
        scikit-learn's search.

    Attributes
    ----------
    {pair_classes}

    Notes
    -----
    Training holds all n (d + r) features. Sparse features are made dense.

    References
    ----------
    Airola & Pahikkala 2018, section 5.6.
    """

    n_neighbors: int = parameter(5, COUNT)
    algorithm: str = parameter("auto", StrOptions({"auto", "ball_tree", "kd_tree", "brute"}))

    def fit(self, X: PairData, y: ArrayLike) -> Self:
        """Build scikit-learn's search structure on the n pairs of X with two labels y (n,)."""
        signs = self._start_fit(X, y)
        self._n_pairs = len(X)
        self._check_neighbors(self.n_neighbors)
        self._check_scale(X)
        self._search = KNeighborsClassifier(self.n_neighbors, algorithm=self.algorithm)
        self._search.fit(_features(X), signs)
        self._signs = signs
        return self

    def _path(self, X, n_neighbors):
        largest = n_neighbors[-1]
        scores = np.empty((len(X), len(n_neighbors)))
        step = max(1, _BLOCK_BYTES // (8 * max(self.n_features_in_, 2 * largest)))
        for start in range(0, len(X), step):
            pairs = slice(start, start + step)
            nearest = self._search.kneighbors(
                _features(X[pairs]), n_neighbors=largest, return_distance=False
            )
            totals = np.cumsum(self._signs[nearest], axis=1)
            scores[pairs] = totals[:, n_neighbors - 1] / n_neighbors
        return scores


def _features(X):
    row_features, rows = occurring(X.row_features, X.rows)
    col_features, cols = occurring(X.col_features, X.cols)
    return concatenated(row_features, rows, col_features, cols)
