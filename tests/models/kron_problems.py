"""Small pair problems, and the dense formulas that the models must agree with."""

import numpy as np
from hypothesis import strategies as st

from kronbench import PairData


def random_pairs(m, q, n, seed, d=3, r=2):
    """n pairs drawn with repetition over m x q vertices with d and r features."""
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((m, d)), rng.standard_normal((q, r))
    return PairData(*features, rng.integers(0, m, n), rng.integers(0, q, n))


def random_labels(n, seed):
    """n labels in {-1, 1}, both present if n > 1."""
    y = np.random.default_rng(seed).choice([-1.0, 1.0], n)
    y[: min(n, 2)] = [1, -1][: min(n, 2)]
    return y


def dense_gram(X, Z, row_kernel, col_kernel):
    """Kernel of the pairs of X and Z, an array of len(X) x len(Z)."""
    K, G = row_kernel(X.row_features, Z.row_features), col_kernel(X.col_features, Z.col_features)
    return K[np.ix_(X.rows, Z.rows)] * G[np.ix_(X.cols, Z.cols)]


def concatenated(X):
    """The features [d, t] of the pairs."""
    return np.hstack([X.row_features[X.rows], X.col_features[X.cols]])


def product_features(X):
    """The features d kron t of the pairs, whose inner products are the linear product kernel."""
    D, T = X.row_features[X.rows], X.col_features[X.cols]
    return np.einsum("na,nb->nab", D, T).reshape(len(X), -1)


def linear(A, B):
    return A @ B.T


def gaussian(gamma):
    return lambda A, B: np.exp(-gamma * ((A[:, None] - B[None]) ** 2).sum(axis=2))


sizes = st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(2, 25))
seeds = st.integers(0, 2**32 - 1)
