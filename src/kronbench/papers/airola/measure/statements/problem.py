"""The pairs that statements are measured on, and their matrices in the paper's letters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kronbench.pairs import PairData


@dataclass(frozen=True)
class Problem:
    """Training and test pairs over the vertices that occur in them, with linear kernels.

    Parameters
    ----------
    train, test : PairData
        n training and t test pairs with d features of start and r of end vertices.
    y : (n,) array of +1 and -1
        Labels of the training pairs.
    full : (int, int)
        How many features the data set has of start and of end vertices.
    """

    train: PairData
    test: PairData
    y: np.ndarray
    full: tuple[int, int]

    @property
    def D(self) -> np.ndarray:
        """(m, d) features of the start vertices."""
        return self.train.row_features

    @property
    def T(self) -> np.ndarray:
        """(q, r) features of the end vertices."""
        return self.train.col_features

    @property
    def K(self) -> np.ndarray:
        """(m, m) kernel of the start vertices."""
        return self.D @ self.D.T

    @property
    def G(self) -> np.ndarray:
        """(q, q) kernel of the end vertices."""
        return self.T @ self.T.T

    @property
    def K_hat(self) -> np.ndarray:
        """(u, m) kernel values between start vertices of test and of training pairs."""
        return self.test.row_features @ self.D.T

    @property
    def G_hat(self) -> np.ndarray:
        """(v, q) kernel values between end vertices of test and of training pairs."""
        return self.test.col_features @ self.T.T

    @property
    def X(self) -> np.ndarray:
        """(n, dr) R (T kron D), a row t kron d for each pair."""
        return row_products(self.T[self.train.cols], self.D[self.train.rows])

    @property
    def Q(self) -> np.ndarray:
        """(n, n) R (G kron K) R', entry by entry."""
        rows, cols = self.train.rows, self.train.cols
        return self.K[np.ix_(rows, rows)] * self.G[np.ix_(cols, cols)]

    @property
    def Q_hat(self) -> np.ndarray:
        """(t, n) kernel values between test and training pairs."""
        test, train = self.test, self.train
        return (
            self.K_hat[np.ix_(test.rows, train.rows)] * self.G_hat[np.ix_(test.cols, train.cols)]
        )


def row_products(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """(n, ab) Kronecker products of the rows of ``left`` (n, a) with those of ``right`` (n, b)."""
    return (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)
