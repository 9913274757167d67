"""Pairwise kernel models by truncated Newton methods (Airola & Pahikkala 2018, Section 3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator
from sklearn.utils._param_validation import StrOptions

from kronbench.errors import InputError
from kronbench.linalg import one_blas_thread
from kronbench.models._pair_classifier import check_targets, encode_two_classes, with_weight
from kronbench.models._parameters import COUNT, EitherTask, estimator, parameter
from kronbench.models._product_kernel_model import ProductKernelModel
from kronbench.pairs import (
    LOSSES,
    Iterate,
    MarginPreconditioner,
    PairData,
    newton_dual,
    newton_primal,
)
from kronbench.pairs.losses import with_sample_weight


@estimator
class KronNewton(EitherTask, ProductKernelModel):
    """Regularized risk on pairs with a Kronecker product kernel, for each loss of Table 2.

    Minimizes L(p, y) + reg/2 ||f||^2 by Algorithm 2 (dual, O(n (m + q)) a product) or 3 (primal,
    O(min(q d r + d n, m d r + r n))). A classifier for "l1svm", "l2svm" and "logistic", a
    regressor for "ridge" and "rankrls" (whose scores have an arbitrary level).

    Parameters
    ----------
    loss : {"l2svm", "ridge", "l1svm", "logistic", "rankrls"}, default "l2svm"
        "l1svm" has no curvature: use it with the line search, and expect slow progress.
    {form}
    {reg}
    {kernels}
    fit_intercept : bool, default False
        For "ridge" the mean of the labels, for "rankrls", which sees no level, of what predictions
        miss. For a classifier the kernel of pairs plus 1, so that ``intercept_`` is fitted with
        the coefficients and pays reg/2 intercept_^2. False as in the paper.
    max_iter : int, default 100
        Newton steps, the outer iterations. With tol=0 fewer steps regularize more; otherwise a
        ConvergenceWarning says that ``tol`` was not reached, and the last coefficients stay.
    {newton}
    {product}
    {verbose}

    Attributes
    ----------
    {fitted_pairs}
    {fitted_newton}
    """

    tol: float = 1e-4
    loss: str = parameter("l2svm", StrOptions(set(LOSSES)))
    max_inner: int = parameter(100, COUNT)
    solver: str = parameter("qmr", StrOptions({"qmr", "cg", "pcg"}))
    iterated: bool = parameter(False, "boolean")
    line_search: bool = parameter(True, "boolean")

    _multi_class = False

    @property
    def _iterations_regularize(self):
        return self.iterated

    @property
    def _is_classifier(self):
        return self.loss in LOSSES and LOSSES[self.loss].margin

    def fit(
        self,
        X: PairData,
        y: ArrayLike,
        callback: Callable[[Iterate], bool] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit to the labels y (n,) of the n pairs of X, of two classes for a classifier.

        ``sample_weight`` (n,) >= 0 multiplies the loss of each pair, for all but "rankrls".
        ``callback(iterate)`` is called after each Newton step; True stops. With ``fit_intercept``
        a classifier's last primal coefficient is the intercept.
        """
        self._check_parameters()
        loss, intercept = LOSSES[self.loss], 0.0
        X, y, weight = with_weight(X, y, sample_weight)
        if loss.margin:
            classes, y = encode_two_classes(X, y)
        else:
            classes, y = None, check_targets(X, y)
            if self.loss == "ridge":
                y, intercept = self._centred(y, weight)
        constant = loss.margin and self.fit_intercept
        options: dict[str, Any] = {"solver": self.solver}
        if self.solver == "pcg" and self.form != "primal":
            raise InputError(f"form={self.form!r}: solver='pcg' needs form='primal'")
        operator, maps, design = self._operator(X)
        primal = maps is not None
        minimize: Callable = newton_primal if primal else newton_dual
        if weight is not None:
            if self.loss == "rankrls":
                raise InputError("loss='rankrls' is not a sum over pairs: leave out sample_weight")
            loss = with_sample_weight(loss, weight.astype(operator.dtype))
        if constant:
            operator = _with_constant(operator, primal)
        # Between products the threads of the BLAS would go on spinning beside those of numba
        with one_blas_thread:
            if self.solver == "pcg":
                near = MarginPreconditioner(*design)
                near = _beside_constant(near) if constant else near
                options = {"solver": "cg", "preconditioner": near}
            if primal:
                options["diagonal"] = self._diagonal(design, constant)
            names = ("max_iter", "max_inner", "iterated", "line_search", "tol")
            options |= {name: getattr(self, name) for name in names}
            labels = y.astype(operator.dtype, copy=False)
            with self._shown(callback) as shown:
                result = minimize(operator, loss, labels, self.reg, callback=shown, **options)
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

    def _diagonal(self, design, constant):
        """The diagonal of X'W X as a function of the weights (n,): the squares of X weighted."""

        def of_weights(weights):
            T, D, *pairs = design
            squares = self._design_operator(T.astype(float) ** 2, D.astype(float) ** 2, *pairs)
            found = squares.rmatvec(weights)
            return np.append(found, weights.sum()) if constant else found

        return of_weights

    def predict(self, X: PairData) -> np.ndarray:
        """Labels (t,) of the pairs of X for a classifier, their scores for a regressor."""
        scores = self.decision_function(X)
        # as it was fitted, whatever ``loss`` says by now
        return self.classes_[(scores > 0).astype(int)] if hasattr(self, "classes_") else scores


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
