"""Pairs and their labels as a user gives them, checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from kronbench.errors import InputError
from kronbench.pairs import PairData


def check_columns(
    features: np.ndarray | sparse.csr_array, wanted: int, side: str, precomputed: bool = False
) -> None:
    """InputError unless there are as many as features, or for a kernel as training vertices."""
    if features.shape[1] == wanted:
        return
    if precomputed:
        raise InputError(
            f"{side}_features is a precomputed kernel of shape {features.shape}: give one "
            f"column for each of the {wanted} training vertices"
        )
    raise InputError(
        f"{side}_features has {features.shape[1]} columns and the training set {wanted}: give the "
        "same features to both"
    )


def check_pairs(X: PairData) -> None:
    if not isinstance(X, PairData):
        raise InputError(f"X is a {type(X).__name__}: give a PairData")
    if len(X) == 0:
        raise InputError("X has no pairs: give at least one")


def check_labels(X: PairData, y: ArrayLike) -> np.ndarray:
    """The labels as an array (n,), one for each pair of X, both checked."""
    check_pairs(X)
    y = np.asarray(y)
    if y.shape != (len(X),):
        raise InputError(f"y has shape {y.shape}: give one label for each of the {len(X)} pairs")
    return y


def with_weight(
    X: PairData, y: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[PairData, ArrayLike, np.ndarray | None]:
    """Pairs, labels and weights (n,) without the pairs of weight zero; all pairs where None."""
    if sample_weight is None:
        return X, y, None
    y, weight = check_labels(X, y), np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != y.shape or not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise InputError(
            f"sample_weight has shape {weight.shape}: give a weight, finite and not negative, for "
            f"each of the {len(X)} pairs"
        )
    kept = weight > 0
    if not kept.any():
        raise InputError("sample_weight is zero for every pair: give one that is positive")
    return X[kept], y[kept], weight[kept]


def check_targets(X: PairData, y: ArrayLike) -> np.ndarray:
    """Y as finite float64 (n,) for the pairs of X."""
    y = check_labels(X, y)
    if y.dtype.kind not in "fiub":
        raise InputError(f"Unknown label type: y has dtype {y.dtype}, give numbers")
    y = y.astype(np.float64)
    if not np.isfinite(y).all():
        raise InputError("y holds NaN or infinite values: give finite numbers")
    return y


def encode_two_classes(X: PairData, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """The two sorted classes of y, and y with -1.0 for the first and 1.0 for the second."""
    y = check_labels(X, y)
    if y.dtype.kind == "c":
        raise InputError("y holds complex numbers: give labels that have an order")
    if (y.dtype.kind == "f" and not np.isfinite(y).all()) or np.any(y != y):  # NaN and NaT
        raise InputError("y holds NaN or infinite values: give the label of every pair")
    classes = np.unique(y)
    if len(classes) != 2:
        raise InputError(
            f"Only binary classification is supported: y holds {len(classes)} "
            f"class{'es' if len(classes) > 1 else ''}"
            + ("; KronRidge takes continuous labels" if len(classes) > 2 else "")
        )
    if y.dtype == np.float64 and classes.tolist() == [-1.0, 1.0]:
        return classes, y
    return classes, np.where(y == classes[1], 1.0, -1.0)
