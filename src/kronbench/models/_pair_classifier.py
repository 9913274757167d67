"""Two-class classifiers of pairs in the concatenated features [d, t]."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from kronbench.linalg import dense
from kronbench.models._pair_labels import check_columns, check_pairs, encode_two_classes
from kronbench.models._parameters import OfPairs
from kronbench.pairs import PairData
from kronbench.pairs._small_pairs import small_pairs
from kronbench.pairs.data import used_vertices


class PairClassifier(ClassifierMixin, OfPairs):
    """Two-class classifier of pairs; a subclass gives ``fit`` and ``_decision_function``.

    Labels are any two values, the larger one positive; inside they are -1 and +1.
    """

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
        check_is_fitted(self)
        check_pairs(X)
        check_columns(X.row_features, self._widths[0], "row")
        check_columns(X.col_features, self._widths[1], "col")
        return X


def occurring(X: PairData) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of each side the features of the vertices in use, dense, and the pairs' places in them."""
    found: Any = ()
    for features, index in ((X.row_features, X.rows), (X.col_features, X.cols)):
        vertices, position = used_vertices(index, features.shape[0])
        # a copy in any case: callers standardize it in place
        found += np.array(dense(features[vertices]), dtype=np.float64, order="C"), position
    return found


def concatenated(
    row_features: np.ndarray, rows: np.ndarray, col_features: np.ndarray, cols: np.ndarray
) -> np.ndarray:
    """The features [d, t] (n, d + r) of pairs of dense vertices, in rows of memory."""
    d = row_features.shape[1]
    out = np.empty((len(rows), d + col_features.shape[1]))
    np.take(row_features, rows, axis=0, out=out[:, :d], mode="clip")
    np.take(col_features, cols, axis=0, out=out[:, d:], mode="clip")
    return out
