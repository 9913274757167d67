"""Kronecker ridge regression (Airola & Pahikkala 2018, Section 4.1)."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy.sparse.linalg import LinearOperator
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from kronbench.errors import InputError
from kronbench.linalg import minres, multishift_minres
from kronbench.linalg.krylov import LOST
from kronbench.models._pair_classifier import check_pairs, check_targets, with_weight
from kronbench.models._parameters import (
    AT_LEAST_0,
    COUNT,
    KERNEL,
    POSITIVE,
    PRECISION,
    WIDTH,
    check_regs,
    estimator,
    parameter,
)
from kronbench.models._posterior import posterior_variance
from kronbench.models._product_kernel_model import PAIRWISE_KERNELS, PRODUCTS, ProductKernelModel
from kronbench.models._ridge_path import (
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

# Up to which share of the norm of the scores they may be off where "auto" says nothing
_NEAR = 3e-3
# The same for a bound of what rounding may do, which is some twenty times what it does
_DOUBT = 0.1
# Up to which share of the norm of the labels "auto" leaves the scores of the primal form off
_LEFT = 1e-4
_SOME = 256  # pairs whose scores by the kernels are compared with those by their factors
# How weights of a path ended, and what helps
_ROUNDED = "was ended by rounding", "larger weights, double precision or scaled features"
_FAR = (
    "ended far from the optimum",
    "more iterations or larger weights, or solver='minres' if early stopping is intended",
)


@estimator
class KronRidge(RegressorMixin, ProductKernelModel):
    """Ridge regression on pairs with a Kronecker product kernel.

    Labels whose mean is not zero, such as affinities around 6, need ``fit_intercept=True``.
    Without it the model is pulled towards zero, and a warning says if that matters.

    Minimizes 1/2 ||p - y||^2 + reg/2 ||f||^2 over functions f of pairs. MINRES solves
    (Q + reg I) a = y with Q = R (G kron K) R' (dual), O(n (m + q)) an iteration, or
    (X'X + reg I) w = X'y with X = R (T kron D) (primal), O(min(q d r + d n, m d r + r n)).

    Parameters
    ----------
    form : {"auto", "dual", "primal"}, default "auto"
        Coefficients of the pairs, or of products of a row and a column feature (Section 3.1).
        "auto" takes the primal form where the optimum is asked for (``solver``), kernels are
        linear and its products have fewer operations; the optimum is the same. The primal form
        uses features of linear kernels, made dense; of others pivoted Cholesky factors that
        reproduce the kernel matrices to 1e-11 (1e-6 in single precision).
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
    fit_intercept: bool = parameter(False, "boolean")
    solver: str = parameter("auto", StrOptions({"auto", "minres"}))
    max_iter: int = parameter(100, COUNT)
    tol: float = parameter(1e-8, AT_LEAST_0)
    product: str = parameter("auto", *PRODUCTS)
    dtype: DTypeLike | None = parameter(None, *PRECISION, None)
    verbose: bool | int = parameter(False, "verbose")

    _root = None  # of the weights of the pairs

    @property
    def _iterations_regularize(self):
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
        self._root = None if weight is None else np.sqrt(weight)
        if not callback and (thin := self._thin_design(X)):
            maps, design = thin
            found = ThinRidge(design, y, self._root).solve(self.reg)
            dual_coef = found.residual / self.reg
            certain = found.certain and self._factors_suffice(X, maps, found.coef, dual_coef)
            stop = "tol" if certain else "rounding"
            self._set_fitted(X, maps, found.coef, np.array([found.objective]), stop)
            if self.form != "primal":
                self.dual_coef_ = dual_coef
        else:
            self._iterate(X, y, callback)
        self.intercept_ = intercept
        n = len(y) if weight is None else weight.sum()
        self.noise_variance_ = 2 * self.objective_path_[-1] / n if self.n_iter_ else 0.0
        return self

    def _features_are_cheaper(self, X):
        if self.solver != "auto" or not self._has_features():
            return False
        sides = (X.rows, X.row_features), (X.cols, X.col_features)
        shapes = tuple((len(np.unique(index)), side.shape[1]) for index, side in sides)
        thin = is_thin(len(X), shapes[0][1] * shapes[1][1])
        return not thin and features_are_cheaper(len(X), shapes, self.max_iter)

    def _has_features(self):
        """Whether given features are those of the kernel of pairs."""
        given = [self.pairwise, self.row_kernel, self.col_kernel]
        linear = given == ["kronecker", "linear", "linear"]
        return linear and not (self.row_effect or self.col_effect)

    def _thin_design(self, X):
        """Feature maps and factors of a design of few features; None for iterations."""
        primal = self.form == "primal" and self.is_primal(X)
        if self.solver != "auto":
            return None
        if primal:
            maps = self._make_feature_maps(X)
        else:
            width = X.row_features.shape[1] * X.col_features.shape[1]
            if not self._has_features() or not is_thin(len(X), width):
                return None
            maps = self._make_feature_maps(X, np.float64)
        design = self._design(maps, X)
        width = design[0].shape[1] * design[1].shape[1]
        return (maps, design) if is_thin(len(X), width) else None

    def _iterate(self, X, y, callback):
        (unweighted, maps, _), root, reg = self._operator(X), self._root, self.reg
        dual = maps is None
        operator = weighted(unweighted, root, dual=dual)
        y = scaled(root, _in_precision(y, operator.dtype))
        system, b, yy, objectives, tol = operator, y, float(y @ y), [], self.tol
        if not dual:
            p = operator.shape[1]
            system = LinearOperator(
                (p, p), matvec=lambda v: operator.rmatvec(operator.matvec(v)), dtype=y.dtype
            )
            b = operator.rmatvec(y)
            if self.solver == "auto" and (size := np.linalg.norm(b)):
                # scores are off by X (X'X + reg I)^-1 times the residual, and |s / (s^2 + reg)| is
                # at most 1 / (2 root(reg)): what is left of it should not matter beside y
                least = 2 * np.sqrt(reg) * np.linalg.norm(y) / size
                tol = min(tol, max(tol, _LEFT) * least)

        def risk(coef, residual):
            """The scores, in the dual alone, and the objective, without a product."""
            if dual:
                error = residual + reg * coef  # y - Q a
                scores = y - error
                return scores, 0.5 * float(error @ error) + 0.5 * reg * float(coef @ scores)
            # with X'X w = b - reg w - residual, 1/2 ||X w - y||^2 + reg/2 ||w||^2 is
            return None, 0.5 * (yy - float(coef @ (b + residual)))

        def observe(coef, residual):
            scores, now = risk(coef, residual)
            objectives.append(now)
            if not callback:
                return False
            scores = scores if dual else operator.matvec(coef)
            if root is not None:  # the callback sees the pairs as they are
                coef, scores = scaled(root, coef) if dual else coef, scaled(1 / root, scores)
            return callback(Iterate(len(objectives), coef, scores, now))

        with self._shown(observe) as shown:
            found = minres(system, b, shift=reg, tol=tol, max_iter=self.max_iter, callback=shown)
        coef, off, stop = found.x, np.linalg.norm(found.residual), found.stop
        if dual:
            # scores are off by Q (Q + reg I)^-1 times the residual, which is no longer
            scores, last = risk(coef, found.residual)
        else:
            scores = operator.matvec(coef)
            error = y - scores
            last = 0.5 * float(error @ error) + 0.5 * reg * float(coef @ coef)
            off /= 2 * np.sqrt(reg)
            spoilt = off > max(_DOUBT * np.linalg.norm(scores), self.tol * np.linalg.norm(y))
            dual_coef = scaled(root, error).astype(np.float64) / reg
            if stop == "tol" and (spoilt or not self._factors_suffice(X, maps, coef, dual_coef)):
                stop = "rounding"
        near = off <= _NEAR * np.linalg.norm(scores)
        # the objectives up to the iterate that is kept, whose own comes of a product
        path = np.array([*objectives[: found.n_iter - 1], last] if found.n_iter else [])
        coef = scaled(root, coef) if dual else coef
        self._set_fitted(X, maps, coef, path, stop, near)
        if not dual and self.form == "auto":
            self.dual_coef_ = dual_coef.astype(coef.dtype, copy=False)

    def _factors_suffice(self, X, maps, coef, dual_coef):
        """Whether the factors of the kernels, which are near them, have the kernels' optimum.

        Scores are off by no more than (Q - X X') a; some of the pairs are looked at.
        """
        if self.row_kernel == self.col_kernel == "linear":
            return True
        double = copy.copy(self).set_params(dtype=np.float64)
        some = X[np.arange(0, len(X), -(-len(X) // _SOME))]
        (T, D, *pairs), (T_some, D_some, *pairs_some) = (
            self._design(maps, of) for of in (X, some)
        )
        design = self._design_operator(T.astype(float), D.astype(float), *pairs)
        few = self._design_operator(T_some.astype(float), D_some.astype(float), *pairs_some)
        off = double._gram_operator(X, some) @ dual_coef - few @ (design.rmatvec(dual_coef))
        return np.linalg.norm(off) <= _NEAR * np.linalg.norm(few @ coef)

    def path(
        self, X: PairData, y: ArrayLike, regs: ArrayLike, X_test: PairData | None = None
    ) -> RidgePath:
        """All iterates for all of ``regs`` (s,) from the products of one run (dual form).

        With the t pairs ``X_test`` the path can predict them; one test product an iteration, or
        none where ``product`` is "dense" and the vertices are those of X. The estimator does not
        change. Holds max_iter + 1 vectors of length n and max_iter of length t. Where "auto" needs
        no iterations, the path has one. A ConvergenceWarning tells of weights that ended by
        rounding or, for "auto", far from the optimum.
        """
        self._check_parameters()
        y, regs = check_targets(X, y), check_regs(regs)
        if self.form == "primal":
            raise InputError(f"path needs form='dual', not {self.form!r}")
        if X_test is not None:
            check_pairs(X_test)
        y, intercept = self._centred(y, None)
        images = None
        if thin := self._thin_design(X):
            maps, design = thin
            ridge = ThinRidge(design, y)
            found = [ridge.solve(reg) for reg in regs]
            if X_test is not None:
                features = products(*self._design(maps, X_test)).astype(np.float64, copy=False)
                images = np.array([features @ one.coef for one in found])
            lost = np.array([not one.certain for one in found])
            _warn_of_path(lost, _ROUNDED, regs)
            return RidgePath(
                regs,
                objective=np.array([[one.objective] for one in found]),
                solutions=ThinPath(
                    regs, np.array([one.residual for one in found]) / regs[:, None]
                ),
                test_images=images,
                stop_reasons=tuple(np.where(lost, "rounding", "tol").tolist()),
                last=np.zeros(len(regs), int),
                intercept=intercept,
                failed=tuple(lost.tolist()),
            )
        gram = operator = self._gram_operator(X)
        together = (
            X_test is not None
            and self.product == "dense"
            and same_features(X_test.row_features, X.row_features)
            and same_features(X_test.col_features, X.col_features)
            and (X_test.row_ids, X_test.col_ids) == (X.row_ids, X.col_ids)
        )
        test_images: list[np.ndarray] = []
        if X_test and together:  # a product with the training pairs, then the test pairs
            rows, cols = np.append(X.rows, X_test.rows), np.append(X.cols, X_test.cols)
            both = self._gram_operator(X, PairData(X.row_features, X.col_features, rows, cols))

            def product(v):
                image = both.matvec(v)
                test_images.append(image[len(X) :])
                return image[: len(X)]

            operator = LinearOperator(gram.shape, matvec=product, dtype=both.dtype)
        y = _in_precision(y, operator.dtype)
        solutions = multishift_minres(operator, y, regs, tol=self.tol, max_iter=self.max_iter)
        if together:
            images = np.array(test_images)
        elif X_test is not None:
            images = self._gram_operator(X, X_test).matmat(solutions.basis[:-1].T).T
        if X_test and not solutions.n_iter:  # labels that are zero
            images = np.zeros((0, len(X_test)))
        norm_squared, error_squared, bounds = solutions.quadratic_forms()
        objective = 0.5 * error_squared + 0.5 * regs[:, None] * norm_squared
        reasons, last, lost, far = self._ends(gram, y, solutions, bounds)
        _warn_of_path(lost, _ROUNDED, regs)
        _warn_of_path(far, _FAR, regs)
        failed = tuple((lost | far).tolist())
        return RidgePath(regs, objective, solutions, images, reasons, last, intercept, failed)

    def _ends(self, gram, y, found, bounds):
        """Why each weight ended, its last iterate that is what it claims to be, and two masks.

        They say which weights rounding has ended, and which are far from the optimum.

        The bounds of the residuals take no products; the weights that they leave in doubt do.
        """
        last = np.full(len(found.shifts), found.n_iter - 1)
        if not found.n_iter:
            return ("tol",) * len(last), last, *np.zeros((2, len(last)), bool)

        def parted(j, k, allowed):
            """Whether the residual of an iterate is more than ``allowed``."""
            if bounds[j, k] <= allowed:
                return False
            x = found.iterate(j, k)
            residual = y - gram.matvec(x) - found.shifts[j] * x
            return not np.linalg.norm(residual) <= allowed

        claimed, ends = found.residual_norms[:, -1], first_within(found, self.tol)
        lost = np.zeros(len(last), bool)
        # as for a single solution
        attained = max(2 * self.tol, 100 * np.finfo(y.dtype).eps) * found.b_norm
        reached = found.residual_norms.min(axis=1) <= self.tol * found.b_norm
        for j in range(len(last)):
            if parted(j, -1, claimed[j] + LOST * found.b_norm):
                last[j] = np.argmin(np.nan_to_num(bounds[j], nan=np.inf))
                lost[j] = not (reached[j] and ends[j] <= last[j])
            elif reached[j]:
                lost[j] = parted(j, ends[j], attained)
        scores = (found.coefficients[:, -1] @ found.tridiagonal.T) @ found.basis
        sizes = np.linalg.norm(scores, axis=1)
        far = np.zeros(len(last), bool)
        if not self._iterations_regularize:
            # kernels to other pairs round otherwise than those of the residual
            lost |= reached & ~(bounds[:, -1] <= _DOUBT * sizes)
            if self.tol > 0:
                far = ~(claimed <= _NEAR * sizes) & ~reached & ~lost
        otherwise = "max_iter" if found.n_iter == self.max_iter else "breakdown"
        reasons = tuple(
            "rounding" if spoilt else "tol" if within else otherwise
            for within, spoilt in zip(reached, lost, strict=True)
        )
        return reasons, last, lost, far

    def predict(self, X: PairData, return_std: bool = False) -> Any:
        """Predictions (t,) for the t pairs of X, as ``decision_function``.

        With ``return_std`` they come with their standard deviations, ``predict_std(X)``.
        """
        scores = self.decision_function(X)
        return (scores, self.predict_std(X)) if return_std else scores

    def predict_std(self, X: PairData) -> np.ndarray:
        """Standard deviations (t,) of the values f(x) that ``predict`` gives for the pairs of X.

        Roots of (noise_variance_ / reg) (k(x, x) - k_x' (Q + reg I)^-1 k_x). That of a new label
        is ``np.sqrt(std**2 + model.noise_variance_)``. A precomputed kernel has it only for the
        vertices that were given to ``fit``.

        Where "auto" needs no iterations a QR decomposition of the p products of features gives
        them to rounding, whatever the scale of a feature, in O(n p^2 + t p^2). Elsewhere conjugate
        gradients bracket each, with up to 2000 products a pair. The upper end is returned, so
        none is too small, and a ConvergenceWarning counts the pairs whose ends are more than 5 %
        apart. InputError if the kernel is found indefinite.
        """
        check_is_fitted(self)
        check_pairs(X)
        then = self._as_fitted()
        return np.sqrt(then.noise_variance_ / then.reg * posterior_variance(then, X))


def _in_precision(y: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Labels in the precision of the products, where their squares must be numbers."""
    with np.errstate(over="ignore"):
        cast = y.astype(dtype, copy=False)
        size = np.square(cast).sum()
    if y.any() and not np.finfo(dtype).tiny <= size < np.inf:
        raise InputError(
            f"labels of size {np.abs(y).max():.0e} have no sum of squares in {np.dtype(dtype)}: "
            "scale them"
        )
    return cast


def _warn_of_path(which, how, regs):
    if which.any():
        ended, remedy = how
        warnings.warn(
            f"KronRidge.path {ended} for {which.sum()} of {len(which)} weights, up to "
            f"reg={regs[which].max():g}: give {remedy}",
            ConvergenceWarning,
            stacklevel=3,
        )
