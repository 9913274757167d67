"""Weighted sums of candidate kernels of one side, whose weights can be learned."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from kronbench.errors import InputError
from kronbench.evaluation import margin_scores
from kronbench.linalg import dense, gram
from kronbench.linalg.eigen import check_semidefinite
from kronbench.pairs import PairData

Candidate = str | Callable | np.ndarray

OF_LABELS = "profile"
_OF_FEATURES = ("linear", "tanimoto")


def base_kernels(
    candidates: Mapping[str, Candidate],
    powers: tuple[int, ...],
    X: PairData,
    y: np.ndarray,
    side: str,
) -> dict[str, np.ndarray]:
    """Kernel matrices (v, v) over all vertices of a side, divided by the mean of their diagonals.

    Parameters
    ----------
    candidates : mapping from names to kernels, as in ``KronRidgeCV``
    powers : tuple of int
        Elementwise powers of each candidate but "constant" and "profile", which are kernels too.
    X : PairData, n training pairs
    y : (n,) array
    side : {"row", "col"}

    Raises
    ------
    InputError
        A candidate is unknown, of another size, not symmetric, or indefinite.
    """
    features, index = getattr(X, f"{side}_features"), getattr(X, f"{side}s")
    size = features.shape[0]
    bases = {}
    for name, candidate in candidates.items():
        if isinstance(candidate, str) and candidate == "constant":
            bases[name] = np.ones((size, size))
            continue
        if isinstance(candidate, str) and candidate == OF_LABELS:
            bases[name] = profile_kernel(X, y, side)
            continue
        if isinstance(candidate, str) and candidate not in _OF_FEATURES:
            raise InputError(
                f"{side}_kernels has {candidate!r}: give 'linear', 'tanimoto', 'constant', "
                "'profile', a kernel function or a kernel matrix"
            )
        if isinstance(candidate, str) or callable(candidate):
            K = gram(features, kernel=candidate)
        else:
            K = dense(candidate)
        if K.shape != (size, size):
            raise InputError(
                f"{side}_kernels[{name!r}] has shape {K.shape}: give one row and one column for "
                f"each of the {size} vertices"
            )
        check_semidefinite(K, f"{side}_kernels[{name!r}]")
        K = K / np.mean(K.diagonal()[np.unique(index)])
        for power in powers:
            bases[name if power == 1 else f"{name}^{power}"] = K**power
    return bases


def profile_kernel(X: PairData, y: np.ndarray, side: str) -> np.ndarray:
    """Gaussian kernel between the label profiles of the vertices of a side.

    A profile z is what the training labels of a vertex are beyond row and column effects, zero
    where a pair is not known and all zero for a new vertex: exp(-||z - z'||^2 / mean ||z||^2).

    References
    ----------
    Van Laarhoven, Nabuurs & Marchiori 2011, Bioinformatics 27(21), 3036.
    """
    Z = np.zeros((X.n_rows, X.n_cols))
    Z[X.rows, X.cols] = y - margin_scores(X, y, X)
    Z = Z if side == "row" else Z.T
    squares = np.einsum("ij,ij->i", Z, Z)
    known = squares[squares > 0]
    gamma = 1 / known.mean() if len(known) else 1.0
    K = gram(Z, kernel="gaussian", gamma=gamma)
    return (K + K.T) / 2
