"""Low-rank kernel features of many vertices, from a few landmarks."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy.linalg import solve_triangular
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions

from kronbench.linalg import KernelColumns, gram, incomplete_cholesky, one_blas_thread
from kronbench.linalg.threads import processors
from kronbench.models._pair_classifier import check_columns, check_pairs
from kronbench.models._parameters import COUNT, PRECISION, WIDTH, estimator, parameter
from kronbench.models.vertex_scaler import VertexTransformer
from kronbench.pairs import PairData
from kronbench.pairs.data import used_vertices

# Vertices among which landmarks are drawn, for each landmark.
_CANDIDATES = 20
# Residual diagonal of the candidates, relative to the largest entry, that is taken for zero.
_TOL = 1e-12
_BLOCK = 4096  # vertices whose kernel values are held at a time
_KERNEL = [StrOptions({"linear", "gaussian", "tanimoto"}), callable, None]


@estimator
class VertexNystroem(VertexTransformer):
    """Features of vertices whose inner products are a kernel, to low rank.

    Nystroem's approximation k(x, L) k(L, L)^-1 k(L, x') by r landmarks L (Williams & Seeger 2001),
    factorized: v vertices cost v r kernel values, O(v r^2) and memory v r. The landmarks are
    pivots of a Cholesky decomposition, drawn in proportion to the residual diagonal (Chen et al.
    2025), over at most 20 r of the training vertices. For models with ``form="primal"``.

    Parameters
    ----------
    row_kernel, col_kernel : {"linear", "gaussian", "tanimoto"}, callable or None, default None
        Kernel of the side, as in :func:`kronbench.linalg.gram`; None changes nothing.
    row_gamma, col_gamma : float, optional
        Inverse squared widths of Gaussian kernels.
    row_rank, col_rank : int, default 500
        Landmarks of the side; fewer where fewer span its kernel to 1e-12.
    dtype : {"float64", "float32"}, default "float64"
        Of the features; they are computed in double precision.
    random_state : int, RandomState or None
        Of the landmarks.

    Attributes
    ----------
    row_landmarks_, col_landmarks_ : (r, d) array or sparse matrix, or None
        Features of the landmarks as given; None for a side that is not changed.
    row_error_, col_error_ : float
        Largest entry of K - Phi Phi' over the training vertices, one of its diagonal; 0 for a side
        that is not changed.
    row_trace_error_, col_trace_error_ : float
        tr(K - Phi Phi') / tr K over the same vertices.
    """

    row_kernel: str | Callable | None = parameter(None, *_KERNEL)
    col_kernel: str | Callable | None = parameter(None, *_KERNEL)
    row_gamma: float | None = parameter(None, *WIDTH)
    col_gamma: float | None = parameter(None, *WIDTH)
    row_rank: int = parameter(500, COUNT)
    col_rank: int = parameter(500, COUNT)
    dtype: DTypeLike = parameter("float64", *PRECISION)
    random_state: int | np.random.RandomState | None = parameter(None, "random_state")

    _changed_by = "kernel"

    def fit(self, X: PairData, y: ArrayLike | None = None) -> Self:
        """Draw landmarks of the vertices in use, and measure their error; ``y`` is ignored."""
        self._check_parameters()
        check_pairs(X)
        rng = check_random_state(self.random_state)
        self._done: dict = {}
        self.row_landmarks_, self.row_error_, self.row_trace_error_ = self._fit_side(X, "row", rng)
        self.col_landmarks_, self.col_error_, self.col_trace_error_ = self._fit_side(X, "col", rng)
        return self

    def _fit_side(self, X, side, rng):
        kernel, gamma = getattr(self, f"{side}_kernel"), getattr(self, f"{side}_gamma")
        if kernel is None:
            return None, 0.0, 0.0
        features = getattr(X, f"{side}_features")
        every, _ = used_vertices(getattr(X, f"{side}s"), features.shape[0])
        sample, rank = np.arange(features.shape[0])[every], getattr(self, f"{side}_rank")
        if len(sample) > _CANDIDATES * rank:
            sample = np.sort(rng.choice(sample, _CANDIDATES * rank, replace=False))
        factor = incomplete_cholesky(
            KernelColumns(features[sample], kernel, gamma), min(rank, len(sample)), _TOL, rng
        )
        landmarks = features[sample[factor.pivots]]
        setattr(self, f"_{side}_map", (landmarks, kernel, gamma, factor.factor[factor.pivots]))
        images = self._features(features, side)[every]
        diagonal = KernelColumns(features[every], kernel, gamma).diagonal()
        left = diagonal - np.einsum("ij,ij->i", images, images)
        return landmarks, float(max(left.max(), 0.0)), float(max(left.sum(), 0) / diagonal.sum())

    def _transformed(self, features, side):
        """Kernel values with the landmarks times the inverse of the triangle's transpose."""
        landmarks, kernel, gamma, triangle = getattr(self, f"_{side}_map")
        check_columns(features, landmarks.shape[1], side)
        out = np.empty((features.shape[0], len(triangle)), np.dtype(self.dtype))

        def fill(start):
            part = slice(start, start + _BLOCK)
            values = gram(features[part], landmarks, kernel=kernel, gamma=gamma)
            out[part] = solve_triangular(triangle, values.T, lower=True, check_finite=False).T

        # A sparse product has one thread, and so the BLAS here: blocks take turns on all.
        with one_blas_thread, ThreadPoolExecutor(processors()) as pool:
            list(pool.map(fill, range(0, len(out), _BLOCK)))
        return out
