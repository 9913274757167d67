"""What transformers of vertex features share: they take pairs, and know vertices again."""

from __future__ import annotations

import hashlib
from abc import abstractmethod

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kronbench.models._pair_labels import check_pairs
from kronbench.models._parameters import CheckedParameters
from kronbench.pairs import PairData


class VertexTransformer(CheckedParameters, TransformerMixin, BaseEstimator):
    """Base of transformers of the features of both sides; ``fit`` sets ``_done`` to ``{}``."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = True
        return tags

    def transform(self, X: PairData) -> PairData:
        """The same pairs over the transformed features of all vertices of X.

        Features with values that were transformed before come out as the same array, by which
        models with vertex effects know a vertex again.
        """
        check_is_fitted(self)
        check_pairs(X)
        return X.with_features(
            self._features(X.row_features, "row"), self._features(X.col_features, "col")
        )

    def _features(self, features, side):
        if not self._changes(side):
            return features
        values = _digest(features)  # an array may be changed in place
        known, images = self._done.get(side, (None, None))
        if known != values:
            images = self._transformed(features, side)
            self._done.setdefault(side, (values, images))  # the training set's come first
        return images

    @abstractmethod
    def _changes(self, side):
        """Whether the features of a side, "row" or "col", are transformed at all."""

    @abstractmethod
    def _transformed(self, features, side):
        """The features of a side, transformed."""


def _digest(features):
    """What tells features from all others, by shape, type and values."""
    parts = [features]
    if sparse.issparse(features):
        parts = [features.data, features.indices, features.indptr]
    found = hashlib.blake2b(repr((features.shape, features.dtype)).encode())
    for part in parts:
        found.update(np.ascontiguousarray(part))
    return found.digest()
