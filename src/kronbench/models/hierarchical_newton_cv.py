"""Hyperparameters of the hierarchical classifier, learned by cross-validation (Seeger 2006)."""

from __future__ import annotations

import time
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from kronbench.errors import InputError
from kronbench.evaluation import even_folds
from kronbench.linalg.quasi_newton import capped_bfgs
from kronbench.models._parameters import AT_LEAST_0, COUNT, estimator, parameter, positional
from kronbench.models._row_classifier import (
    RowClassifier,
    Rows,
    forget_fit,
    new_rows,
    training_rows,
)
from kronbench.models.hierarchical_newton import HierarchicalNewtonClassifier

_SHARING = [StrOptions({"all", "level", "subtree", "node"}), "array-like"]


@estimator
class HierarchicalNewtonCV(RowClassifier):
    """The hierarchical classifier at the hyperparameters of the largest ``cv_log_likelihood``.

    A quasi-Newton search over logarithms from the parameters of ``estimator``, with steps of at
    most 1 in each, then a fit to all rows (Seeger 2006, section 6.3). The search keeps away from
    points whose fits do not converge. An evaluation costs a fit of each fold, from the last one,
    and a gradient of the price of a Newton step. On a flat ridge, or where the optimum lies at
    infinity, searches that converged may differ by factors when rows are permuted; smaller
    ``noise`` and ``tol`` follow a ridge further.

    Parameters
    ----------
    estimator : HierarchicalNewtonClassifier
        Its ``variance`` and ``gamma`` are the start of the search, at their geometric mean in
        each group; everything else stays.
    sharing, gamma_sharing : {"all", "level", "subtree", "node"} or (P,) integer array, default \
"all"
        Nodes of a group have one variance, or one width of a Gaussian kernel. For F1, F2, H1 and
        H2 see :func:`~kronbench.class_tree.sharing_pattern`; mc-tied is "all" for both, mc-sep
        "node" for both.
    learn_coupling : bool, default False
        Learn the entries of the estimator's ``coupling``, not the variances (section 7.2).
    cv : int, default 5
        Random folds of even size, if ``fit`` gets none.
    random_state : int, RandomState or None, default None
        Draws these folds.
    max_iter : int, default 40
        Evaluations of the likelihood and its gradient.
    noise : float, default 1e-5
        Gains below this part of the value do not count, and end the search.
    tol : float, default 1e-5
        Relative duality gap of the fits during the search.

    Attributes
    ----------
    classes_ : (C,) array
    n_features_in_ : int
    feature_names_in_ : (n_features_in_,) array
        Where X has names of columns.
    variance_ : (P,) array
    gamma_ : (P,) array; as given to the estimator where the kernel is not Gaussian
    coupling_ : (C, P) array, where it is learned
    cv_log_likelihood_ : float
        The value at these hyperparameters.
    inverse_hessian_ : (m, m) array or None
        Of minus the likelihood of a row, by the parameters of ``hyperparameter_path_``, as
        estimated by the steps of the search; None without steps.
    best_estimator_ : HierarchicalNewtonClassifier
        With these hyperparameters, fitted to all rows.
    hyperparameter_path_ : list of dict
        ``parameters`` (logarithms of the variance and then the width of each group, entries of
        the coupling) and ``value`` of each evaluation in turn, -inf where it did not converge,
        and what it took: ``seconds``, ``n_products``, ``n_iter``, ``n_inner``, ``n_adjoint``,
        ``converged``.
    n_iter_ : int
        Their number.
    converged_ : bool
        Whether the search came within the noise before ``max_iter`` evaluations.
    """

    estimator: HierarchicalNewtonClassifier = positional(
        HierarchicalNewtonClassifier, kw_only=False
    )
    sharing: str | ArrayLike = parameter("all", *_SHARING)
    gamma_sharing: str | ArrayLike = parameter("all", *_SHARING)
    learn_coupling: bool = parameter(False, "boolean")
    cv: int = parameter(5, Interval(Integral, 2, None, closed="left"))
    random_state: int | np.random.RandomState | None = parameter(None, "random_state")
    max_iter: int = parameter(40, COUNT)
    noise: float = parameter(1e-5, AT_LEAST_0)
    tol: float = parameter(1e-5, AT_LEAST_0)

    def fit(
        self,
        X: Rows,
        y: ArrayLike,
        *,
        folds: ArrayLike | None = None,
        start: HierarchicalNewtonCV | None = None,
        begun: HierarchicalNewtonCV | None = None,
    ) -> Self:
        """Learn from X (n, d), dense or sparse, or (n, n) kernel values, and labels y (n,).

        Parameters
        ----------
        folds : (n,) integer array, optional
            The fold of each row, negative where it trains in every fold; of ``cv`` when None.
        start : HierarchicalNewtonCV, optional
            A fitted one of the same nodes, say to some of the rows: the search begins at its
            hyperparameters, and with its ``inverse_hessian_`` where it has as many of them.
        begun : HierarchicalNewtonCV, optional
            One fitted to the same X, y and folds, say with other ``sharing``: where both begin at
            the same hyperparameters, the evaluation there, and its products, are taken from it.
        """
        self._check_parameters()
        forget_fit(self)
        X, y = training_rows(self, X, y)
        # The search starts at the estimator's parameters, or at those of an earlier search.
        model, inverse = clone(self.estimator), None
        if start is not None:
            check_is_fitted(start)
            names = ["variance", "gamma", *(["coupling"] if start.learn_coupling else [])]
            model.set_params(**{name: getattr(start, f"{name}_") for name in names})
            inverse = start.inverse_hessian_
        # The folds are the sets I_k of Eq. 3.
        if folds is None:
            if self.cv > len(y):
                raise InputError(
                    f"cv is {self.cv} for n_samples={len(y)}: give a row for each fold"
                )
            folds = even_folds(len(y), self.cv, check_random_state(self.random_state))
        # The criterion is Psi; the first evaluation of another search serves where it is the same.
        rows, codes, coupling = model._checked(X, y)
        first = None if begun is None else begun._first_evaluation
        sharing, options = (self.sharing, self.gamma_sharing), {"tol": self.tol, "first": first}
        criterion = model._criterion(
            *(rows, codes, coupling, folds, sharing), learn_coupling=self.learn_coupling, **options
        )
        # ``inverse_hessian_`` is that of a row, Psi a sum over rows.
        if inverse is not None:
            inverse = inverse / len(y) if len(inverse) == len(criterion.start) else None
        (best, value, inverse), self.hyperparameter_path_ = self._search(criterion, inverse)
        if not np.isfinite(value):
            raise InputError(
                f"the fits to the folds do not converge at variance {model.variance} and gamma "
                f"{model.gamma}, the start of the search: give smaller variances, or raise "
                "max_iter or max_inner of the estimator"
            )
        # The model at the best hyperparameters is fitted to all rows.
        parameters = criterion.parameters(best)
        self._first_evaluation: Any = criterion.folds.first
        del criterion  # The last fit makes kernel matrices of its own.
        model.set_params(**parameters)
        self.best_estimator_ = clone(model).fit(X, y)
        self.classes_ = self.best_estimator_.classes_
        self.variance_, self.gamma_ = model.variance, model.gamma
        if self.learn_coupling:
            self.coupling_ = model.coupling
        self.cv_log_likelihood_ = -value
        self.inverse_hessian_: Any = None if inverse is None else inverse * len(y)
        self.n_iter_ = len(self.hyperparameter_path_)
        self.converged_ = self.n_iter_ < self.max_iter
        return self

    def _search(self, criterion, inverse):
        """The search and the list of its evaluations."""
        path: list[dict] = []
        begun = time.perf_counter()

        def value_and_gradient(x):
            nonlocal begun
            # A point whose fits do not converge is as bad as can be, so that the search leaves it.
            evaluation, gradient, _ = criterion.evaluate(x)
            value = evaluation.value if evaluation.converged else np.inf
            counts = evaluation.counts | {"converged": evaluation.converged}
            seconds = time.perf_counter() - begun
            path.append({"parameters": x.copy(), "value": -value, "seconds": seconds, **counts})
            begun = time.perf_counter()
            return value, gradient

        options = {"noise": self.noise, "max_evaluations": self.max_iter, "inverse": inverse}
        return capped_bfgs(value_and_gradient, criterion.start, **options), path

    def _scores(self, X):
        """Scores (n_new, C) of the model that was fitted to all rows."""
        X = new_rows(self, X)
        return self.best_estimator_._scores(X)
