"""The training vertices of one side, rows or columns, of complete data and their kernel."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse

from kronbench.errors import InputError
from kronbench.linalg import dense, gram
from kronbench.linalg.eigen import Spectrum, check_symmetric, feature_spectrum, kernel_spectrum
from kronbench.linalg.gram_matrix import as_floats


def check_precomputed(matrix: np.ndarray | sparse.csr_array, n_training: int, side: str) -> None:
    """InputError unless a kernel matrix has a column for each training vertex of its side."""
    if matrix.shape[1] != n_training:
        raise InputError(
            f"{side}_features is a precomputed kernel of shape {matrix.shape}: give one "
            f"column for each of the {n_training} training vertices"
        )


def check_width(features: np.ndarray | sparse.csr_array, width: int, side: str) -> None:
    """InputError unless features have as many columns as those of the training set."""
    if features.shape[1] != width:
        raise InputError(
            f"{side}_features has {features.shape[1]} columns and the training set "
            f"{width}: give the same features to both"
        )


class VertexKernel:
    """Training vertices of a side, "row" or "col", and their kernel; all for ``vertices`` None."""

    def __init__(self, features, vertices, kernel, gamma, name):
        self.kernel, self.gamma, self.name = kernel, gamma, name
        self.precomputed = kernel == "precomputed"
        self.n_given, features = features.shape[0], as_floats(features)
        self.vertices = np.arange(self.n_given) if vertices is None else vertices
        everything = len(self.vertices) == self.n_given
        if self.precomputed:
            check_precomputed(features, self.n_given, name)
            features = dense(features)
            self.features = features if everything else features[np.ix_(vertices, vertices)]
        else:
            self.features = features if everything else features[vertices]

    @property
    def n(self) -> int:
        return len(self.vertices)

    @property
    def thin(self) -> bool:
        """Whether explicit features span less than the space of labels: n > d."""
        return self.kernel == "linear" and self.features.shape[1] < self.n

    def gram(self) -> np.ndarray:
        """Kernel matrix (n, n)."""
        K = gram(self.features, kernel=self.kernel, gamma=self.gamma)
        check_symmetric(K, f"the {self.name} kernel")
        return K.astype(np.float64, copy=False)

    def cross(self, features: np.ndarray | sparse.csr_array) -> np.ndarray:
        """Kernel values (p, n) of other vertices with the training vertices."""
        if self.precomputed:
            check_precomputed(features, self.n_given, self.name)
            block = features if self.n == self.n_given else features[:, self.vertices]
            return dense(block)
        self.check_width(features)
        return gram(features, self.features, kernel=self.kernel, gamma=self.gamma)

    def check_width(self, features: np.ndarray | sparse.csr_array) -> None:
        check_width(features, self.features.shape[1], self.name)

    @cached_property
    def spectrum(self) -> Spectrum:
        """All n eigenpairs of the kernel matrix."""
        return kernel_spectrum(self.gram(), f"the {self.name} kernel")

    @cached_property
    def thin_spectrum(self) -> Spectrum:
        """The eigenpairs that matter: d of them where explicit features have d < n columns."""
        return feature_spectrum(dense(self.features)) if self.thin else self.spectrum
