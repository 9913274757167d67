"""Pairwise kernel models by truncated Newton methods (Airola & Pahikkala 2018, Section 3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy.sparse.linalg import LinearOperator
from sklearn.utils._param_validation import StrOptions

from kronbench.errors import InputError
from kronbench.linalg import one_blas_thread
from kronbench.models._pair_classifier import check_targets, encode_two_classes, with_weight
from kronbench.models._parameters import (
    AT_LEAST_0,
    COUNT,
    KERNEL,
    POSITIVE,
    PRECISION,
    WIDTH,
    EitherTask,
    estimator,
    parameter,
)
from kronbench.models._product_kernel_model import PAIRWISE_KERNELS, PRODUCTS, ProductKernelModel
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
    form : {"dual", "primal"}, default "dual"
        Coefficients of the pairs, or of products of a row and a column feature (Section 3.1). The
        primal form uses features of linear kernels, sparse ones as they are where that is
        cheaper; of others pivoted Cholesky factors that reproduce the kernel matrices to 1e-11
        (1e-6 in single precision).
    reg : float, default 1.0
        Regularization weight, the paper's lambda > 0.
    row_kernel, col_kernel : {"linear", "gaussian", "tanimoto", "precomputed"} or callable, \
default "linear"
        Positive semidefinite kernels of the row and the column vertices, as in
        :func:`kronbench.linalg.gram`.
    row_gamma, col_gamma : float, optional
        Inverse squared widths of Gaussian kernels, exp(-gamma ||x - x'||^2).
    pairwise : str or mapping from str to float, default "kronecker"
        Kernel of pairs of :mod:`kronbench.pairs.pairwise`, or several with their weights in a sum
        (dual form). In one array of features, and in an equal one, a vertex is a position. In
        other arrays a vertex of prediction is that of training with the same values, and the same
        id if both have ids. Where several have them it counts as new, with a UserWarning.
    row_effect, col_effect : float, default 0.0
        Added to the kernel of a vertex with itself: each known vertex may deviate from what its
        features predict (dual form).
    fit_intercept : bool, default False
        For "ridge" the mean of the labels, for "rankrls", which sees no level, of what predictions
        miss. For a classifier the kernel of pairs plus 1, so that ``intercept_`` is fitted with
        the coefficients and pays reg/2 intercept_^2. False as in the paper.
    max_iter : int, default 100
        Newton steps, the outer iterations. With tol=0 fewer steps regularize more; otherwise a
        ConvergenceWarning says that ``tol`` was not reached, and the last coefficients stay.
    max_inner : int, default 100
        Iterations of the Krylov method in each Newton step.
    solver : {"qmr", "cg", "pcg"}, default "qmr"
        Krylov method of a step. "qmr" is the paper's. "cg" makes half of its products and always
        finds a direction of descent. "pcg", for the primal form, is "cg" with a
        :class:`kronbench.pairs.MarginPreconditioner`: a few iterations reach the optimum where the
        pairs are a random part of all of them.
    iterated : bool, default False
        Regularize the steps, not the coefficients: see :func:`kronbench.pairs.newton_dual`.
    line_search : bool, default True
        Step length by line search; else 1, as in the paper.
    tol : float, default 1e-4
        Ends an inner or the outer loop when its residual has fallen by this factor; the outer one
        only where the objective is near its minimum too, whatever the scale of a feature.
    product : {"auto", "sparse", "dense", "lowrank"}, default "auto"
        The ``method`` of :class:`kronbench.pairs.SampledKroneckerOperator`; "sparse" is the
        paper's Algorithm 1.
    dtype : {"float32", "float64"}, optional
        Of features, products and coefficients; by default single where both sides have it.
    verbose : bool or int, default False
        Whether ``fit`` shows on standard error how far it is: a bar on a terminal, elsewhere a
        line for each tenth of the most iterations. It changes no number.

    Attributes
    ----------
    X_fit_ : PairData
        The pairs of the training set, by reference, which predictions of the dual form read.
    fitted_params_ : dict
        The parameters of the fit. Predictions use them, whatever is set later.
    dual_coef_ : (n,) array, dual form
        Coefficients a of f(d, t) = sum_h a_h k(d_h, d) g(t_h, t).
    coef_ : (d*r,) array, primal form, or where few linear features are decomposed
        ``coef_.reshape(d, r)`` is the weight of each product of a row and a column feature.
    feature_maps_ : two functions, where there is ``coef_``
        From given features of row and of column vertices to those of the product.
    intercept_ : float
        Added to each score; 0.0 without ``fit_intercept``.
    classes_ : (2,) array, classifiers
        Positive scores mean ``classes_[1]``.
    n_iter_ : int
        Newton steps made.
    objective_path_ : (n_iter_,) array
        Regularized risk after each step; the risk alone where ``iterated``.
    stop_reason_ : str
        "tol", "max_iter", "callback", "no_descent", "breakdown", "rounding" or "diverged"; see
        :class:`kronbench.pairs.NewtonResult`.
    converged_ : bool
        Whether ``tol`` was reached.
    """

    loss: str = parameter("l2svm", StrOptions(set(LOSSES)))
    form: str = parameter("dual", StrOptions({"dual", "primal"}))
    reg: float = parameter(1.0, POSITIVE)
    row_kernel: str | Callable = parameter("linear", *KERNEL)
    col_kernel: str | Callable = parameter("linear", *KERNEL)
    row_gamma: float | None = parameter(None, *WIDTH)
    col_gamma: float | None = parameter(None, *WIDTH)
    pairwise: str | Mapping[str, float] = parameter("kronecker", *PAIRWISE_KERNELS)
    row_effect: float = parameter(0.0, AT_LEAST_0)
    col_effect: float = parameter(0.0, AT_LEAST_0)
    fit_intercept: bool = parameter(False, "boolean")
    max_iter: int = parameter(100, COUNT)
    max_inner: int = parameter(100, COUNT)
    solver: str = parameter("qmr", StrOptions({"qmr", "cg", "pcg"}))
    iterated: bool = parameter(False, "boolean")
    line_search: bool = parameter(True, "boolean")
    tol: float = parameter(1e-4, AT_LEAST_0)
    product: str = parameter("auto", *PRODUCTS)
    dtype: DTypeLike | None = parameter(None, *PRECISION, None)
    verbose: bool | int = parameter(False, "verbose")

    _multi_class = False

    @property
    def _iterations_regularize(self):
        """Whether reaching ``max_iter`` is meant: steps regularize where coefficients do not."""
        return self.iterated

    @property
    def _is_classifier(self):
        """Whether the loss is one of the margin y p."""
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
        # Labels are -1 and 1 for a margin loss, else numbers, for "ridge" less their mean.
        self._check_parameters()
        loss, intercept = LOSSES[self.loss], 0.0
        X, y, weight = with_weight(X, y, sample_weight)
        if loss.margin:
            classes, y = encode_two_classes(X, y)
        else:
            classes, y = None, check_targets(X, y)
            if self.loss == "ridge":
                y, intercept = self._centred(y, weight)
        # The operator is that of Eq. 7, or X in the primal. A constant feature has the intercept
        # of a classifier, and weights of the pairs multiply their losses.
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
        # Algorithm 2 (dual) or 3 (primal) runs. Between products the threads of the BLAS would go
        # on spinning beside those of numba.
        with one_blas_thread:
            if self.solver == "pcg":
                preconditioner: Callable = MarginPreconditioner(*design)
                if constant:
                    preconditioner = _beside_constant(preconditioner)
                options = {"solver": "cg", "preconditioner": preconditioner}
            if primal:
                options["diagonal"] = self._diagonal(design, constant)
            names = ("max_iter", "max_inner", "iterated", "line_search", "tol")
            options |= {name: getattr(self, name) for name in names}
            labels = y.astype(operator.dtype, copy=False)
            with self._shown(callback) as shown:
                result = minimize(operator, loss, labels, self.reg, callback=shown, **options)
        # An earlier fit may have been with a classifier's loss.
        self.__dict__.pop("classes_", None)
        if classes is not None:
            self.classes_ = classes
        coef = result.coef
        # The constant of f is sum_h a_h in the dual, the last weight in the primal.
        if constant:
            intercept = float(coef[-1] if primal else coef.sum())
            coef = coef[:-1] if primal else coef
        elif self.fit_intercept and self.loss != "ridge":
            intercept = float(np.mean(y - result.scores))
        self.intercept_ = intercept
        # ``_set_fitted`` warns where the end is not meant.
        self._set_fitted(X, maps, coef, result.objective_path, result.stop)
        return self

    def _diagonal(self, design, constant):
        """The diagonal of X'W X as a function of the weights (n,): the squares of X weighted."""

        def of_weights(weights):
            # The square of a product of features is the product of their squares.
            row_features, col_features, *places = design
            squared = row_features.astype(float) ** 2, col_features.astype(float) ** 2
            diagonal = self._design_operator(*squared, *places).rmatvec(weights)
            return np.append(diagonal, weights.sum()) if constant else diagonal

        return of_weights

    def predict(self, X: PairData) -> np.ndarray:
        """Labels (t,) of the pairs of X for a classifier, their scores for a regressor."""
        scores = self.decision_function(X)
        # The fit says whether it is a classifier, whatever ``loss`` is by now.
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
    """The preconditioner for all but the last coefficient, the constant's curvature for that."""

    def make(weights, reg):
        solve, curvature = preconditioner(weights, reg), weights.sum() + reg
        return lambda v: np.append(solve(v[:-1]), v[-1] / curvature)

    return make
