"""What couples the classes: their scores are sums of functions, one for each of P nodes."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from kronbench.class_tree.tree import Tree
from kronbench.errors import InputError
from kronbench.linalg.gemm import multiply


class DenseCoupling:
    """A matrix B (C, P) of any numbers in place of a tree's (Seeger 2006, section 7.2)."""

    is_flat = False

    def __init__(self, matrix: np.ndarray):
        self.matrix = np.asarray(matrix, float)
        if self.matrix.ndim != 2 or not np.isfinite(self.matrix).all():
            raise InputError(
                f"coupling has shape {self.matrix.shape}: give a (C, P) array of finite numbers"
            )
        self.n_classes, self.n_nodes = self.matrix.shape

    def sum_paths(self, functions: np.ndarray) -> np.ndarray:
        """Each row (n, P) times B': scores (n, C)."""
        return multiply(functions, self.matrix.T.astype(functions.dtype))

    def sum_below(self, block: np.ndarray) -> np.ndarray:
        """Each row (n, C) times B: (n, P)."""
        return multiply(block, self.matrix.astype(block.dtype))

    def couple(self, block: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """Each row (n, C) times B diag(variance) B', with variance (P,)."""
        return self.sum_paths(self.sum_below(block) * np.asarray(variance, block.dtype))

    def diagonal(self, variance: np.ndarray) -> np.ndarray:
        """(n, C) diagonals of B diag(variance_i) B' for rows (n, P) of variances."""
        return variance @ (self.matrix**2).T


Coupling: TypeAlias = Tree | DenseCoupling
