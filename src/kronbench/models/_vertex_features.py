"""Features of the vertices of one side whose inner products are their kernel."""

from __future__ import annotations

import numpy as np

from kronbench.linalg import (
    KernelColumns,
    LowRankFactor,
    dense,
    gram,
    incomplete_cholesky,
    one_blas_thread,
)
from kronbench.linalg.lowrank import TOLERANCE
from kronbench.models._pair_classifier import check_columns
from kronbench.pairs.data import used_vertices

# Landmarks are drawn among at most so many vertices each.
VERTICES_A_LANDMARK = 50


class VertexFeatures:
    """A map to features phi of vertices with phi(x)'phi(x') = k(x, x'), from training vertices.

    For the linear kernel the given features, for ``landmarks`` those of :class:`Landmarks`, which
    are only near the kernel. For any other the rows of a pivoted
    Cholesky factor of its matrix over the v vertices in use by ``pairs``: k features where k of
    its columns reproduce the matrix to 1e-11 (1e-6 in single precision), in O(v k^2).
    """

    _landmarks = None  # as in a model file of before

    def __init__(self, pairs, side, dtype, kernel, gamma, landmarks=None):
        features, index = getattr(pairs, f"{side}_features"), getattr(pairs, f"{side}s")
        self._side, self._kernel, self._gamma = side, kernel, gamma
        self._shape, self._dtype = features.shape, np.dtype(dtype)
        if self._kernel == "linear" and not landmarks:
            return
        used, _ = used_vertices(index, features.shape[0])
        if landmarks:
            # Imported here, as predictions seldom need it.
            from kronbench.models.landmarks import Landmarks

            vertices, most = np.arange(features.shape[0])[used], VERTICES_A_LANDMARK * landmarks
            if len(vertices) > most:
                vertices = np.random.default_rng(0).choice(vertices, most, replace=False)
            options = {"kernel": kernel, "gamma": gamma, "dtype": self._dtype, "random_state": 0}
            self._landmarks = Landmarks(n_components=landmarks, **options)
            self._landmarks.fit(features[np.sort(vertices)])
            return
        # The features are a pivoted Cholesky factor of the kernel of the vertices in use.
        if self._kernel == "precomputed":
            self._check(features)
            vertices = np.arange(features.shape[0])[used]
            columns = dense(features)[np.ix_(vertices, vertices)]
        else:
            vertices = features[used]
            columns = KernelColumns(vertices, kernel, gamma)
        factor = incomplete_cholesky(columns, tol=TOLERANCE[self._dtype] / 2)
        # New vertices need the pivots alone: their features phi solve L phi = k for the rows L of
        # the factor at the pivots and the kernel values k with them.
        self._pivots, rank = vertices[factor.pivots], len(factor.pivots)
        triangle = factor.factor[factor.pivots]
        self._factor = LowRankFactor(triangle, np.arange(rank), np.zeros(rank))

    def __call__(self, features):
        """Features (p, k) of p vertices, given as those of the training set are; O(p k^2)."""
        self._check(features)
        if self._landmarks is not None:
            with one_blas_thread:
                return self._landmarks.transform(features)
        if self._kernel == "linear":
            return features.astype(self._dtype, copy=False)
        if self._kernel == "precomputed":
            values = dense(features)[:, self._pivots]
        else:
            values = gram(features, self._pivots, kernel=self._kernel, gamma=self._gamma)
        with one_blas_thread:  # Others would go on spinning beside the products.
            return np.ascontiguousarray(self._factor.transform(values), self._dtype)

    def _check(self, features):
        """InputError unless the vertices have the columns of the training set."""
        precomputed = self._kernel == "precomputed"
        check_columns(features, self._shape[0 if precomputed else 1], self._side, precomputed)
