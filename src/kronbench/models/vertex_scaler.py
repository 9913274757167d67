"""Standardization of vertex features by the vertices that train."""

from __future__ import annotations

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
from kronbench.pairs.data import same_features, used_vertices


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
        # A caller may let a side that is not scaled be multiplied by a matrix: an entry has the
        # training features, their product with the matrix, and the matrix.
        self._projections: dict = {}
        return self

    def transform(self, X: PairData) -> PairData:
        """The same pairs over the transformed features of all vertices of X.

        Equal features come out with the same values, to the bit, by which models with vertex
        effects know a vertex again.
        """
        check_is_fitted(self)
        check_pairs(X)
        return X.with_features(
            self._features(X.row_features, "row"), self._features(X.col_features, "col")
        )

    def _features(self, features, side):
        if side in self._projections:
            training, image, projection = self._projections[side]
            check_columns(features, len(projection), side)
            # A product has other last bits on another machine, where a vertex would not be known.
            return image if same_features(features, training) else features @ projection
        # Sparse features stay sparse where those of the fit were not centred.
        mean, scale = getattr(self, f"{side}_mean_"), getattr(self, f"{side}_scale_")
        if scale is None:
            return features
        check_columns(features, len(scale), side)
        if sparse.issparse(features) and not mean.any():
            places = features.indices
            entries = features.data * (1 / scale)[places], places, features.indptr
            return sparse.csr_array(entries, shape=features.shape)
        return (dense(features) - mean) / scale


def _moments(wanted, features, index):
    """Mean and standard deviation of the features of the vertices in use; None if not wanted."""
    if not wanted:
        return None, None
    # Imported here: it loads half of scikit-learn, which predictions do not need.
    from sklearn.preprocessing import StandardScaler

    used, _ = used_vertices(index, features.shape[0])
    centred = not sparse.issparse(features)
    scaler = StandardScaler(with_mean=centred).fit(features[used])
    return scaler.mean_ if centred else np.zeros(features.shape[1]), scaler.scale_
