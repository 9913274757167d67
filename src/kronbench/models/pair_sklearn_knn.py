"""scikit-learn's K nearest neighbours on the concatenated features of pairs."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from kronbench.errors import InputError
from kronbench.models._pair_classifier import PairClassifier, concatenated, occurring
from kronbench.pairs import PairData

_BLOCK_BYTES = 2**26  # of concatenated features, and of neighbours, of a block of test pairs


class PairSklearnKNN(PairClassifier):
    """``KNeighborsClassifier`` on the features [d, t], as a user of scikit-learn would call it.

    ``PairKNN`` gives the same predictions, ties apart, from a search that knows the shared parts.

    Parameters
    ----------
    n_neighbors : int
        Number of neighbours K.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}
        scikit-learn's search.

    Attributes
    ----------
    classes_ : (2,) array, the larger label is positive

    Notes
    -----
    Training holds all n (d + r) features. Sparse features are made dense.

    References
    ----------
    Airola & Pahikkala 2018, section 5.6.
    """

    def __init__(self, n_neighbors=5, algorithm="auto"):
        self.n_neighbors = n_neighbors
        self.algorithm = algorithm

    def fit(self, X: PairData, y):
        """Build scikit-learn's search structure on the n pairs of X with two labels y (n,)."""
        signs = self._start_fit(X, y)
        self._n_pairs = len(X)
        self._check_neighbors(self.n_neighbors)
        self._search = KNeighborsClassifier(self.n_neighbors, algorithm=self.algorithm)
        self._search.fit(_features(X), signs)
        self._signs = signs
        return self

    def decision_path(self, X: PairData, n_neighbors) -> np.ndarray:
        """Decision values (n, L) for several numbers of neighbours, from one search.

        Parameters
        ----------
        X : PairData of n pairs
        n_neighbors : (L,) integers
        """
        X = self._checked_pairs(X)
        wanted = np.atleast_1d(n_neighbors)
        for number in wanted:
            self._check_neighbors(number)
        return self._path(X, wanted)

    def _decision_function(self, X):
        """Mean of the neighbours' labels, counted as -1 and +1."""
        return self._path(X, np.array([self.n_neighbors]))[:, 0]

    def _path(self, X, n_neighbors):
        largest = n_neighbors.max()
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

    def _check_neighbors(self, number):
        if not 1 <= number <= self._n_pairs:
            raise InputError(
                f"n_neighbors is {number} with {self._n_pairs} training pairs: "
                f"give 1 to {self._n_pairs}"
            )


def _features(X):
    row_features, rows = occurring(X.row_features, X.rows)
    col_features, cols = occurring(X.col_features, X.cols)
    return concatenated(row_features, rows, col_features, cols)
