"""Classifiers of rows: checked input, tags and the most probable class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from kronbench.models._parameters import CheckedParameters

Rows = ArrayLike | sparse.sparray
_ROWS = {"accept_sparse": "csr", "dtype": np.float64}


def training_rows(model: CheckedParameters, X: Rows, y: ArrayLike, **kinds: Any) -> tuple:
    """X (n, d) in double precision, dense or csr, and y, of one length."""
    return validate_data(model, X, y, **_ROWS, **kinds)


def new_rows(model: CheckedParameters, X: Rows) -> np.ndarray | sparse.csr_array:
    """X with the features of the rows that the model was fitted to."""
    check_is_fitted(model)
    return validate_data(model, X, reset=False, **_ROWS)


def forget_fit(model: CheckedParameters) -> None:
    """Take away what an earlier fit left: the attributes whose names end in an underscore."""
    for name in [name for name in vars(model) if name.endswith("_")]:
        delattr(model, name)


class RowClassifier(ClassifierMixin, CheckedParameters):
    """A subclass gives ``_scores(X)``, (n_new, C): the largest is that of the class to predict."""

    def predict(self, X: Rows) -> np.ndarray:
        """The most probable class (n_new,)."""
        best = np.argmax(self._scores(X), axis=1)
        return self.classes_[best]

    def __sklearn_tags__(self):
        tags, inner = super().__sklearn_tags__(), getattr(self, "estimator", None)
        of_inner = None if inner is None else inner.__sklearn_tags__().input_tags
        tags.input_tags.sparse = inner is None or of_inner.sparse
        tags.input_tags.pairwise = inner is not None and of_inner.pairwise
        return tags

    def _training_rows(self, X, y):
        self._check_parameters()
        X, y = training_rows(self, X, y)
        check_classification_targets(y)
        return X, y
