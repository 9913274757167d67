"""The second step of two-step ridge regression for very many tasks, say leaves of a tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.linalg import splu

from kronbench.errors import check_positive


class SecondStep:
    """Ridge regression over tasks of what a first step predicts, with G = Psi Psi', Psi sparse.

    Predictions F (n, C) of a first step for the training tasks become F (G + reg I)^-1 G' for any
    tasks (Stock et al. 2016, Eqs. 10 and 11), by the inverse of Psi'Psi + reg I, which is
    factorized once. With :func:`path_features` nothing fills in, eliminated from the leaves up,
    and a row of F costs O(P). ``features`` (C, P) is Psi of the training tasks, ``reg`` lambda_t.
    """

    def __init__(self, features: ArrayLike | sparse.sparray, reg: float):
        self.reg = check_positive(reg, "reg")
        self.features = sparse.csr_array(features).astype(np.float64)
        gram = self.features.T @ self.features
        self._factors = splu(
            (gram + self.reg * sparse.eye_array(gram.shape[0])).tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )

    def weights(self, F: ArrayLike) -> np.ndarray:
        """(F Psi) (Psi'Psi + reg I)^-1, (n, P), for F (n, C): its product with Psi' predicts."""
        return self._factors.solve((F @ self.features).T).T

    def squared_error(self, F: np.ndarray, columns: np.ndarray, y: np.ndarray) -> float:
        """Sum of (F H - Y)^2 over (n, C) for one-hot labels Y, without the (n, C) product F H.

        H = (G + reg I)^-1 G. With B = F Psi and X = B (Psi'Psi + reg I)^-1 the squared norm of F H
        is <B, X> - reg <X, X>. F (n, p) has the ``columns`` of the first step that are not zero;
        ``y`` (n,) is the task that is labelled 1 in each row.
        """
        B = F @ self.features[columns]
        X = self._factors.solve(B.T).T
        hit = self.features[y].multiply(X).sum()
        return len(y) - 2 * hit + np.sum(B * X) - self.reg * np.sum(X * X)


def path_features(parents: np.ndarray, leaves: np.ndarray, width: float) -> sparse.csr_array:
    """Features (C, P) whose inner products are exp(-d / width), d edges between two leaves.

    Stock et al. 2016, Section 6.3, with the width 10. rho^d with rho = exp(-1 / width) is the
    covariance of the process z_v = rho z_parent + noise of variance 1 - rho^2 that starts with
    variance 1 at the root; a feature is the coefficient of one node's noise. ``parents[0]`` is -1
    for the root, and nodes come after their parents.
    """
    parents, node = np.asarray(parents), np.asarray(leaves)
    decay = np.exp(-1.0 / check_positive(width, "width"))
    weight = np.ones(len(node))
    entries, row = [], np.arange(len(node))
    while len(node):
        scale = np.where(node == 0, 1.0, np.sqrt(1.0 - decay**2))
        entries.append((row, node, weight * scale))
        below = node > 0
        row, node, weight = row[below], parents[node[below]], decay * weight[below]
    rows, cols, values = (np.concatenate(part) for part in zip(*entries, strict=True))
    return sparse.csr_array((values, (rows, cols)), shape=(len(leaves), len(parents)))
