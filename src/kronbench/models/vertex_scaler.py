"""Standardization of vertex features by the vertices that train."""

from __future__ import annotations

import hashlib
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kronbench.linalg import dense
from kronbench.models._pair_classifier import check_columns, check_pairs
from kronbench.models._parameters import OfPairs, estimator, parameter
from kronbench.pairs import PairData
from kronbench.pairs.data import used_vertices


@estimator
class VertexScaler(TransformerMixin, OfPairs):
    """Features of mean 0 and variance 1 over the vertices of the training pairs.

    Each vertex that occurs in a training pair counts once, whatever its number of pairs. Sparse
    features are divided by their standard deviation and not centred, so that they stay sparse.

    Parameters
    ----------
    rows, cols : bool, default True
        Whether the features of the side are scaled. Do not scale a kernel matrix.

    Attributes
    ----------
    row_mean_, row_scale_, col_mean_, col_scale_ : (d,) or (r,) arrays, or None
        What is subtracted, and the divisor, 1 for a constant feature; None for a side as it is.
    """

    rows: bool = parameter(True, "boolean")
    cols: bool = parameter(True, "boolean")

    def fit(self, X: PairData, y: ArrayLike | None = None) -> Self:
        """Means and deviations of the vertices in use; ``y`` is ignored. O(m d + q r)."""
        self._check_parameters()
        check_pairs(X)
        self.row_mean_, self.row_scale_ = _moments(self.rows, X.row_features, X.rows)
        self.col_mean_, self.col_scale_ = _moments(self.cols, X.col_features, X.cols)
        self._done: dict = {}
        # of a caller's own: matrices that the features of a side which is not scaled are times
        self._projections: dict = {}
        return self

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
        mean, scale = getattr(self, f"{side}_mean_"), getattr(self, f"{side}_scale_")
        projection = self._projections.get(side)
        if scale is None and projection is None:
            return features
        # by shape, type and values: an array may be changed in place
        thin = sparse.issparse(features)
        found = hashlib.blake2b(repr((features.shape, features.dtype)).encode())
        for part in (features.data, features.indices, features.indptr) if thin else (features,):
            found.update(np.ascontiguousarray(part).data)
        values = found.hexdigest()
        known, images = self._done.get(side, (None, None))
        if known != values:
            check_columns(features, len(scale if projection is None else projection), side)
            if projection is not None:
                images = features @ projection
            elif thin and not mean.any():
                images = sparse.csr_array(features.multiply(1 / scale))
            else:
                images = (dense(features) - mean) / scale
            self._done.setdefault(side, (values, images))  # the training set's come first
        return images


def _moments(wanted, features, index):
    if not wanted:
        return None, None
    # Imported here: it loads half of scikit-learn, which predictions do not need.
    from sklearn.preprocessing import StandardScaler

    used, _ = used_vertices(index, features.shape[0])
    centred = not sparse.issparse(features)
    scaler = StandardScaler(with_mean=centred).fit(features[used])
    return scaler.mean_ if centred else np.zeros(features.shape[1]), scaler.scale_
