"""What transformers of vertex features share: they take pairs, and know vertices again."""

from __future__ import annotations

from abc import abstractmethod

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

        Features that were transformed before come out as the same array, by which models with
        vertex effects know a vertex again.

        Raises
        ------
        InputError
            X is no PairData, or its features are not those of the training set.
        """
        check_is_fitted(self)
        check_pairs(X)
        return X.with_features(
            self._features(X.row_features, "row"), self._features(X.col_features, "col")
        )

    def _features(self, features, side):
        if not self._changes(side):
            return features
        given, images = self._done.get(side, (None, None))
        if given is not features:
            images = self._transformed(features, side)
            self._done.setdefault(side, (features, images))  # the training set's come first
        return images

    @abstractmethod
    def _changes(self, side):
        """Whether the features of a side, "row" or "col", are transformed at all."""

    @abstractmethod
    def _transformed(self, features, side):
        """The features of a side, transformed."""
