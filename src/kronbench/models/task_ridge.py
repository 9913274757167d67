"""The second step of two-step ridge regression for very many tasks with sparse features."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from kronbench.errors import InputError, check_positive


class TaskRidge(BaseEstimator):
    """Ridge regression over tasks with the kernel G = Psi Psi', Psi (C, P) sparse.

    Predictions F (n, C) of a first step for the training tasks become F (G + reg I)^-1 G' for any
    tasks (Stock et al. 2016, Eqs. 10 and 11), by the inverse of Psi'Psi + reg I. For the features
    of :func:`kronbench.classes.tree_kernel.path_features` nothing fills in, eliminated from the
    leaves up, and a row of F costs O(P).

    Parameters
    ----------
    reg : float
        lambda_t > 0.

    Attributes
    ----------
    features_ : (C, P) csr array
        Psi.
    """

    def __init__(self, reg=1.0):
        self.reg = reg

    def fit(self, features, y=None):
        """Factorize the system of the task features Psi (C, P); ``y`` is not used."""
        reg = check_positive(self.reg, "reg")
        self.features_ = sparse.csr_array(features).astype(np.float64)
        gram = self.features_.T @ self.features_
        self._factors = splu(
            (gram + reg * sparse.eye_array(gram.shape[0])).tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        return self

    def weights(self, F) -> np.ndarray:
        """(F Psi) (Psi'Psi + reg I)^-1, (n, P), for F (n, C): its product with task features
        gives the predictions."""
        check_is_fitted(self)
        F = np.asarray(F)
        if F.ndim != 2 or F.shape[1] != self.features_.shape[0]:
            raise InputError(
                f"F has shape {F.shape}: give one column for each of the "
                f"{self.features_.shape[0]} training tasks"
            )
        return self._factors.solve((F @ self.features_).T).T

    def predict(self, F, features) -> np.ndarray:
        """Predictions (n, t) for tasks with the features (t, P)."""
        return (sparse.csr_array(features) @ self.weights(F).T).T

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
        check_is_fitted(self)
        B = F @ self.features_[columns]
        X = self._factors.solve(B.T).T
        hit = self.features_[y].multiply(X).sum()
        return len(y) - 2 * hit + np.sum(B * X) - self.reg * np.sum(X * X)
