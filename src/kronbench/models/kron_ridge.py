"""Kronecker ridge regression by MINRES (Airola & Pahikkala 2018, Section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator
from sklearn.base import RegressorMixin

from kronbench.errors import InputError, check_positive
from kronbench.linalg import ShiftedSolutions, minres, multishift_minres
from kronbench.models._pair_labels import check_pairs, check_targets
from kronbench.models._product_kernel_model import ProductKernelModel
from kronbench.pairs import Iterate


class KronRidge(RegressorMixin, ProductKernelModel):
    """Ridge regression on pairs with a Kronecker product kernel, stopped early.

    Minimizes 1/2 ||p - y||^2 + reg/2 ||f||^2 by MINRES on (Q + reg I) a = y with the Gram operator
    Q = R (G kron K) R' (dual), or (X'X + reg I) w = X'y with X = R (T kron D) (primal). An
    iteration of the dual costs O(n (m + q)), of the primal O(min(q d r + d n, m d r + r n)).

    Parameters
    ----------
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
    max_iter : int
        Iterations of MINRES: fewer regularize more, and that is meant.
    tol : float
        Stops earlier when the residual has fallen by this factor.
    method : {"auto", "sparse", "dense", "lowrank"}
        How products are made; see ``SampledKroneckerOperator``.

    Attributes
    ----------
    dual_coef_ : (n,) array, dual form
    coef_ : (d*r,) array, primal form
        ``coef_.reshape(d, r)`` is the weight of each product of a row and a column feature.
    feature_maps_ : two functions, primal form
        From given features of row and of column vertices to those of the product.
    n_iter_ : int
    objective_path_ : (n_iter_,) array
        Regularized risk after each iteration.
    stop_reason_ : {"tol", "max_iter", "callback", "breakdown", "rounding"}
        See ``kronbench.linalg.Solution``; the last two come with a ConvergenceWarning.
    X_fit_ : PairData
    """

    _iterations_regularize = True

    def __init__(
        self,
        form="dual",
        reg=1.0,
        row_kernel="linear",
        col_kernel="linear",
        row_gamma=None,
        col_gamma=None,
        max_iter=100,
        tol=1e-8,
        method="auto",
    ):
        self.form = form
        self.reg = reg
        self.row_kernel = row_kernel
        self.col_kernel = col_kernel
        self.row_gamma = row_gamma
        self.col_gamma = col_gamma
        self.max_iter = max_iter
        self.tol = tol
        self.method = method

    def fit(self, X, y, callback=None):
        """Fit to the labels y (n,) of the pairs X.

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
        operator = self.prediction_operator(X)
        solve = self._solve_primal if self.form == "primal" else self._solve_dual
        solution, objectives = solve(operator, y.astype(operator.dtype, copy=False), callback)
        self._set_fitted(X, solution.x, np.array(objectives), solution.stop)
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

    def path(self, X, y, regs, X_test=None):
        """All iterates for all of ``regs`` from the ``max_iter`` products of one run (dual form).

        Parameters
        ----------
        X : PairData, n pairs
        y : (n,) array of numbers
        regs : (s,) array, positive
        X_test : PairData, optional, t pairs
            Pairs for which the path can predict; one test product an iteration.

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
        operator = self.prediction_operator(X)
        y = y.astype(operator.dtype, copy=False)
        solutions = multishift_minres(operator, y, regs, tol=self.tol, max_iter=self.max_iter)
        images = None
        if X_test is not None:
            check_pairs(X_test)
            images = self.prediction_operator(X, X_test).matmat(solutions.basis[:-1].T).T
        norm_squared, error_squared = solutions.quadratic_forms()
        objective = 0.5 * error_squared + 0.5 * regs[:, None] * norm_squared
        return RidgePath(regs, objective, solutions, images)

    def predict(self, X):
        """Predictions (t,) for the pairs of X; the same as ``decision_function``."""
        return self.decision_function(X)


@dataclass(frozen=True)
class RidgePath:
    """Ridge regression for s regularization weights and each number of iterations 1..K.

    Attributes
    ----------
    regs : (s,) array
    objective : (s, K) array
        Regularized risk.
    solutions : ShiftedSolutions
    test_images : (K, t) array or None
        Scores of the Lanczos vectors for the test pairs.
    """

    regs: np.ndarray
    objective: np.ndarray
    solutions: ShiftedSolutions
    test_images: np.ndarray | None

    @property
    def n_iter(self) -> int:
        return self.solutions.n_iter

    def dual_coef(self, j, k=-1):
        """Dual coefficients (n,) for ``regs[j]`` after k + 1 iterations, by default the last."""
        return self.solutions.iterate(j, k)

    def test_scores(self, j):
        """Test predictions (K, t) of all iterates for ``regs[j]``."""
        if self.test_images is None:
            raise InputError("the path has no test pairs: give X_test to KronRidge.path")
        return self.solutions.images(j, self.test_images)
