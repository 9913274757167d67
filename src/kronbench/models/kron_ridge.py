"""Kronecker ridge regression (Airola & Pahikkala 2018, Section 4.1)."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy.sparse.linalg import LinearOperator
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from kronbench.errors import InputError
from kronbench.linalg import ShiftedSolutions, minres, multishift_minres
from kronbench.linalg.krylov import LOST
from kronbench.models._pair_classifier import check_pairs, check_targets, with_weight
from kronbench.models._parameters import (
    AT_LEAST_0,
    COUNT,
    KERNEL,
    POSITIVE,
    PRECISION,
    WIDTH,
    check_parameters,
    check_regs,
    estimator,
    parameter,
)
from kronbench.models._posterior import FittedProcess, posterior_variance
from kronbench.models._product_kernel_model import PAIRWISE_KERNELS, PRODUCTS, ProductKernelModel
from kronbench.models._ridge_path import (
    MOST_FEATURES,
    RidgePath,
    ThinPath,
    ThinRidge,
    first_within,
    is_thin,
    products,
    scaled,
    weighted,
)
from kronbench.pairs import Iterate, PairData
from kronbench.pairs._cost_model import features_are_cheaper
from kronbench.pairs.data import same_features

# "auto" warns where the error of the scores may be more than this share of their norm.
_LARGEST_SCORE_ERROR = 3e-3
# The same for a bound of the effect of rounding, which is some twenty times the effect itself.
_LARGEST_ROUNDING_BOUND = 0.1
# "auto" iterates in the primal form until the scores are off by this share of the labels' norm.
_PRIMAL_SCORE_ERROR = 1e-4
# Number of pairs whose scores by the kernels are compared with those by the kernels' factors.
_COMPARED_PAIRS = 256
# What a warning says of weights of a path: how they ended, and what helps.
_END_BY_ROUNDING = "was ended by rounding", "larger weights, double precision or scaled features"
_END_FAR_OFF = (
    "ended far from the optimum",
    "more iterations or larger weights, or solver='minres' if early stopping is intended",
)


@estimator
class KronRidge(RegressorMixin, ProductKernelModel):
    """Ridge regression on pairs with a Kronecker product kernel.

    Labels whose mean is not zero, such as affinities around 6, need ``fit_intercept=True``.
    Without it the model is pulled towards zero, and a warning says if that matters.

    Minimizes 1/2 ||p - y||^2 + reg/2 ||f||^2 over functions f of pairs (Eq. 4). MINRES solves
    (Q + reg I) a = y with Q = R (G kron K) R' (dual), O(n (m + q)) an iteration, or
    (X'X + reg I) w = X'y with X = R (T kron D) (primal), O(min(q d r + d n, m d r + r n)). As in
    the paper K (m, m) and D (m, d) are the kernel and the features of the row vertices, G (q, q)
    and T (q, r) those of the column vertices, and R picks the n pairs.

    Parameters
    ----------
    form : {"auto", "dual", "primal"}, default "auto"
        Coefficients of the pairs, or of products of a row and a column feature (Section 3.1).
        "auto" takes the primal form where the optimum is asked for (``solver``), kernels are
        linear and its products have fewer operations; the optimum is the same. The primal form
        uses features of linear kernels, sparse ones as they are where that is cheaper; of others
        pivoted Cholesky factors that reproduce the kernel matrices to 1e-11 (1e-6 in single
        precision).
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
    row_landmarks, col_landmarks : int, optional
        The primal form has features from at most so many landmarks, which :class:`Landmarks` draws
        (``random_state=0``) among the vertices in use, or among fifty for each landmark. Their
        inner products approximate the kernel, where a kernel matrix does not fit in memory.
    fit_intercept : bool, default False
        Fit to the labels minus their mean, ``intercept_``, and add it to predictions: the mean
        function of the Gaussian process below. False as in the paper.
    solver : {"auto", "minres"}, default "auto"
        "minres" is the paper's, stopped early: fewer iterations regularize more. "auto" finds the
        optimum: where linear kernels, or factors of the primal form, have at most 256 products of
        features, and no more than pairs, by singular values in double precision (not with a
        ``callback``); else by MINRES, and a ConvergenceWarning says if that ends far from it.
    max_iter : int, default 100
        Iterations of MINRES. 100 are the paper's.
    tol : float, default 1e-8
        MINRES stops earlier when the residual has fallen by this factor. With 0, reaching
        ``max_iter`` gives no warning.
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
    n_iter_ : int
        Iterations made; 1 for singular values.
    objective_path_ : (n_iter_,) array
        Regularized risk after each iteration; the last one is computed from the coefficients.
    stop_reason_ : {"tol", "max_iter", "callback", "breakdown", "rounding"}
        See :class:`kronbench.linalg.Solution`; the last two come with a ConvergenceWarning, and
        "max_iter" does where "auto" is far from the optimum.
    converged_ : bool
        Whether ``tol`` was reached.
    sample_weight_ : (n,) array or None
        The weights of the pairs of ``X_fit_``, which ``predict_std`` reads.
    noise_variance_ : float
        (||y - p||^2 + reg ||f||^2) / n: the noise variance by maximum likelihood of labels that
        are a Gaussian process with the covariance (noise_variance / reg) k plus independent noise;
        an early stop makes it larger. Predictions are the mean of that process given the labels
        (Rasmussen & Williams 2006, section 2.2), and ``predict_std`` its standard deviation.
    """

    form: str = parameter("auto", StrOptions({"auto", "dual", "primal"}))
    reg: float = parameter(1.0, POSITIVE)
    row_kernel: str | Callable = parameter("linear", *KERNEL)
    col_kernel: str | Callable = parameter("linear", *KERNEL)
    row_gamma: float | None = parameter(None, *WIDTH)
    col_gamma: float | None = parameter(None, *WIDTH)
    pairwise: str | Mapping[str, float] = parameter("kronecker", *PAIRWISE_KERNELS)
    row_effect: float = parameter(0.0, AT_LEAST_0)
    col_effect: float = parameter(0.0, AT_LEAST_0)
    row_landmarks: int | None = parameter(None, COUNT, None)
    col_landmarks: int | None = parameter(None, COUNT, None)
    fit_intercept: bool = parameter(False, "boolean")
    solver: str = parameter("auto", StrOptions({"auto", "minres"}))
    max_iter: int = parameter(100, COUNT)
    tol: float = parameter(1e-8, AT_LEAST_0)
    product: str = parameter("auto", *PRODUCTS)
    dtype: DTypeLike | None = parameter(None, *PRECISION, None)
    verbose: bool | int = parameter(False, "verbose")

    sample_weight_ = None  # until a fit has weights

    @property
    def _iterations_regularize(self):
        """Whether reaching ``max_iter`` is meant: the paper's solver is stopped early."""
        return self.solver == "minres"

    def fit(
        self,
        X: PairData,
        y: ArrayLike,
        callback: Callable[[Iterate], bool] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit to the labels y (n,) of the n pairs of X, weighted by ``sample_weight`` (n,) >= 0.

        A weight that is a whole number is that many equal pairs. ``callback(iterate)`` is called
        after each iteration; True stops. Its training scores are without the intercept, and cost
        one product more in the primal form.
        """
        self._check_parameters()
        X, y, weight = with_weight(X, y, sample_weight)
        y, intercept = self._centred(check_targets(X, y), weight)
        # Weighted least squares are those of errors and features times the roots of the weights.
        self.sample_weight_ = weight
        root = None if weight is None else np.sqrt(weight)
        if not callback and (thin := self._thin_design(X)):
            # Few features are decomposed, and a = (y - X w) / reg are the dual coefficients.
            maps, design = thin
            solution = ThinRidge(design, y, root).solve(self.reg)
            dual_coef = solution.residual / self.reg
            certain = solution.certain and self._factors_suffice(X, maps, solution.coef, dual_coef)
            stop = "tol" if certain else "rounding"
            self._set_fitted(X, maps, solution.coef, np.array([solution.objective]), stop)
            if self.form != "primal":
                self.dual_coef_ = dual_coef
        else:
            self._iterate(X, y, root, callback)
        self.intercept_ = intercept
        # By maximum likelihood the noise is twice the minimum of the objective over n.
        n = len(y) if weight is None else weight.sum()
        self.noise_variance_ = 2 * self.objective_path_[-1] / n if self.n_iter_ else 0.0
        return self

    def _check_parameters(self):
        super()._check_parameters()
        for side in ("row", "col"):
            if (k := getattr(self, f"{side}_landmarks")) is None:
                continue
            if self.form != "primal":
                raise InputError(
                    f"{side}_landmarks={k} makes features of the primal form: give form='primal'"
                )
            if getattr(self, f"{side}_kernel") == "precomputed":
                raise InputError(
                    f"{side}_landmarks={k} needs features, and {side}_kernel is 'precomputed': "
                    "leave it out, or give another kernel"
                )

    def _features_are_cheaper(self, X):
        """Whether MINRES for the optimum makes fewer operations in the primal form."""
        if self.solver != "auto" or not self._has_features():
            return False
        sides = (X.rows, X.row_features), (X.cols, X.col_features)
        # The operations of both forms follow from the numbers of vertices in use and of features.
        shapes = tuple((len(np.unique(index)), side.shape[1]) for index, side in sides)
        thin = is_thin(len(X), shapes[0][1] * shapes[1][1])
        return not thin and features_are_cheaper(len(X), shapes, self.max_iter)

    def _has_features(self):
        """Whether given features are those of the kernel of pairs."""
        kernels = [self.pairwise, self.row_kernel, self.col_kernel]
        linear = kernels == ["kronecker", "linear", "linear"]
        return linear and not (self.row_effect or self.col_effect)

    def _thin_design(self, X):
        """Feature maps and factors of a design of few features; None for iterations."""
        primal = self.form == "primal" and self.is_primal(X)
        # Many landmarks are drawn once, for the iterations.
        most = max(self.row_landmarks or 0, self.col_landmarks or 0)
        if self.solver != "auto" or most > MOST_FEATURES:
            return None
        if primal:
            maps = self._make_feature_maps(X)
        else:
            width = X.row_features.shape[1] * X.col_features.shape[1]
            if not self._has_features() or not is_thin(len(X), width):
                return None
            # The decomposition is in double precision, whatever that of the features.
            maps = self._make_feature_maps(X, np.float64)
        # Only the factors say how many features a kernel that is not linear has.
        design = self._design(maps, X)
        width = design[0].shape[1] * design[1].shape[1]
        return (maps, design) if is_thin(len(X), width) else None

    def _iterate(self, X, y, root, callback):
        """Fit by MINRES; errors count times ``root`` (n,), the roots of the weights, if any."""
        (unweighted, maps, _), reg = self._operator(X), self.reg
        dual = maps is None
        operator = weighted(unweighted, root, dual=dual)
        y = scaled(root, _in_precision(y, operator.dtype))
        # The system of Section 4.1 is (Q + reg I) a = y in the dual,
        system, b, yy, objectives, tol = operator, y, float(y @ y), [], self.tol
        if not dual:
            # and in the primal it is (X'X + reg I) w = X'y.
            system, b = _normal_equations(operator, y)
            if self.solver == "auto" and (size := np.linalg.norm(b)):
                # A residual moves the scores by X (X'X + reg I)^-1 times it, and no singular
                # value s / (s^2 + reg) of that matrix is more than 1 / (2 root(reg)). The
                # iterations go on until the bound is small beside y.
                least = 2 * np.sqrt(reg) * np.linalg.norm(y) / size
                tol = min(tol, max(tol, _PRIMAL_SCORE_ERROR) * least)

        def risk(coef, residual):
            """The scores, in the dual alone, and the objective (Eq. 4), without a product."""
            if dual:
                error = residual + reg * coef  # y - Q a
                scores = y - error
                return scores, 0.5 * float(error @ error) + 0.5 * reg * float(coef @ scores)
            # With X'X w = X'y - reg w - residual, 1/2 ||X w - y||^2 + reg/2 ||w||^2 becomes this.
            return None, 0.5 * (yy - float(coef @ (b + residual)))

        def observe(coef, residual):
            """Note the objective, and show the iterate to the callback; whether to stop."""
            scores, objective = risk(coef, residual)
            objectives.append(objective)
            if not callback:
                return False
            scores = scores if dual else operator.matvec(coef)
            if root is not None:  # The callback sees the pairs as they are given.
                coef, scores = scaled(root, coef) if dual else coef, scaled(1 / root, scores)
            return callback(Iterate(len(objectives), coef, scores, objective))

        with self._shown(observe) as shown:
            end = minres(system, b, shift=reg, tol=tol, max_iter=self.max_iter, callback=shown)
        coef, stop = end.x, end.stop
        # The error bounds how far the scores are off those of the optimum.
        score_error = np.linalg.norm(end.residual)
        if dual:
            # The scores are off by Q (Q + reg I)^-1 times the residual, whose norm is at most that
            # of the residual.
            scores, objective = risk(coef, end.residual)
        else:
            scores = operator.matvec(coef)
            error = y - scores
            objective = 0.5 * float(error @ error) + 0.5 * reg * float(coef @ coef)
            # The bound is that of above, and may be large even where ``tol`` was reached.
            score_error /= 2 * np.sqrt(reg)
            size = np.linalg.norm(scores)
            largest = max(_LARGEST_ROUNDING_BOUND * size, self.tol * np.linalg.norm(y))
            dual_coef = scaled(root, error).astype(np.float64) / reg
            if stop == "tol" and (
                score_error > largest or not self._factors_suffice(X, maps, coef, dual_coef)
            ):
                stop = "rounding"
        near = score_error <= _LARGEST_SCORE_ERROR * np.linalg.norm(scores)
        # The path ends with the iterate that is kept, whose objective comes of a product.
        path = np.array([*objectives[: end.n_iter - 1], objective] if end.n_iter else [])
        # Coefficients of the weighted pairs become those of the pairs.
        coef = scaled(root, coef) if dual else coef
        self._set_fitted(X, maps, coef, path, stop, near)
        if not dual and self.form == "auto":
            self.dual_coef_ = dual_coef.astype(coef.dtype, copy=False)

    def _factors_suffice(self, X, maps, coef, dual_coef):
        """Whether the factors of the kernels, which are near them, have the kernels' optimum.

        With the dual coefficients a of a primal optimum the scores by the kernels are Q a, those
        by the factors X X'a. The difference is looked at for some of the pairs.
        """
        if self.row_kernel == self.col_kernel == "linear":
            return True  # The features are the factors.
        if self.row_landmarks or self.col_landmarks:
            return True  # The features are another kernel, on purpose.
        double = copy.copy(self).set_params(dtype=np.float64)
        some = X[np.arange(0, len(X), -(-len(X) // _COMPARED_PAIRS))]
        of_all, of_some = (
            self._design_operator(rows.astype(float), cols.astype(float), *places)
            for rows, cols, *places in (self._design(maps, X), self._design(maps, some))
        )
        by_kernels = double._gram_operator(X, some) @ dual_coef
        difference = by_kernels - of_some @ (of_all.rmatvec(dual_coef))
        return np.linalg.norm(difference) <= _LARGEST_SCORE_ERROR * np.linalg.norm(of_some @ coef)

    def path(
        self, X: PairData, y: ArrayLike, regs: ArrayLike, X_test: PairData | None = None
    ) -> RidgePath:
        """All iterates for all of ``regs`` (s,) from the products of one run.

        In the dual form, or with form="primal" in that. With the t pairs ``X_test`` the path can
        predict them; one test product an iteration, or none where ``product`` is "dense", the form
        dual and the vertices those of X. The estimator does not change. Holds max_iter + 1 vectors
        of length n, and max_iter of length t; in the primal form of length d*r, and of length t
        only if all iterates are asked for, else s. Where "auto" needs no iterations, the path has
        one. A ConvergenceWarning tells of weights that ended by rounding or, for "auto", far from
        the optimum.
        """
        self._check_parameters()
        y, regs = check_targets(X, y), check_regs(regs)
        if X_test is not None:
            check_pairs(X_test)
        y, intercept = self._centred(y, None)
        if thin := self._thin_design(X):
            path = self._thin_path(thin, y, regs, X_test, intercept)
        else:
            of_form = self._primal_path if self.form == "primal" else self._dual_path
            path = of_form(X, y, regs, X_test, intercept)
        lost = np.array(path.stop_reasons) == "rounding"
        _warn_of_path(lost, _END_BY_ROUNDING, regs)
        _warn_of_path(np.array(path.failed) & ~lost, _END_FAR_OFF, regs)
        return path

    def _dual_path(self, X, y, regs, X_test, intercept):
        """The path of (Q + reg I) a = y, whose iterates are coefficients of pairs."""
        gram, images = self._gram_operator(X), None
        operator = gram
        test_images: list[np.ndarray] = []
        # Where products are dense and the vertices are the same, one product with the pairs of
        # both kinds costs no more than that with the training pairs.
        together = (
            X_test is not None
            and self.product == "dense"
            and same_features(X_test.row_features, X.row_features)
            and same_features(X_test.col_features, X.col_features)
            and (X_test.row_ids, X_test.col_ids) == (X.row_ids, X.col_ids)
        )
        if X_test and together:
            operator = self._with_test_pairs(X, X_test, test_images)
        # The Lanczos basis of Q and y serves every weight: shifts leave a Krylov space as it is.
        y = _in_precision(y, operator.dtype)
        solutions = multishift_minres(operator, y, regs, tol=self.tol, max_iter=self.max_iter)
        # The images of the basis give the test scores of all iterates.
        if together:
            images = np.array(test_images)
        elif X_test is not None:
            images = self._gram_operator(X, X_test).matmat(solutions.basis[:-1].T).T
        if X_test and not solutions.n_iter:  # The labels are zero.
            images = np.zeros((0, len(X_test)))
        norm_squared, error_squared, bounds = solutions.quadratic_forms()
        objective = 0.5 * error_squared + 0.5 * regs[:, None] * norm_squared
        ends = self._ends(gram, y, solutions, bounds)
        return RidgePath(regs, objective, solutions, images, intercept=intercept, **ends)

    def _primal_path(self, X, y, regs, X_test, intercept):
        """The path of (X'X + reg I) w = X'y, whose iterates are coefficients of features."""
        operator, maps, _ = self._operator(X)
        y = _in_precision(y, operator.dtype)
        normal, b = _normal_equations(operator, y)
        solutions = multishift_minres(normal, b, regs, tol=self.tol, max_iter=self.max_iter)
        if not solutions.n_iter:  # X'y is zero, and so is the optimum: one iterate says so.
            s, basis = len(regs), np.zeros((2, len(b)), b.dtype)
            nothing = np.zeros((2, 1)), np.zeros((s, 1, 1)), np.zeros((s, 1)), 0.0
            solutions = ShiftedSolutions(regs, basis, *nothing)
        basis, w = solutions.basis[:-1], solutions.coefficients
        test = None if X_test is None else self._design_operator(*self._design(maps, X_test))
        # The objective is 1/2 ||X w||^2 - w'X'y + 1/2 ||y||^2 + reg/2 ||w||^2.
        inner = basis @ basis.T
        scores_squared, _, bounds = solutions.quadratic_forms()
        along = w @ inner[0] * solutions.b_norm
        squared = np.einsum("jki,jki->jk", w @ inner, w)
        objective = 0.5 * (scores_squared + float(y @ y) + regs[:, None] * squared) - along
        # A residual moves the scores by at most 1 / (2 root(reg)) of it, as in a fit.
        ends = self._ends(normal, b, solutions, bounds, scores_squared, 1 / (2 * np.sqrt(regs)))
        ends |= {"intercept": intercept, "test_operator": test}
        return RidgePath(regs, objective, solutions, None, **ends)

    def _thin_path(self, thin, y, regs, X_test, intercept):
        """The path of a design of few features, one solution a weight from one decomposition."""
        (maps, design), images = thin, None
        ridge = ThinRidge(design, y)
        by_weight = [ridge.solve(reg) for reg in regs]
        if X_test is not None:
            features = products(*self._design(maps, X_test)).astype(np.float64, copy=False)
            images = np.array([features @ one.coef for one in by_weight])
        # Without iterations the basis of the path are the dual coefficients themselves.
        dual_coefs = np.array([one.residual for one in by_weight]) / regs[:, None]
        lost = np.array([not one.certain for one in by_weight])
        return RidgePath(
            regs,
            objective=np.array([[one.objective] for one in by_weight]),
            solutions=ThinPath(regs, dual_coefs),
            test_images=images,
            stop_reasons=tuple(np.where(lost, "rounding", "tol").tolist()),
            last=np.zeros(len(regs), int),
            intercept=intercept,
            failed=tuple(lost.tolist()),
        )

    def _with_test_pairs(self, X, X_test, test_images):
        """Operator of X that appends to ``test_images`` the scores of each vector for X_test."""
        rows, cols = np.append(X.rows, X_test.rows), np.append(X.cols, X_test.cols)
        both = self._gram_operator(X, PairData(X.row_features, X.col_features, rows, cols))

        def product(v):
            image = both.matvec(v)
            test_images.append(image[len(X) :])
            return image[: len(X)]

        return LinearOperator((len(X), len(X)), matvec=product, dtype=both.dtype)

    def _ends(self, system, b, solutions, bounds, scores_squared=None, moved=1.0):
        """Why each weight ended, its last true iterate, and which have failed, as of a RidgePath.

        An iterate is true whose residual is that of its recurrence. A weight has failed if
        rounding has ended it or it ended far from the optimum: its scores, whose squares are
        ``scores_squared`` (s, K) in the primal, are off by at most ``moved`` times the residual.
        """
        far = np.zeros(len(solutions.shifts), bool)
        if not solutions.n_iter:  # The labels are zero.
            last, failed = np.full(len(far), -1), tuple(far.tolist())
            return {"stop_reasons": ("tol",) * len(far), "last": last, "failed": failed}
        claimed = solutions.residual_norms
        reached = claimed.min(axis=1) <= self.tol * solutions.b_norm
        last, lost = _last_true_iterates(system, b, solutions, bounds, reached, self.tol)
        if not self._iterations_regularize:
            if scores_squared is not None:
                sizes = np.sqrt(np.maximum(scores_squared[:, -1], 0))
            else:
                # The scores Q a of the last iterates follow from Q V = V T for the tridiagonal T.
                last_scores = solutions.coefficients[:, -1] @ solutions.tridiagonal.T
                sizes = np.linalg.norm(last_scores @ solutions.basis, axis=1)
            # Kernels between the training pairs and others have rounding of their own, which the
            # residual does not show but the bound covers.
            lost |= reached & ~(moved * bounds[:, -1] <= _LARGEST_ROUNDING_BOUND * sizes)
            if self.tol > 0:
                close = moved * claimed[:, -1] <= _LARGEST_SCORE_ERROR * sizes
                far = ~close & ~reached & ~lost
        otherwise = "max_iter" if solutions.n_iter == self.max_iter else "breakdown"
        reasons = _stop_reasons(reached, lost, otherwise)
        return {"stop_reasons": reasons, "last": last, "failed": tuple((lost | far).tolist())}

    def predict(self, X: PairData, return_std: bool = False) -> Any:
        """Predictions (t,) for the t pairs of X, as ``decision_function``.

        With ``return_std`` they come with their standard deviations, ``predict_std(X)``.
        """
        scores = self.decision_function(X)
        return (scores, self.predict_std(X)) if return_std else scores

    def predict_std(
        self,
        X: PairData,
        samples: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> np.ndarray:
        """Standard deviations (t,) of the values f(x) that ``predict`` gives for the pairs of X.

        Roots of (noise_variance_ / reg) (k(x, x) - k_x' (Q + reg I)^-1 k_x). That of a new label
        is ``np.sqrt(std**2 + model.noise_variance_)``. A precomputed kernel has it only for the
        vertices that were given to ``fit``. With landmarks what their features leave of k(x, x) is
        added, so that a vertex far from all landmarks is not certain (the deterministic training
        conditional of Quiñonero-Candela & Rasmussen, JMLR 6, 2005, eq. 20b).

        Where "auto" needs no iterations a QR decomposition of the p products of features gives
        them to rounding, whatever the scale of a feature, in O(n p^2 + t p^2). Elsewhere conjugate
        gradients bracket each, with up to 2000 products a pair. The upper end is returned, so
        none is too small, and a ConvergenceWarning counts the pairs whose ends are more than 5 %
        apart. InputError if the kernel is found indefinite.

        With ``samples`` they are estimates from so many draws of the process with the Kronecker
        product kernel, which ``random_state`` draws, in about the time of a fit for each draw.
        Their relative standard error is at most sqrt(1 / (2 samples)), and less the further a pair
        is from those of the fit. The draws are conditioned by Matheron's rule (Wilson et al., JMLR
        22, 2021; Lin et al., ICML 2025). With few features, and with other kernels of pairs, they
        are the exact ones.
        """
        check_is_fitted(self)
        check_pairs(X)
        check_parameters({"samples": [COUNT, None]}, {"samples": samples}, "predict_std")
        then = self._as_fitted()
        weight = then.sample_weight_
        fitted = FittedProcess(
            then,
            gram_operator=then._gram_operator,
            design=partial(then._design, then.feature_maps_) if hasattr(then, "coef_") else None,
            design_operator=then._design_operator,
            root=None if weight is None else np.sqrt(weight),
        )
        variance = posterior_variance(fitted, X, samples, check_random_state(random_state))
        return np.sqrt(then.noise_variance_ / then.reg * variance)


def _normal_equations(operator, y):
    """X'X as an operator, and X'y."""
    p = operator.shape[1]
    system = LinearOperator(
        (p, p), matvec=lambda v: operator.rmatvec(operator.matvec(v)), dtype=y.dtype
    )
    return system, operator.rmatvec(y)


def _last_true_iterates(gram, y, solutions, bounds, reached, tol):
    """Position of the last iterate of each weight whose residual is what it claims, and a mask.

    The mask tells which weights rounding has ended: those without a true iterate that has reached
    ``tol``, where the recurrence claims one.
    """

    def exceeds(j, k, largest):
        """Whether ||y - (Q + reg_j I) a_k|| is more than ``largest``.

        The bounds of the residuals take no products; a weight that they leave in doubt takes one.
        """
        if bounds[j, k] <= largest:
            return False
        a = solutions.iterate(j, k)
        residual = y - gram.matvec(a) - solutions.shifts[j] * a
        return not np.linalg.norm(residual) <= largest

    claimed, ends = solutions.residual_norms[:, -1], first_within(solutions, tol)
    last = np.full(len(claimed), solutions.n_iter - 1)
    lost = np.zeros(len(last), bool)
    # The largest residual of a weight that has reached ``tol``, as for a single solution
    attained = max(2 * tol, 100 * np.finfo(y.dtype).eps) * solutions.b_norm
    for j in range(len(last)):
        if exceeds(j, -1, claimed[j] + LOST * solutions.b_norm):
            # The recurrence has left the system: the iterate of the least bound is kept.
            last[j] = np.argmin(np.nan_to_num(bounds[j], nan=np.inf))
            lost[j] = not (reached[j] and ends[j] <= last[j])
        elif reached[j]:
            lost[j] = exceeds(j, ends[j], attained)
    return last, lost


def _stop_reasons(reached, lost, otherwise):
    """A word for each weight: rounding before the tolerance before what ended the others."""
    return tuple(
        "rounding" if spoilt else "tol" if within else otherwise
        for within, spoilt in zip(reached, lost, strict=True)
    )


def _in_precision(y: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Labels in the precision of the products, where their squares must be numbers."""
    with np.errstate(over="ignore"):
        cast = y.astype(dtype, copy=False)
        squares = np.square(cast).sum()
    if y.any() and not np.finfo(dtype).tiny <= squares < np.inf:
        raise InputError(
            f"labels of size {np.abs(y).max():.0e} have no sum of squares in {np.dtype(dtype)}: "
            "scale them"
        )
    return cast


def _warn_of_path(which, how, regs):
    """ConvergenceWarning of the weights in the mask ``which``: how they ended, and what helps."""
    if which.any():
        ended, remedy = how
        warnings.warn(
            f"KronRidge.path {ended} for {which.sum()} of {len(which)} weights, up to "
            f"reg={regs[which].max():g}: give {remedy}",
            ConvergenceWarning,
            stacklevel=3,
        )
