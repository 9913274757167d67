"""One binary model for each class, the usual alternative to a joint likelihood."""

from __future__ import annotations

from dataclasses import MISSING
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from kronbench.errors import InputError
from kronbench.models._parameters import CheckedParameters, estimator, parameter


@estimator
class OneAgainstRest(CheckedParameters, ClassifierMixin, BaseEstimator):
    """C binary classifiers of one kind, one for each class (Seeger 2006, section 8.1).

    scikit-learn's ``OneVsRestClassifier`` fits the same machines, but its probabilities are
    normalized; here they are those of the machines, and machines that learn hyperparameters may
    start from earlier ones. C fits of the machine.

    Parameters
    ----------
    estimator : classifier with ``predict_log_proba``
        A flat model; its copies are fitted to the labels 0 (rest) and 1 (the class). With
        :class:`HierarchicalNewtonCV` each has hyperparameters of its own.

    Attributes
    ----------
    {row_classes}
    estimators_ : list of C fitted copies
    """

    estimator: ClassifierMixin = parameter(
        MISSING, HasMethods(["fit", "predict_log_proba"]), positional=True
    )

    def fit(
        self,
        X: ArrayLike | sparse.sparray,
        y: ArrayLike,
        *,
        start: OneAgainstRest | None = None,
        **options: Any,
    ) -> Self:
        """Fit each machine to X (n, d), dense or sparse, and labels y (n,) of two classes or more.

        The machine of a class is given that of ``start``, a fitted one of the same classes, as its
        own ``start``, and ``options``, such as ``folds``, for its ``fit``.
        """
        self._check_parameters()
        parameters = self.estimator.get_params()
        if any(parameters.get(name) is not None for name in ("tree", "estimator__tree")):
            raise InputError("the estimator has a tree: give a flat model, it meets two classes")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise InputError("y holds one class: give rows of two or more")
        each = [options] * len(self.classes_)
        if start is not None:
            if not np.array_equal(start.classes_, self.classes_):
                raise InputError("start has other classes than y: give one fitted to the same")
            each = [{**options, "start": machine} for machine in start.estimators_]
        self.estimators_ = [
            clone(self.estimator).fit(X, (y == label).astype(int), **options)
            for label, options in zip(self.classes_, each, strict=True)
        ]
        return self

    def predict_log_proba(self, X: ArrayLike | sparse.sparray) -> np.ndarray:
        """(n_new, C) logarithms of each machine's probability; they do not sum to one."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        return np.stack(
            [machine.predict_log_proba(X)[:, 1] for machine in self.estimators_], axis=1
        )

    def predict(self, X: ArrayLike | sparse.sparray) -> np.ndarray:
        """The class (n_new,) whose machine is most certain."""
        best = np.argmax(self.predict_log_proba(X), axis=1)
        return self.classes_[best]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = self.estimator.__sklearn_tags__()
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.pairwise = inner.input_tags.pairwise
        return tags
