"""Features from the kernel with some of the vertices: Nystroem's approximation of the kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular
from sklearn.base import TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import validate_data

from kronbench.linalg import KernelColumns, dense, gram, incomplete_cholesky
from kronbench.models._parameters import COUNT, PRECISION, WIDTH, estimator, parameter
from kronbench.models._row_classifier import OfRows, Rows, new_rows

# Vertices whose kernel values are in memory at a time.
_VERTICES_OF_A_BLOCK = 4096


@estimator
class Landmarks(TransformerMixin, OfRows):
    """Features of vertices whose inner products approximate a kernel, for the primal form.

    Landmarks are drawn among the vertices by randomly pivoted Cholesky, in proportion to what the
    ones before have left of the kernel's diagonal (Chen, Epperly, Tropp & Webber 2025), in blocks
    (Epperly, Tropp & Webber 2024, arXiv 2410.03969). With S the landmarks and L L' = K(S, S) the
    features of x are K(x, S) L'^-1.

    ``fit`` takes 8 n k bytes and O(n k (k + z)) for k landmarks among n vertices with z features
    other than zero. A random sample of 50 k vertices is enough to fit to; ``transform`` then takes
    all of them.

    Parameters
    ----------
    n_components : int, default 500
        Landmarks, k; fewer where they reproduce the kernel.
    kernel : {"linear", "gaussian", "tanimoto"} or callable, default "tanimoto"
        Positive semidefinite, as in :func:`kronbench.linalg.gram`.
    gamma : float, optional
        Inverse squared width of a Gaussian kernel.
    dtype : {"float32", "float64"}, default "float64"
        Of the features.
    random_state : int, RandomState or None, default None
        Of the draws.

    Attributes
    ----------
    landmarks_ : (k, d) array or sparse array
        S, rows of those given to ``fit``, in the order of the draws.
    positions_ : (k,) array of int
        Their places there.
    triangle_ : (k, k) array
        L.
    missed_ : float
        Share of the trace of the kernel of the vertices of ``fit`` that the features miss.
    """

    n_components: int = parameter(500, COUNT)
    kernel: str | Callable = parameter(
        "tanimoto", StrOptions({"linear", "gaussian", "tanimoto"}), callable
    )
    gamma: float | None = parameter(None, *WIDTH)
    dtype: Any = parameter("float64", *PRECISION)
    random_state: int | np.random.RandomState | None = parameter(None, "random_state")

    def fit(self, X: Rows, y: ArrayLike | None = None) -> Self:
        """Draw landmarks among the vertices of X (n, d), dense or sparse; ``y`` is ignored."""
        self._check_parameters()
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        most, rng = min(self.n_components, X.shape[0]), check_random_state(self.random_state)
        columns = KernelColumns(X, self.kernel, self.gamma)
        factor = incomplete_cholesky(columns, most, rng=rng, draws=min(256, -(-most // 4) + 1))
        self.positions_, self.landmarks_ = factor.pivots, X[factor.pivots]
        self.triangle_ = factor.factor[factor.pivots]
        self.missed_ = float(1 - factor.gains.sum())
        return self

    def transform(self, X: Rows) -> np.ndarray:
        """Features (p, k) of the vertices of X (p, d), in O(p k (k + z))."""
        X = new_rows(self, X)
        landmarks = self.landmarks_ if callable(self.kernel) else dense(self.landmarks_)
        features = np.empty((X.shape[0], len(self.triangle_)), self.dtype)
        for first in range(0, len(features), _VERTICES_OF_A_BLOCK):
            block = slice(first, first + _VERTICES_OF_A_BLOCK)
            values = gram(X[block], landmarks, kernel=self.kernel, gamma=self.gamma)
            features[block] = solve_triangular(self.triangle_, values.T, lower=True).T
        return features
