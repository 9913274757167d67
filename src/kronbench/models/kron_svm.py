"""Kronecker support vector machine (Airola & Pahikkala 2018, Section 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from numpy.typing import DTypeLike

from kronbench.models.kron_newton import KronNewton


class KronSVM(KronNewton):
    """L2-SVM (squared hinge) on pairs with a Kronecker product kernel, stopped early.

    Minimizes 1/2 sum_i max(0, 1 - y_i p_i)^2 + reg/2 ||f||^2: :class:`KronNewton` with the paper's
    settings, step length 1 and ten Newton steps of ten QMR iterations. A product of the dual costs
    O(n (m + q)), of the primal O(min(q d r + d n, m d r + r n)).

    Parameters
    ----------
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
        The kernel of pairs plus 1, so that ``intercept_`` is fitted with the coefficients and pays
        reg/2 intercept_^2. False as in the paper.
    max_iter : int, default 10
        Newton steps, the outer iterations. Fewer regularize more, and that is meant: to end
        by their number is no warning.
    max_inner : int, default 10
        Iterations of the Krylov method in each Newton step.
    solver : {"qmr", "minres", "cg", "pcg"}, default "qmr"
        Krylov method for the linear system of a step. "qmr" is the paper's choice. "cg" makes half
        of its products and always finds a direction of descent; "minres" works on the active set
        alone and drops the other coefficients. "pcg", for the primal form, is "cg" with a
        :class:`kronbench.pairs.MarginPreconditioner`: a few iterations reach the optimum where
        the pairs are a random part of all of them.
    iterated : bool, default False
        Regularize the steps, not the coefficients: see :func:`kronbench.pairs.newton_dual`.
    line_search : bool, default False
        Step length by line search; else 1, as in the paper.
    tol : float, default 1e-8
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
    classes_ : (2,) array
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

    loss = "l2svm"
    _iterations_regularize = True

    def __init__(
        self,
        *,
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
        max_iter: int = 10,
        max_inner: int = 10,
        solver: str = "qmr",
        iterated: bool = False,
        line_search: bool = False,
        tol: float = 1e-8,
        product: str = "auto",
        dtype: DTypeLike | None = None,
    ):
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
