"""Pairwise kernel models by truncated Newton methods (Airola & Pahikkala 2018, Section 3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy.sparse.linalg import LinearOperator
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils._param_validation import StrOptions

from kronbench.errors import InputError
from kronbench.linalg import one_blas_thread
from kronbench.models._pair_labels import check_targets, encode_two_classes
from kronbench.models._parameters import COUNT
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
    fit_intercept : bool, default False
        For "ridge" fit to the labels minus their mean, and add it to predictions; for "rankrls",
        which sees no level, add the mean of what predictions miss. For a classifier the kernel of
        pairs plus 1, so that ``intercept_`` is fitted with the coefficients and pays
        reg/2 intercept_^2. False as in the paper.
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
        The pairs of the training set, by reference: a change of its arrays changes predictions of
        the dual form.
    fitted_params_ : dict
        The parameters of the fit, which predictions go by whatever is set later.
    dual_coef_ : (n,) array, dual form
        Coefficients a of f(d, t) = sum_h a_h k(d_h, d) g(t_h, t).
    coef_ : (d*r,) array, primal form
        ``coef_.reshape(d, r)`` is the weight of each product of a row and a column feature.
    feature_maps_ : two functions, primal form
        From given features of row and of column vertices to those of the product.
    intercept_ : float
        Added to each score; 0.0 without ``fit_intercept``.
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

    _parameter_constraints: ClassVar = {
        **ProductKernelModel._parameter_constraints,
        "loss": [StrOptions(set(LOSSES))],
        "max_inner": [COUNT],
        "solver": [StrOptions({"qmr", "minres", "cg", "pcg"})],
        "iterated": ["boolean"],
        "line_search": ["boolean"],
    }

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
        fit_intercept: bool = False,
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
        self.fit_intercept = fit_intercept
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
            Called after each Newton step; True stops. With ``fit_intercept`` a classifier's last
            primal coefficient is the intercept.

        Raises
        ------
        InputError
            X is no PairData, y does not fit it, has one class or more than two, is not finite; a
            parameter is out of range; the kernel is not positive semidefinite ("cg").
        """
        self._check_parameters()
        loss, intercept = get_loss(self.loss), 0.0
        if loss.margin:
            classes, y = encode_two_classes(X, y)
        else:
            classes, y = None, check_targets(X, y)
            if self.loss == "ridge":
                intercept = self._intercept(y)
                y = y - intercept if intercept else y
        constant = loss.margin and self.fit_intercept
        primal, preconditioned = self._is_primal(), self.solver == "pcg"
        if preconditioned and not primal:
            raise InputError(f"form={self.form!r}: solver='pcg' needs form='primal'")
        maps = self._make_feature_maps(X) if primal else None
        design = self._design(maps, X) if primal else None
        operator = self._design_operator(*design) if primal else self._gram_operator(X)
        if constant:
            operator = _with_constant(operator, primal)
        # Between products the threads of the BLAS would go on spinning beside those of numba
        with one_blas_thread:
            options = {"solver": "cg" if preconditioned else self.solver}
            if preconditioned:
                near = MarginPreconditioner(*design)
                options["preconditioner"] = _beside_constant(near) if constant else near
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
        coef = result.coef
        if constant:
            intercept = float(coef[-1] if primal else coef.sum())
            coef = coef[:-1] if primal else coef
        elif self.fit_intercept and self.loss != "ridge":
            intercept = float(np.mean(y - result.scores))
        self.intercept_ = intercept
        self._set_fitted(X, maps, coef, result.objective_path, result.stop)
        return self

    def predict(self, X: PairData) -> np.ndarray:
        """Labels (t,) of the pairs of X for a classifier, their scores for a regressor."""
        scores = self.decision_function(X)
        # as it was fitted, whatever ``loss`` says by now
        return self.classes_[(scores > 0).astype(int)] if hasattr(self, "classes_") else scores

    def score(self, X: PairData, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Share of right labels for a classifier, R^2 for a regressor.

        Parameters
        ----------
        X : PairData, t pairs
        y : (t,) array
        sample_weight : (t,) array, optional
        """
        predicted = self.predict(X)
        metric = accuracy_score if hasattr(self, "classes_") else r2_score
        return metric(y, predicted, sample_weight=sample_weight)


def _with_constant(A, primal):
    """The operator of the kernel of pairs plus 1: with a constant feature last in the primal."""
    n, p = A.shape
    if primal:
        return LinearOperator(
            (n, p + 1),
            dtype=A.dtype,
            matvec=lambda v: A.matvec(v[:-1]) + v[-1],
            rmatvec=lambda u: np.append(A.rmatvec(u), u.sum()),
        )

    def product(v):
        return A.matvec(v) + v.sum()

    return LinearOperator((n, p), dtype=A.dtype, matvec=product, rmatvec=product)


def _beside_constant(preconditioner):
    """It for the coefficients, and the constant's own curvature for the last one."""

    def make(weights, reg):
        solve, curvature = preconditioner(weights, reg), weights.sum() + reg
        return lambda v: np.append(solve(v[:-1]), v[-1] / curvature)

    return make
