"""One binary model for each class, the usual alternative to a joint likelihood."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, clone
from sklearn.utils._param_validation import HasMethods

from kronbench.errors import InputError
from kronbench.models._parameters import estimator, positional
from kronbench.models._row_classifier import RowClassifier, Rows, new_rows


@estimator
class OneAgainstRest(RowClassifier):
    """C binary classifiers of one kind, one for each class (Seeger 2006, section 8.1).

    As scikit-learn's ``OneVsRestClassifier``, but with the probabilities of the machines, which
    may start from earlier ones. C fits of the machine.

    Parameters
    ----------
    estimator : classifier with ``predict_log_proba``
        A flat model; its copies are fitted to the labels 0 (rest) and 1 (the class). With
        :class:`HierarchicalNewtonCV` each copy has its own hyperparameters.

    Attributes
    ----------
    {row_classes}
    estimators_ : list of C fitted copies
    """

    estimator: ClassifierMixin = positional(
        HasMethods(["fit", "predict_log_proba"]), kw_only=False
    )

    def fit(
        self,
        X: Rows,
        y: ArrayLike,
        *,
        start: OneAgainstRest | None = None,
        **options: Any,
    ) -> Self:
        """Fit each machine to X (n, d), dense or sparse, and labels y (n,) of two classes or more.

        The machine of a class is given that of ``start``, a fitted one of the same classes, as its
        own ``start``, and ``options``, such as ``folds``, for its ``fit``.
        """
        X, y = self._training_rows(X, y)
        parameters = self.estimator.get_params()
        if any(parameters.get(name) is not None for name in ("tree", "estimator__tree")):
            raise InputError(
                "the estimator has a tree: give a flat model, since each problem has two classes"
            )
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise InputError("y holds one class: give rows of two or more")
        each = [options] * len(self.classes_)
        if start is not None:
            if not np.array_equal(start.classes_, self.classes_):
                raise InputError("start has other classes than y: give one fitted to the same")
            each = [{**options, "start": machine} for machine in start.estimators_]
        self.estimators_: list = [
            clone(self.estimator).fit(X, (y == label).astype(int), **options)
            for label, options in zip(self.classes_, each, strict=True)
        ]
        return self

    def predict_log_proba(self, X: Rows) -> np.ndarray:
        """(n_new, C) logarithms of each machine's probability; they do not sum to one."""
        X = new_rows(self, X)
        return np.stack(
            [machine.predict_log_proba(X)[:, 1] for machine in self.estimators_], axis=1
        )

    def _scores(self, X):
        return self.predict_log_proba(X)
