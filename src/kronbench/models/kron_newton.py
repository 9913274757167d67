"""Pairwise kernel models by truncated Newton methods (Airola & Pahikkala 2018, Section 3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags

from kronbench.errors import InputError
from kronbench.linalg import one_blas_thread
from kronbench.models._pair_labels import check_targets, encode_two_classes
from kronbench.models._product_kernel_model import ProductKernelModel
from kronbench.pairs import (
    LOSSES,
    Iterate,
    MarginPreconditioner,
    PairData,
    get_loss,
    newton_dual,
    newton_primal,
)


class KronNewton(ProductKernelModel):
    """Regularized risk on pairs with a Kronecker product kernel, for each loss of Table 2.

    Minimizes L(p, y) + reg/2 ||f||^2 by Algorithm 2 (dual) or 3 (primal). A product of the dual
    costs O(n (m + q)), of the primal O(min(q d r + d n, m d r + r n)); see
    :func:`kronbench.pairs.newton_dual` for their number. A classifier for "l1svm", "l2svm" and
    "logistic", a regressor for "ridge" and "rankrls" (whose scores have an arbitrary level).

    Parameters
    ----------
    loss : {"l2svm", "ridge", "l1svm", "logistic", "rankrls"}, default "l2svm"
        "l1svm" has no curvature: use it with the line search, and expect slow progress.
    form : {"dual", "primal"}, default "dual"
        Coefficients of the pairs, or of products of a row and a column feature (Section 3.1). The
        primal form has the features of linear kernels, made dense, and for others those of
        pivoted Cholesky factors that reproduce the kernel matrices to 1e-11 (1e-6 in single
        precision): for kernels of small numerical rank.
    reg : float, default 1.0
        Regularization weight, the paper's lambda > 0.
    pairwise : str or mapping from str to float, default "kronecker"
        Kernel of pairs, one of :data:`kronbench.pairs.PAIRWISE`, or several with their weights in
        a sum (dual form): see :mod:`kronbench.pairs.pairwise`. Vertices are the same in training
        and prediction where both have the very same features, as subsets of one PairData do.
    row_kernel, col_kernel : {"linear", "gaussian", "tanimoto", "precomputed"} or callable, \
