"""The kernel exp(-d / width) of the path lengths d between the leaves of a tree."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu


def path_features(parents, leaves, width) -> sparse.csr_array:
    """Features whose inner products are exp(-d / width) exactly, d edges between two leaves.

    Parameters
    ----------
    parents : (P,) integer array
        ``parents[0] == -1`` is the root.
    leaves : (C,) integer array
    width : float

    Returns
    -------
    (C, P) sparse array, as many entries in a row as its leaf has nodes on its path to the root.

    Notes
    -----
    rho^d with rho = exp(-1 / width) is the covariance of the process z_v = rho z_parent + noise
    of variance 1 - rho^2 that starts with variance 1 at the root; a feature is the coefficient of
    one node's noise.
    """
    parents, node = np.asarray(parents), np.asarray(leaves)
    decay = np.exp(-1.0 / width)
    weight = np.ones(len(node))
    entries, row = [], np.arange(len(node))
    while len(node):
        scale = np.where(node == 0, 1.0, np.sqrt(1.0 - decay**2))
        entries.append((row, node, weight * scale))
        below = node > 0
        row, node, weight = row[below], parents[node[below]], decay * weight[below]
    rows, cols, values = (np.concatenate(part) for part in zip(*entries, strict=True))
    return sparse.csr_array((values, (rows, cols)), shape=(len(leaves), len(parents)))


class TaskRidge:
    """Second step of two-step ridge regression with the task kernel G = Psi Psi', Psi sparse.

    Predictions F of a first step for the training tasks become F (G + reg I)^-1 G' for any tasks,
    by the inverse of Psi'Psi + reg I: eliminated from the leaves up, a tree has no fill-in, and a
    row of F costs O(P).

    Parameters
    ----------
    features : (C, P) sparse array, Psi
    reg : float
    """

    def __init__(self, features, reg):
        self._features, self.reg = features, reg
        gram = (features.T @ features + reg * sparse.eye_array(features.shape[1])).tocsc()
        self._factors = splu(
            gram,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )

    def weights(self, F) -> np.ndarray:
        """(F Psi) (Psi'Psi + reg I)^-1, (n, P), for F (n, C): its product with task features
        gives the predictions."""
        return self._factors.solve((F @ self._features).T).T

    def squared_error(self, F, columns, y) -> float:
        """Sum of (F H - Y)^2 over (n, C) for one-hot labels Y, without the (n, C) product F H.

        H = (G + reg I)^-1 G. With B = F Psi and X = B (Psi'Psi + reg I)^-1 the squared norm of F H
        is <B, X> - reg <X, X>.

        Parameters
        ----------
        F : (n, p) array
            The columns of the first step that are not zero,
        columns : (p,) integer array
            and which tasks these are.
        y : (n,) integer array
            The task that is labelled 1 in each row.
        """
        B = F @ self._features[columns]
        X = self._factors.solve(B.T).T
        hit = self._features[y].multiply(X).sum()
        return len(y) - 2 * hit + np.sum(B * X) - self.reg * np.sum(X * X)
