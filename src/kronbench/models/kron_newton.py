"""Pairwise kernel models by truncated Newton methods (Airola & Pahikkala 2018, Section 3)."""

from __future__ import annotations

from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags

from kronbench.errors import InputError
from kronbench.linalg import one_blas_thread
from kronbench.models._pair_labels import check_targets, encode_two_classes
from kronbench.models._product_kernel_model import ProductKernelModel
from kronbench.pairs import LOSSES, MarginPreconditioner, get_loss, newton_dual, newton_primal


class KronNewton(ProductKernelModel):
    """Regularized risk on pairs with a Kronecker product kernel, for each loss of Table 2.

    Minimizes L(p, y) + reg/2 ||f||^2 by Algorithm 2 (dual) or 3 (primal). A product of the dual
    costs O(n (m + q)), of the primal O(min(q d r + d n, m d r + r n)); see ``newton_dual`` for
    their number. A classifier for "l1svm", "l2svm" and "logistic", a regressor for "ridge" and
    "rankrls" (whose scores have an arbitrary level).

    Parameters
    ----------
    loss : {"ridge", "l1svm", "l2svm", "logistic", "rankrls"}
        "l1svm" has no curvature: use it with the line search, and expect slow progress.
    form : {"dual", "primal"}
        The primal form has the features of linear kernels, made dense, and for others those of
        pivoted Cholesky factors that reproduce the kernel matrices to 1e-11 (1e-6 in single
        precision): for kernels of small numerical rank.
    reg : float
        lambda > 0.
    row_kernel, col_kernel : {"linear", "gaussian", "precomputed"} or callable
        Positive semidefinite kernels of the row and the column vertices.
    row_gamma, col_gamma : float, optional
        Widths of Gaussian kernels, exp(-gamma ||x - x'||^2).
    outer_iter, inner_iter : int
        Newton steps and Krylov iterations for each. With tol=0 fewer regularize more; else a
        ConvergenceWarning says that ``outer_iter`` steps did not reach ``tol``.
    inner_solver : {"qmr", "minres", "cg", "pcg"}
        "qmr" is the papers' choice. "cg" makes half of its products and always finds a direction
        of descent; "minres" works on the active set alone and drops the other coefficients.
        "pcg", for the primal form, is "cg" with a :class:`MarginPreconditioner`: a few iterations
        reach the optimum where the pairs are a random part of all of them.
    iterated : bool
        Regularize the steps, not the coefficients: see ``newton_dual``.
    line_search : bool
        Step length by line search; else 1.
    tol : float
        Ends an inner or the outer loop when its residual has fallen by this factor.
    method : {"auto", "sparse", "dense", "lowrank"}
        How products are made; see ``SampledKroneckerOperator``.

    Attributes
    ----------
    dual_coef_ : (n,) array, dual form
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
        See ``kronbench.pairs.NewtonResult``.
    X_fit_ : PairData
    """

    def __init__(
        self,
        loss="l2svm",
        form="dual",
        reg=1.0,
        row_kernel="linear",
        col_kernel="linear",
        row_gamma=None,
        col_gamma=None,
        outer_iter=100,
        inner_iter=100,
        inner_solver="qmr",
        iterated=False,
        line_search=True,
        tol=1e-4,
        method="auto",
    ):
        self.loss = loss
        self.form = form
        self.reg = reg
        self.row_kernel = row_kernel
        self.col_kernel = col_kernel
        self.row_gamma = row_gamma
        self.col_gamma = col_gamma
        self.outer_iter = outer_iter
        self.inner_iter = inner_iter
        self.inner_solver = inner_solver
        self.iterated = iterated
        self.line_search = line_search
        self.tol = tol
        self.method = method

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

    def fit(self, X, y, callback=None):
        """Fit to the labels y (n,) of the pairs X.

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
            self.classes_, y = encode_two_classes(X, y)
        else:
            y = check_targets(X, y)
        preconditioned = self.inner_solver == "pcg"
        if preconditioned and self.form != "primal":
            raise InputError(f"form={self.form!r}: inner_solver='pcg' needs form='primal'")
        design = self._design(X, X) if self.form == "primal" else None
        operator = self._design_operator(*design) if design else self.prediction_operator(X)
        # Between products the threads of the BLAS would go on spinning beside those of numba
        with one_blas_thread:
            options = {"inner_solver": "cg" if preconditioned else self.inner_solver}
            if preconditioned:
                options["preconditioner"] = MarginPreconditioner(*design)
            minimize = newton_primal if design else newton_dual
            result = minimize(
                operator,
                loss,
                y.astype(operator.dtype, copy=False),
                self.reg,
                **options,
                outer_iter=self.outer_iter,
                inner_iter=self.inner_iter,
                iterated=self.iterated,
                line_search=self.line_search,
                tol=self.tol,
                callback=callback,
            )
        self._set_fitted(X, result.coef, result.objective_path, result.stop)
        return self

    def predict(self, X):
        """Labels (t,) of the pairs of X for a classifier, their scores for a regressor."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int)] if self._is_classifier else scores

    def score(self, X, y):
        """Share of right labels for a classifier, R^2 for a regressor."""
        return (accuracy_score if self._is_classifier else r2_score)(y, self.predict(X))
