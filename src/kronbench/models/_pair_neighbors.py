"""Classifiers of pairs by their K nearest neighbours, from one search for all numbers K."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from kronbench.errors import InputError
from kronbench.linalg.gram_matrix import as_floats
from kronbench.models._pair_classifier import PairClassifier
from kronbench.pairs import PairData

_SMALLEST = 1e-150


class PairNeighborsClassifier(PairClassifier):
    """A subclass has the parameter ``n_neighbors``, sets ``_n_pairs`` and gives ``_path``.

    ``_path(X, n_neighbors)`` has the decision values (n, L) for L increasing numbers.
    """

    def decision_path(self, X: PairData, n_neighbors: ArrayLike) -> np.ndarray:
        """Decision values for several numbers of neighbours, from one search.

        Parameters
        ----------
        X : PairData of n pairs
        n_neighbors : (L,) integers

        Returns
        -------
        (n, L) array; column l is the ``decision_function`` of a model with ``n_neighbors[l]``.
        """
        X = self._checked_pairs(X)
        wanted = np.atleast_1d(n_neighbors)
        for number in wanted:
            self._check_neighbors(number)
        increasing, position = np.unique(wanted, return_inverse=True)
        return self._path(X, increasing)[:, position]

    def _decision_function(self, X):
        """Mean of the neighbours' labels, counted as -1 and +1."""
        return self._path(X, np.array([self.n_neighbors]))[:, 0]

    def _check_scale(self, X):
        """InputError where squares of features are outside the range of double precision."""
        for side in ("row", "col"):
            features = as_floats(getattr(X, f"{side}_features"))
            largest = float(abs(features).max()) if 0 not in features.shape else 0.0
            if largest and not _SMALLEST < largest < 1 / _SMALLEST:
                raise InputError(
                    f"{side}_features has {largest:.3g} for the largest, and squared distances "
                    "leave the range of double precision: scale the features"
                )

    def _check_neighbors(self, number):
        if not (isinstance(number, Integral) and 1 <= number <= self._n_pairs):
            raise InputError(
                f"n_neighbors is {number} with {self._n_pairs} training pairs: "
                f"give a whole number from 1 to {self._n_pairs}"
            )