default "linear"
        Positive semidefinite kernels of the row and the column vertices, as in
        :func:`kronbench.linalg.gram`.
    row_gamma, col_gamma : float, optional
        Inverse squared widths of Gaussian kernels, exp(-gamma ||x - x'||^2).
    row_effect, col_effect : float, default 0
        Added to the kernel of a vertex with itself: a deviation of each known vertex from what its
        features say (dual form).
    max_iter : int, default 100
        Newton steps, the outer iterations. With tol=0 fewer regularize more, and that is
        meant; else a ConvergenceWarning says that they did not reach ``tol``.
    max_inner : int, default 100
        Iterations of the Krylov method in each Newton step.
    solver : {"qmr", "minres", "cg", "pcg"}, default "qmr"
        Krylov method for the linear system of a step. "qmr" is the paper's choice. "cg" makes half
        of its products and always finds a direction of descent; "minres" works on the active set
        alone and drops the other coefficients. "pcg", for the primal form, is "cg" with a
        :class:`kronbench.pairs.MarginPreconditioner`: a few iterations reach the optimum where
        the pairs are a random part of all of them.
    iterated : bool, default False
        Regularize the steps, not the coefficients: see :func:`kronbench.pairs.newton_dual`.
    line_search : bool, default True
        Step length by line search; else 1.
    tol : float, default 1e-4
        Ends an inner or the outer loop when its residual has fallen by this factor.
    product : {"auto", "sparse", "dense", "lowrank"}, default "auto"
        How products are made, the ``method`` of :class:`kronbench.pairs.SampledKroneckerOperator`;
        "sparse" is the paper's Algorithm 1.
    dtype : {"float32", "float64"}, optional
        Of features, products and coefficients. By default that of the features: single where both
        sides have it, else double.

    Attributes
    ----------
    X_fit_ : PairData
        The pairs of the training set, by reference.
    dual_coef_ : (n,) array, dual form
        Coefficients a of f(d, t) = sum_h a_h k(d_h, d) g(t_h, t).
    coef_ : (d*r,) array, primal form
        ``coef_.reshape(d, r)`` is the weight of each product of a row and a column feature.
    feature_maps_ : two functions, primal form
        From given features of row and of column vertices to those of the product.
    classes_ : (2,) array, classifiers
        Positive scores mean ``classes_[1]``.
    n_iter_ : int
        Newton steps made.
    objective_path_ : (n_iter_,) array
        Regularized risk after each step; the risk alone where ``iterated``.
    stop_reason_ : {"tol", "max_iter", "callback", "no_descent", "breakdown", "diverged"}
        See :class:`kronbench.pairs.NewtonResult`.
    converged_ : bool
        Whether ``tol`` was reached.
    """

    def __init__(
        self,
        *,
        loss: str = "l2svm",
        form: str = "dual",
        reg: float = 1.0,
        pairwise: str | Mapping[str, float] = "kronecker",
        row_kernel: str | Callable = "linear",
        col_kernel: str | Callable = "linear",
        row_gamma: float | None = None,
        col_gamma: float | None = None,
        row_effect: float = 0.0,
        col_effect: float = 0.0,
        max_iter: int = 100,
        max_inner: int = 100,
        solver: str = "qmr",
        iterated: bool = False,
        line_search: bool = True,
        tol: float = 1e-4,
        product: str = "auto",
        dtype: DTypeLike | None = None,
    ):
        self.loss = loss
        self.form = form
        self.reg = reg
        self.pairwise = pairwise
        self.row_kernel = row_kernel
        self.col_kernel = col_kernel
        self.row_gamma = row_gamma
        self.col_gamma = col_gamma
        self.row_effect = row_effect
        self.col_effect = col_effect
        self.max_iter = max_iter
        self.max_inner = max_inner
        self.solver = solver
        self.iterated = iterated
        self.line_search = line_search
        self.tol = tol
        self.product = product
        self.dtype = dtype

    @property
    def _iterations_regularize(self):
        return self.iterated

    @property
    def _is_classifier(self):
        return self.loss in LOSSES and LOSSES[self.loss].margin

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if self._is_classifier:
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags(multi_class=False)
        else:
            tags.estimator_type = "regressor"
            tags.regressor_tags = RegressorTags()
        return tags

    def fit(
        self, X: PairData, y: ArrayLike, callback: Callable[[Iterate], bool] | None = None
    ) -> Self:
        """Fit to the labels of pairs.

        Parameters
        ----------
        X : PairData, n pairs
        y : (n,) array
            Labels of two classes for a classifier, numbers for a regressor.
        callback : callable(Iterate) -> bool, optional
            Called after each Newton step; True stops.

        Raises
        ------
        InputError
            X is no PairData, y does not fit it, has one class or more than two, is not finite; a
            parameter is out of range; the kernel is not positive semidefinite ("cg").
        """
        loss = get_loss(self.loss)
        if loss.margin:
            classes, y = encode_two_classes(X, y)
        else:
            classes, y = None, check_targets(X, y)
        primal, preconditioned = self._is_primal(), self.solver == "pcg"
        if preconditioned and not primal:
            raise InputError(f"form={self.form!r}: solver='pcg' needs form='primal'")
        maps = self._make_feature_maps(X) if primal else None
        design = self._design(maps, X) if primal else None
        operator = self._design_operator(*design) if primal else self._gram_operator(X)
        # Between products the threads of the BLAS would go on spinning beside those of numba
        with one_blas_thread:
            options = {"solver": "cg" if preconditioned else self.solver}
            if preconditioned:
                options["preconditioner"] = MarginPreconditioner(*design)
            minimize = newton_primal if primal else newton_dual
            result = minimize(
                operator,
                loss,
                y.astype(operator.dtype, copy=False),
                self.reg,
                **options,
                max_iter=self.max_iter,
                max_inner=self.max_inner,
                iterated=self.iterated,
                line_search=self.line_search,
                tol=self.tol,
                callback=callback,
            )
        self.__dict__.pop("classes_", None)  # of an earlier fit with a classifier's loss
        if classes is not None:
            self.classes_ = classes
        self._set_fitted(X, maps, result.coef, result.objective_path, result.stop)
        return self

    def predict(self, X: PairData) -> np.ndarray:
        """Labels (t,) of the pairs of X for a classifier, their scores for a regressor."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int)] if self._is_classifier else scores

    def score(self, X: PairData, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Share of right labels for a classifier, R^2 for a regressor.

        Parameters
        ----------
        X : PairData, t pairs
        y : (t,) array
        sample_weight : (t,) array, optional
        """
        metric = accuracy_score if self._is_classifier else r2_score
        return metric(y, self.predict(X), sample_weight=sample_weight)
