"""The Gaussian prior of class scores, from the parameters of a model to its covariance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse

from kronbench.class_tree.covariance import Coupling, Covariance, DualCovariance, FeatureCovariance
from kronbench.class_tree.kernels import (
    DenseFeatures,
    GaussianKernels,
    Kernels,
    LowRankKernel,
    SparseFeatures,
    StoredKernels,
)
from kronbench.class_tree.tree import Tree
from kronbench.errors import InputError
from kronbench.linalg.gram_matrix import dense, gram


@dataclass(frozen=True)
class ClassPrior:
    """What of the prior does not depend on the rows, on variances or on widths.

    Parameters
    ----------
    kernel : {"linear", "gaussian", "tanimoto", "precomputed"} or callable(X, Y) -> (m, p) array
    bias_variance : float
        sigma^2 >= 0 of the intercept of each class.
    rank : int, optional
        Pivots of a low-rank kernel with corrected diagonal; exact when None.
    dtype : {float64, float32}
        Of stored kernel matrices and sparse features.
    in_features : bool
        Whether a linear kernel of fewer features than rows may be solved in those.

    Raises
    ------
    InputError
        A parameter out of range.
    """

    kernel: object
    bias_variance: float
    rank: int | None = None
    dtype: type | np.dtype = np.float64
    in_features: bool = True

    def __post_init__(self):
        if not np.isfinite(self.bias_variance) or self.bias_variance < 0:
            raise InputError(
                f"bias_variance is {self.bias_variance}: give a finite number, 0 or more"
            )

    def is_named(self, name: str) -> bool:
        """Whether the kernel is the one of this name, and no function."""
        return isinstance(self.kernel, str) and self.kernel == name

    def kernels(self, X: np.ndarray | sparse.sparray, gamma: np.ndarray) -> Kernels:
        """Kernel matrices over the rows of X (n, d), one for each of the widths gamma (L,)."""
        if self.rank is not None:
            if len(gamma) > 1:
                raise InputError("gamma has several values: a low-rank kernel takes one")
            if self.is_named("precomputed"):
                raise InputError("kernel is 'precomputed': a low-rank kernel needs features")
            return LowRankKernel(X, self.kernel, gamma[0], self.rank)
        if self.is_named("linear"):
            if sparse.issparse(X):
                return SparseFeatures(X, self.dtype)
            return DenseFeatures(X)
        if self.is_named("gaussian"):
            return GaussianKernels(X, gamma, self.dtype)
        if self.is_named("precomputed"):
            if X.shape[0] != X.shape[1]:
                raise InputError(f"the precomputed kernel has shape {X.shape}: give (n, n)")
            return StoredKernels([dense(X).astype(self.dtype, copy=False)])
        matrix = gram(X, kernel=self.kernel).astype(self.dtype, copy=False)
        return StoredKernels([matrix], X, partial(gram, kernel=self.kernel))

    def covariance(
        self,
        kernels: Kernels,
        coupling: Tree | Coupling,
        variance: np.ndarray,
        which: np.ndarray | None,
    ) -> Covariance:
        """Covariance of the scores: in features where they are few, else in coefficients.

        Parameters
        ----------
        kernels : as ``kernels`` makes them
        coupling : Tree or Coupling
        variance : (P,) array
        which : (P,) integer array or None
            The kernel of each node.
        """
        few = isinstance(kernels, DenseFeatures) and kernels.features.shape[1] < kernels.n_rows
        if few and self.in_features:
            return FeatureCovariance(kernels, coupling, variance, self.bias_variance)
        return DualCovariance(kernels, coupling, variance, self.bias_variance, which)
