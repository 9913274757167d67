"""One binary model for each class, the usual alternative to a joint likelihood."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from kronbench.errors import InputError


class OneAgainstRest(ClassifierMixin, BaseEstimator):
    """C binary classifiers of one kind, each with hyperparameters of its own (Seeger 2006, 8.1).

    scikit-learn's ``OneVsRestClassifier`` fits the same machines, but with one set of
    hyperparameters, and its probabilities are normalized; here they are those of the machines.

    Parameters
    ----------
    estimator : HierarchicalNewtonClassifier
        A flat model; its copies are fitted to the labels 0 (rest) and 1 (the class).
    warm_start : bool
        Whether ``fit_hyperparameters`` begins where each machine is since its last call.

    Attributes
    ----------
    classes_ : (C,) array
    estimators_ : list of C fitted copies
    """

    def __init__(self, estimator, warm_start=False):
        self.estimator = estimator
        self.warm_start = warm_start

    def fit(self, X, y):
        """Fit each machine to X (n, d) and the labels y (n,)."""
        X, y = self._checked(X, y)
        self.estimators_ = [
            clone(self.estimator).fit(X, (y == label).astype(int)) for label in self.classes_
        ]
        return self

    def fit_hyperparameters(self, X, y, folds, **options):
        """The same, each with its own hyperparameters; see the method of the machines."""
        X, y = self._checked(X, y)
        machines = getattr(self, "estimators_", []) if self.warm_start else []
        if len(machines) != len(self.classes_):
            machines = [self.estimator] * len(self.classes_)
        self.estimators_ = [
            clone(machine).fit_hyperparameters(X, (y == label).astype(int), folds, **options)
            for machine, label in zip(machines, self.classes_, strict=True)
        ]
        return self

    def predict_log_proba(self, X):
        """(n_new, C) logarithms of each machine's probability; they do not sum to one."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        return np.stack(
            [machine.predict_log_proba(X)[:, 1] for machine in self.estimators_], axis=1
        )

    def predict(self, X):
        """The class (n_new,) whose machine is most certain."""
        best = np.argmax(self.predict_log_proba(X), axis=1)
        return self.classes_[best]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = self.estimator.__sklearn_tags__()
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.pairwise = inner.input_tags.pairwise
        return tags

    def _checked(self, X, y):
        if getattr(self.estimator, "tree", None) is not None:
            raise InputError("the estimator has a tree: give a flat model, it meets two classes")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise InputError("y holds one class: give rows of two or more")
        return X, y
