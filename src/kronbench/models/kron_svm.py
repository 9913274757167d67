"""Kronecker support vector machine (Airola & Pahikkala 2018, Section 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from numpy.typing import DTypeLike
from sklearn.utils._param_validation import StrOptions

from kronbench.models._parameters import (
    AT_LEAST_0,
    COUNT,
    KERNEL,
    POSITIVE,
    PRECISION,
    WIDTH,
    estimator,
    parameter,
)
from kronbench.models._product_kernel_model import PAIRWISE_KERNELS, PRODUCTS
from kronbench.models.kron_newton import KronNewton


@estimator
class KronSVM(KronNewton):
    """L2-SVM (squared hinge) on pairs with a Kronecker product kernel, stopped early.

    Minimizes 1/2 sum_i max(0, 1 - y_i p_i)^2 + reg/2 ||f||^2: :class:`KronNewton` with the paper's
    settings, step length 1 and ten Newton steps of ten QMR iterations.

    Parameters
    ----------
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
        The kernel of pairs plus 1, as in :class:`KronNewton`.
    max_iter : int, default 10
        Newton steps, the outer iterations. Fewer steps regularize more, so reaching their number
        gives no warning.
    max_inner : int, default 10
        Iterations of the Krylov method in each Newton step.
    solver : {"qmr", "cg", "pcg"}, default "qmr"
        Krylov method of a step. "qmr" is the paper's. "cg" makes half of its products and always
        finds a direction of descent. "pcg", for the primal form, is "cg" with a
        :class:`kronbench.pairs.MarginPreconditioner`: a few iterations reach the optimum where the
        pairs are a random part of all of them.
    iterated : bool, default False
        Regularize the steps, not the coefficients: see :func:`kronbench.pairs.newton_dual`.
    line_search : bool, default False
        Step length by line search; else 1, as in the paper.
    tol : float, default 1e-8
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

    # The loss is fixed, and no parameter as in the base.
    loss: ClassVar[str] = "l2svm"  # type: ignore[misc]
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
    max_iter: int = parameter(10, COUNT)
    max_inner: int = parameter(10, COUNT)
    solver: str = parameter("qmr", StrOptions({"qmr", "cg", "pcg"}))
    iterated: bool = parameter(False, "boolean")
    line_search: bool = parameter(False, "boolean")
    tol: float = parameter(1e-8, AT_LEAST_0)
    product: str = parameter("auto", *PRODUCTS)
    dtype: DTypeLike | None = parameter(None, *PRECISION, None)
    verbose: bool | int = parameter(False, "verbose")

    # A stop at ``max_iter`` is the paper's way to regularize, and gives no warning.
    _iterations_regularize = True
