"""Pairs and their labels as a user gives them, checked, and two-class classifiers of pairs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from kronbench.errors import InputError
from kronbench.linalg import dense
from kronbench.linalg.gram_matrix import as_floats, squared_lengths
from kronbench.models._parameters import OfPairs
from kronbench.pairs import PairData
from kronbench.pairs.data import small_pairs, used_vertices


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
    """InputError unless X is a PairData with at least one pair."""
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
    # A pair of weight zero would divide by zero where scores are scaled back.
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
    # Labels that are -1 and 1 already are not copied.
    if y.dtype == np.float64 and classes.tolist() == [-1.0, 1.0]:
        return classes, y
    return classes, np.where(y == classes[1], 1.0, -1.0)


class PairClassifier(ClassifierMixin, OfPairs):
    """Two-class classifier of pairs; a subclass gives ``fit`` and ``_decision_function``."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @classmethod
    def warm_up(cls, **parameters: Any) -> None:
        """Compile, or load, what fits and predictions need: call it before a clock starts."""
        pairs, y = small_pairs()
        cls(**parameters).fit(pairs, y).decision_function(pairs)

    def decision_function(self, X: PairData) -> np.ndarray:
        """Scores (n,); positive where ``classes_[1]`` is predicted."""
        return self._decision_function(self._checked_pairs(X))

    def predict(self, X: PairData) -> np.ndarray:
        """Predicted labels (n,), from ``classes_``."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(np.intp)]

    def _start_fit(self, X, y):
        """Check all, set ``classes_`` and the widths; the labels as (n,) -1.0 and 1.0."""
        self._check_parameters()
        self.classes_, signs = encode_two_classes(X, y)
        self._widths = X.row_features.shape[1], X.col_features.shape[1]
        self.n_features_in_ = sum(self._widths)
        return signs

    def _checked_pairs(self, X):
        """X, checked to be pairs of vertices with the features of the training set."""
        check_is_fitted(self)
        check_pairs(X)
        check_columns(X.row_features, self._widths[0], "row")
        check_columns(X.col_features, self._widths[1], "col")
        return X


def warn_of_rounded_squares(X: PairData, largest: float, remedy: str) -> None:
    """Warn where ||x||^2 + ||z||^2 - 2 x'z, as others form distances, is rounded by more.

    Of features that are far from zero, or of very different sizes, it keeps few digits.
    """
    # A sum has the rounding of its largest term.
    sides = (as_floats(side).astype(np.float64) for side in (X.row_features, X.col_features))
    error = np.finfo(float).eps * float(sum(squared_lengths(side).max() for side in sides))
    if error > largest:
        warnings.warn(
            f"squared distances are rounded by {error:.1e}: centre and scale the features, or "
            f"{remedy}",
            ConvergenceWarning,
            stacklevel=3,
        )


def occurring(X: PairData) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of each side the features of the vertices in use, dense, and the pairs' places in them."""
    parts: Any = ()
    for features, index in ((X.row_features, X.rows), (X.col_features, X.cols)):
        vertices, position = used_vertices(index, features.shape[0])
        # It is a copy in any case, because callers standardize it in place.
        parts += np.array(dense(features[vertices]), dtype=np.float64, order="C"), position
    return parts


def concatenated(
    row_features: np.ndarray, rows: np.ndarray, col_features: np.ndarray, cols: np.ndarray
) -> np.ndarray:
    """The features [d, t] (n, d + r) of pairs of dense vertices, of one dtype, in rows."""
    d = row_features.shape[1]
    # Each side is written to its place, without a copy that a stack of both would make.
    out = np.empty((len(rows), d + col_features.shape[1]), row_features.dtype)
    np.take(row_features, rows, axis=0, out=out[:, :d], mode="clip")
    np.take(col_features, cols, axis=0, out=out[:, d:], mode="clip")
    return out
