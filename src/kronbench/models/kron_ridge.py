"""Kronecker ridge regression by MINRES (Airola & Pahikkala 2018, Section 4.1)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy.sparse.linalg import LinearOperator
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from kronbench.errors import InputError, check_positive
from kronbench.linalg import minres, multishift_minres
from kronbench.models._pair_labels import check_pairs, check_targets
from kronbench.models._posterior import FEW, posterior_variance
from kronbench.models._product_kernel_model import ProductKernelModel
from kronbench.models._ridge_path import RidgePath
from kronbench.pairs import Iterate, PairData


class KronRidge(RegressorMixin, ProductKernelModel):
    """Ridge regression on pairs with a Kronecker product kernel, stopped early.

    Minimizes 1/2 ||p - y||^2 + reg/2 ||f||^2 by MINRES on (Q + reg I) a = y with the Gram operator
    Q = R (G kron K) R' (dual), or (X'X + reg I) w = X'y with X = R (T kron D) (primal). An
    iteration of the dual costs O(n (m + q)), of the primal O(min(q d r + d n, m d r + r n)).

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
    max_iter : int, default 100
        Iterations of MINRES: fewer regularize more, and that is meant. 100 are the paper's.
    tol : float, default 1e-8
        Stops earlier when the residual has fallen by this factor.
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
    n_iter_ : int
        Iterations made.
    objective_path_ : (n_iter_,) array
        Regularized risk after each iteration.
    stop_reason_ : {"tol", "max_iter", "callback", "breakdown", "rounding"}
        See :class:`kronbench.linalg.Solution`; the last two come with a ConvergenceWarning.
    converged_ : bool
        Whether ``tol`` was reached.
    noise_variance_ : float
        (||y - p||^2 + reg ||f||^2) / n. Of labels that are a Gaussian process with the covariance
        (noise_variance / reg) k plus independent noise, this is the estimate of the noise
        variance by maximum likelihood, reg y' (Q + reg I)^-1 y / n; an early stop makes it larger.

    Notes
    -----
    The predictions are the mean of that process given the labels (Rasmussen & Williams 2006,
    section 2.2), once the iterations have converged; ``predict(X, return_std=True)`` gives its
    standard deviation.
    """

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
        max_iter: int = 100,
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
        self.max_iter = max_iter
        self.tol = tol
        self.product = product
        self.dtype = dtype

    def fit(
        self, X: PairData, y: ArrayLike, callback: Callable[[Iterate], bool] | None = None
    ) -> Self:
        """Fit to the labels of pairs.

        Parameters
        ----------
        X : PairData, n pairs
        y : (n,) array of numbers
        callback : callable(Iterate) -> bool, optional
            Called after each iteration; True stops. In the primal form the training scores it
            gets cost one product more.

        Raises
        ------
        InputError
            X is no PairData, y does not fit it or is not finite, a parameter is out of range.
        """
        y = check_targets(X, y)
        check_positive(self.reg, "reg")
        if self._is_primal():
            maps = self._make_feature_maps(X)
            operator, solve = self._design_operator(*self._design(maps, X)), self._solve_primal
        else:
            maps, operator, solve = None, self._gram_operator(X), self._solve_dual
        solution, objectives = solve(operator, y.astype(operator.dtype, copy=False), callback)
        self._set_fitted(X, maps, solution.x, np.array(objectives), solution.stop)
        self.noise_variance_ = 2 * objectives[-1] / len(y) if objectives else 0.0
        return self

    def _solve_dual(self, gram, y, callback):
        objectives = []

        def observe(a, residual):
            error = residual + self.reg * a  # y - Q a, without a product
            scores = y - error
            risk = 0.5 * float(error @ error) + 0.5 * self.reg * float(a @ scores)
            objectives.append(risk)
            return callback and callback(Iterate(len(objectives), a, scores, risk))

        solution = minres(
            gram, y, shift=self.reg, tol=self.tol, max_iter=self.max_iter, callback=observe
        )
        return solution, objectives

    def _solve_primal(self, design, y, callback):
        d = design.shape[1]
        normal = LinearOperator(
            (d, d), matvec=lambda v: design.rmatvec(design.matvec(v)), dtype=y.dtype
        )
        b, yy = design.rmatvec(y), float(y @ y)
        objectives = []

        def observe(w, residual):
            # with X'X w = b - reg w - residual, 1/2 ||X w - y||^2 + reg/2 ||w||^2 is
            risk = 0.5 * (yy - float(w @ (b + residual)))
            objectives.append(risk)
            return callback and callback(Iterate(len(objectives), w, design.matvec(w), risk))

        solution = minres(
            normal, b, shift=self.reg, tol=self.tol, max_iter=self.max_iter, callback=observe
        )
        return solution, objectives

    def path(
        self, X: PairData, y: ArrayLike, regs: ArrayLike, X_test: PairData | None = None
    ) -> RidgePath:
        """All iterates for all of ``regs`` from the ``max_iter`` products of one run (dual form).

        Parameters
        ----------
        X : PairData, n pairs
        y : (n,) array of numbers
        regs : (s,) array, positive
        X_test : PairData, optional, t pairs
            Pairs for which the path can predict; one test product an iteration. Where ``product``
            is "dense" and the vertices are those of X, the test scores come out of the product
            with the training pairs.

        Returns
        -------
        RidgePath

        Notes
        -----
        Leaves the estimator as it is; ``reg`` is not used. Holds max_iter + 1 vectors of length n
        and max_iter of length t.
        """
        y = check_targets(X, y)
        regs = np.atleast_1d(np.asarray(regs, dtype=np.float64))
        for reg in regs:
            check_positive(reg, "reg")
        if self.form != "dual":
            raise InputError(f"path needs form='dual', not {self.form!r}")
        if X_test is not None:
            check_pairs(X_test)
        together = X_test is not None and self.product == "dense" and _over_the_same(X, X_test)
        operator = self._gram_operator(X)  # which checks the kernels
        if together:
            both = self._gram_operator(X, _joined(X, X_test))
            operator, test_images = _collecting(both, len(X))
        y = y.astype(operator.dtype, copy=False)
        solutions = multishift_minres(operator, y, regs, tol=self.tol, max_iter=self.max_iter)
        images = None
        if together:
            images = np.array(test_images)
        elif X_test is not None:
            images = self._gram_operator(X, X_test).matmat(solutions.basis[:-1].T).T
        norm_squared, error_squared = solutions.quadratic_forms()
        objective = 0.5 * error_squared + 0.5 * regs[:, None] * norm_squared
        return RidgePath(regs, objective, solutions, images)

    def predict(
        self, X: PairData, return_std: bool = False, rank: int | None = None
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Predictions (t,) for the pairs of X; the same as ``decision_function``.

        Parameters
        ----------
        X : PairData, t pairs
        return_std : bool, default False
            Whether the standard deviation of f(x) comes too. That of a new label of x is
            ``np.sqrt(std**2 + model.noise_variance_)``.
        rank : int, optional
            As for :meth:`std_bounds`.

        Returns
        -------
        (t,) array; with ``return_std`` two of them, the second the upper one of ``std_bounds``.

        Warns
        -----
        ConvergenceWarning
            The bounds of a standard deviation are more than a hundredth apart.
        """
        mean = self.decision_function(X)
        if not return_std:
            return mean
        low, high = self.std_bounds(X, rank)
        apart = float(np.max((high - low) / np.where(high > 0, high, 1.0)))
        if apart > 0.01:
            warnings.warn(
                f"standard deviations may be too large, by up to {100 * apart:.0f} %: give a "
                "larger rank or reg",
                ConvergenceWarning,
                stacklevel=2,
            )
        return mean, high

    def std_bounds(self, X: PairData, rank: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds (t,) of the standard deviation of f at the pairs of X.

        It is the root of (noise_variance_ / reg) (k(x, x) - k_x' (Q + reg I)^-1 k_x). Up to 300
        pairs, where ``rank`` is None, conjugate gradients solve for 64 pairs together until the
        bounds meet; give more pairs in parts to have them so. Else one Krylov space of Q of
        dimension ``rank``, 300 by default, serves all pairs: ``rank`` products with the training
        pairs and as many with X, and n ``rank`` numbers of memory. The upper bound is the
        standard deviation after as many linear measurements of the labels; the lower one comes
        of the norms of the residuals, and is far off where Q has more than ``rank`` eigenvalues
        above reg.

        Parameters
        ----------
        X : PairData, t pairs
        rank : int, optional
            At most the number of training pairs, where the bounds meet. It needs
            pairwise="kronecker".

        Raises
        ------
        InputError
            A kernel is not positive semidefinite, or is precomputed and a vertex is new.
        """
        check_is_fitted(self)
        check_pairs(X)
        if rank is None and len(X) > FEW and self.pairwise == "kronecker":
            rank = FEW
        low, high = posterior_variance(self, X, rank)
        scale = self.noise_variance_ / self.reg
        return np.sqrt(scale * low), np.sqrt(scale * high)


def _over_the_same(X, X_test):
    return X_test.row_features is X.row_features and X_test.col_features is X.col_features


def _joined(X, X_test):
    """The training pairs, then the test pairs."""
    rows, cols = (
        np.concatenate([getattr(X, side), getattr(X_test, side)]) for side in ("rows", "cols")
    )
    return PairData(X.row_features, X.col_features, rows, cols)


def _collecting(operator, n):
    """The first n outputs of an operator, and a list to which a product adds the others."""
    others = []

    def product(v):
        image = operator.matvec(v)
        others.append(image[n:])
        return image[:n]

    return LinearOperator((n, n), matvec=product, dtype=operator.dtype), others
