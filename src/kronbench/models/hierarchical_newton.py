"""Kernel classification in a class tree at given hyperparameters (Seeger 2006)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.multiclass import check_classification_targets

from kronbench.class_tree.covariance import FeatureCovariance, space_of
from kronbench.class_tree.criterion import Criterion, CrossValidation
from kronbench.class_tree.kernels import kernels_of
from kronbench.class_tree.posterior_mode import Mode, NewtonCG, run_alone
from kronbench.class_tree.printed_mode import PrintedNewton
from kronbench.class_tree.softmax import SoftmaxLoss
from kronbench.class_tree.tree import DenseCoupling, Tree, node_groups
from kronbench.errors import InputError
from kronbench.linalg.gram_matrix import dense
from kronbench.models._parameters import (
    AT_LEAST_0,
    COUNT,
    KERNEL,
    POSITIVE,
    PRECISION,
    check_parameters,
    estimator,
    parameter,
    positional,
)
from kronbench.models._row_classifier import (
    RowClassifier,
    Rows,
    encode_leaves,
    forget_fit,
    new_rows,
    training_rows,
)

_SOLVERS: dict[str, Callable] = {
    "cg": NewtonCG,
    "pcg": partial(NewtonCG, preconditioned=True),
    "printed": PrintedNewton,
}

# Error of a score by rounding alone; a probability changes by at most a quarter of it.
_LARGEST_SCORE_ROUNDING = 0.04


@estimator
class HierarchicalNewtonClassifier(RowClassifier):
    """Softmax classification with a kernel function on each node of a class tree.

    The score of a class is the sum of the functions on its path below the root, plus an
    intercept; each function has the prior of its kernel v_p M^(p), the intercepts variance
    sigma^2 (Seeger 2006, Eq. 2). Newton steps find the posterior mode to a certified duality gap.
    A step of the linear solver is one product with the kernel of all classes: O(n d C) for a
    linear kernel of d features (or entries a row), O(n^2 C) for a stored matrix, O(n k C) for rank
    k.

    Parameters
    ----------
    tree : (P + 1,) integer array, default None
        Parent of each node in any order, ``tree[0] == -1`` the root; leaves in increasing order
        of their node are the classes. None is the flat model, P = C.
    kernel : {"linear", "gaussian", "tanimoto", "precomputed"} or callable, default "linear"
        Of all nodes, as in :func:`kronbench.linalg.gram`.
    gamma : float or (P,) array, default 1.0
        Of the Gaussian kernel of each node; equal ones share a stored matrix.
    variance : float or (P,) array, default 1.0
        v_p > 0, which multiplies the kernel of each node below the root.
    bias_variance : float, default 1.0
        sigma^2 >= 0 of the intercept of each class.
    classes : (C,) array, default None
        Labels of the leaves, in their order. With None: 0..C-1 for integer labels under a tree,
        else the sorted labels of y, of which there must be C.
    coupling : (C, P) array, default None
        In place of the tree, scores are this matrix times P independent functions (section 7.2).
    rank : int, default None
        Pivots of a low-rank kernel with corrected diagonal (section 7.4); exact when None.
    dtype : {"float64", "float32"}, default "float64"
        Of stored kernel matrices, and of products with sparse features; sums are in double.
    solver : {"cg", "pcg", "printed"}, default "cg"
        Of the linear system of a Newton step: conjugate gradients in the inner product of the
        prior covariance, without or with a preconditioner (the tree's); or the paper's iteration
        (Algorithm 3, Eq. 6), with its diagonal preconditioner.
    tol : float, default 1e-6
        Duality gap relative to the objective at which a fit stops; for "printed" the relative
        fall of the objective in a Newton step.
    max_iter : int, default 100
        Newton steps (k1 of the paper).
    max_inner : int, default 200
        Steps of the linear solver for each Newton step (k2), or fold of ``cv_log_likelihood``
        (k3).

    Attributes
    ----------
    classes_ : (C,) array
    n_features_in_ : int
    feature_names_in_ : (n_features_in_,) array
        Where X has names of columns.
    dual_coef_ : (n, C) array
        Not where a linear kernel has fewer features than rows.
    coef_ : (d, C) array
        Linear kernel, exact: scores are X coef_ + intercept_.
    intercept_ : (C,) array
    objective_path_ : (n_iter_ + 1,) array
        Phi, minus the log posterior, at the start and after each Newton step.
    gap_ : float
        Bound on how far Phi is from its minimum.
    converged_ : bool
        Whether ``gap_`` is at most ``tol`` of Phi; 1e-3 of it for "printed".
    stop_reason_ : {"tol", "max_iter", "callback", "no_descent"}
    n_iter_, n_inner_, n_products_ : int, int, float
        Newton steps, steps of the linear solver in all, products with the kernel of all classes.
    """

    _fitted = None  # the covariance, where new rows are compared with the training rows

    tree: ArrayLike | None = positional("array-like", None, default=None, kw_only=False)
    kernel: str | Callable = parameter("linear", *KERNEL)
    gamma: float | ArrayLike = parameter(1.0, POSITIVE, "array-like")
    variance: float | ArrayLike = parameter(1.0, POSITIVE, "array-like")
    bias_variance: float = parameter(1.0, AT_LEAST_0)
    classes: ArrayLike | None = parameter(None, "array-like", None)
    coupling: Any = parameter(None, "array-like", None)
    rank: int | None = parameter(None, COUNT, None)
    dtype: DTypeLike = parameter("float64", *PRECISION)
    solver: str = parameter("cg", StrOptions(set(_SOLVERS)))
    tol: float = parameter(1e-6, AT_LEAST_0)
    max_iter: int = parameter(100, COUNT)
    max_inner: int = parameter(200, COUNT)

    def fit(self, X: Rows, y: ArrayLike, callback: Callable[[Mode], bool] | None = None) -> Self:
        """Fit to X (n, d), dense or sparse, or (n, n) kernel values, and labels y (n,).

        ``callback(mode)`` is called after each Newton step; True stops.
        """
        forget_fit(self)
        X, codes, coupling = self._checked(X, y)
        covariance = self._covariance_of(X, coupling)
        return self._keep(covariance, self._mode_of(covariance, codes, callback=callback))

    def fit_uncertain(
        self, X: Rows, nodes: np.ndarray, *, max_iter: int = 50, tol: float = 1e-6
    ) -> Self:
        """Fit where a target may be an inner node: its class is one of the leaves below.

        Expectation-maximization (Seeger 2006, section 7.3): q_ic ~ [c below y_i] P(c | u_i), then
        a fit to q from the last mode, so that an iteration costs a fit or less. It ends after
        ``max_iter`` fits, or where the log posterior rises by at most ``tol`` of it. The model is
        that of the last fit; ``objective_path_`` has minus the log posterior of the incomplete
        data after each fit, up to a constant, which never rises.

        Parameters
        ----------
        X : as for ``fit``
        nodes : (n,) integer array
            A node of the tree for each row, a leaf where the class is known.
        """
        # These are arguments of a method, which the parameters' check does not see.
        ranges = {"max_iter": [COUNT], "tol": [AT_LEAST_0]}
        check_parameters(ranges, {"max_iter": max_iter, "tol": tol}, "fit_uncertain")
        if self.tree is None:
            raise InputError("tree is None: uncertain targets are nodes of a tree, so give one")
        tree, nodes = Tree(self.tree), np.asarray(nodes)
        if nodes.dtype.kind not in "iu" or nodes.ndim != 1:
            raise InputError(f"nodes has dtype {nodes.dtype}: give one node of the tree for a row")
        forget_fit(self)
        # ``allowed`` are the sets I_p of Section 7.3, the leaves below the node of each row.
        below = {node: tree.members(node) for node in np.unique(nodes)}
        allowed = np.stack([below[node] for node in nodes])
        # The check of the input wants a label for each row: that of any leaf below will do.
        labels = np.argmax(allowed, axis=1)
        if self.classes is not None:
            labels = np.take(self.classes, labels, mode="clip")
        X, _, coupling = self._checked(X, labels)
        covariance, mode = self._covariance_of(X, coupling), None
        # The first fit is to equal shares of the leaves below.
        shares = allowed / allowed.sum(axis=1, keepdims=True)
        path: list[float] = []
        for _ in range(max_iter):
            # The M step finds the mode for the distributions q, from the last one.
            mode = self._mode_of(covariance, shares, start=None if mode is None else mode.coef)
            # In the E step q_ic is P(c | u_i) among the leaves below, whose sum is the likelihood
            # of i.
            reached = np.where(allowed, mode.probabilities, 0)
            sums = reached.sum(axis=1)
            # Minus the log posterior of the incomplete data has alpha'K alpha / 2 as the prior's
            # part.
            path.append(0.5 * float(np.vdot(mode.coef, mode.image)) - float(np.log(sums).sum()))
            shares = reached / sums[:, None]
            if len(path) > 1 and path[-2] - path[-1] <= tol * abs(path[-1]):
                break
        self._keep(covariance, mode)
        self.objective_path_ = np.array(path)
        return self

    def cv_log_likelihood(
        self, X: Rows, y: ArrayLike, folds: ArrayLike
    ) -> tuple[float, np.ndarray]:
        """Log likelihood of each fold under the fit to the others, and its gradient.

        The paper's -Psi (Eq. 3) for ``folds`` (n,), at least two. The gradient is by the
        logarithms of ``variance``, of ``gamma`` (Gaussian kernel) and of ``bias_variance``: one
        entry for a number, P entries for an array. The model is not changed. The error of the
        value is of second order in what the fits leave, that of the gradient of first order.
        """
        # The clone takes what the checks set, so that the model does not change.
        model = clone(self)
        X, codes, coupling = model._checked(X, y)
        # The gradient has one entry for a number, and one for each node for an array.
        sharing = ["all" if np.ndim(v) == 0 else "node" for v in (self.variance, self.gamma)]
        criterion = model._criterion(X, codes, coupling, folds, sharing)
        evaluation, gradient, by_bias = criterion.evaluate(criterion.start)
        if not evaluation.converged:
            warnings.warn(
                "a fit to the other folds did not converge, and the log likelihood may be far "
                "off: raise max_iter or max_inner, or give smaller variances",
                ConvergenceWarning,
                stacklevel=2,
            )
        return -evaluation.value, -np.append(gradient, by_bias)

    def _checked(self, X, y):
        """Rows, codes of the labels, and what couples the classes; sets ``classes_``."""
        self._check_parameters()
        X, y = training_rows(self, X, y)
        check_classification_targets(y)
        tree, self.classes_, codes = encode_leaves(self.tree, y, self.classes)
        # Without a matrix of its own the tree couples the classes.
        if self.coupling is None:
            return X, codes, tree
        coupling = DenseCoupling(self.coupling)
        if coupling.n_classes != len(self.classes_):
            raise InputError(
                f"coupling has {coupling.n_classes} rows for {len(self.classes_)} classes: give "
                "one for each class"
            )
        return X, codes, coupling

    def _solver(self, tol=None):
        """The Newton method with the linear solver of the parameters, which finds the mode."""
        tol = self.tol if tol is None else tol
        return _SOLVERS[self.solver](tol, self.max_iter, self.max_inner)

    def _kernels(self, X, gamma):
        """The kernels M^(l) of the rows, one for each distinct ``gamma``."""
        return kernels_of(X, self.kernel, gamma, rank=self.rank, dtype=np.dtype(self.dtype))

    def _covariance_of(self, X, coupling):
        """The prior covariance of the scores of all classes (Eq. 2)."""
        # Nodes with equal gamma share a kernel, K^(p) = v_p M^(l_p) (Section 6.2).
        variance = self._of_nodes("variance", coupling)
        gamma, which = np.unique(self._of_nodes("gamma", coupling), return_inverse=True)
        kernels = self._kernels(X, gamma)
        # A linear kernel of few features has its mode in the features.
        space = space_of(kernels, self._solver().in_features)
        return space(kernels, coupling, variance, self.bias_variance, which)

    def _of_nodes(self, name, coupling):
        """(P,) positive numbers, one for each node, of a number or of an array of them."""
        value, n_nodes = np.asarray(getattr(self, name), float), coupling.n_nodes
        if value.ndim > 1 or (value.ndim == 1 and len(value) != n_nodes):
            raise InputError(
                f"{name} has shape {value.shape}: give a number, or one for each of the {n_nodes} "
                "nodes below the root"
            )
        if not (np.isfinite(value) & (value > 0)).all():
            raise InputError(f"{name} is {value.min()}: give positive numbers")
        return np.broadcast_to(value, n_nodes)

    def _criterion(
        self, X, codes, coupling, folds, sharing, *, tol=None, first=None, learn_coupling=False
    ):
        """Psi (Eq. 3) at these parameters, as :class:`HierarchicalNewtonCV` shares them.

        ``sharing`` has the groups of the variances and of the gammas, and ``first`` is an
        evaluation at these parameters that is not made again.
        """
        solver, (of_variance, of_gamma) = self._solver(tol), sharing
        groups = node_groups(of_gamma, coupling, "gamma_sharing")
        return Criterion(
            partial(self._kernels, X),
            coupling,
            CrossValidation(codes, len(self.classes_), np.asarray(folds), solver, first),
            bias_variance=self.bias_variance,
            variance=self._of_nodes("variance", coupling),
            gamma=self._of_nodes("gamma", coupling),
            variance_groups=node_groups(of_variance, coupling, "sharing"),
            gamma_groups=groups if self.kernel == "gaussian" else None,
            in_features=solver.in_features,
            learn_coupling=learn_coupling,
        )

    def _mode_of(self, covariance, targets, start=None, callback=None):
        """The mode for classes (n,) or their distributions (n, C); sets ``stop_reason_``."""
        loss, solver = SoftmaxLoss(targets, len(self.classes_)), self._solver()
        stopped = False

        def watched(mode):
            nonlocal stopped
            stopped = callback is not None and bool(callback(mode))
            return stopped

        # Algorithm 3 makes Newton steps to the minimum of Phi.
        mode = run_alone(solver.mode(covariance, loss, start, watched), covariance)
        # A fit ends by the callback, the certified gap, the number of steps, or none that
        # descends.
        if stopped:
            self.stop_reason_ = "callback"
        elif solver.met(mode):
            self.stop_reason_ = "tol"
        else:
            self.stop_reason_ = "max_iter" if mode.n_iter >= self.max_iter else "no_descent"
        if not mode.converged and not stopped:
            warnings.warn(
                f"the gap is {mode.gap / max(mode.value, 1e-300):.1e} of the objective after "
                f"{mode.n_iter} Newton steps, not {solver.largest_gap:.1e}: raise max_iter or "
                "max_inner, or scale the features",
                ConvergenceWarning,
                stacklevel=3,
            )
        # Predictions are made of the coefficients, which cancel where kernel values are large.
        elif covariance.score_rounding(mode.coef) > _LARGEST_SCORE_ROUNDING:
            warnings.warn(
                f"rounding changes scores by about {covariance.score_rounding(mode.coef):.1e}: "
                "centre and scale the features, give smaller variances, or take dtype 'float64'",
                ConvergenceWarning,
                stacklevel=3,
            )
        return mode

    def _keep(self, covariance, mode):
        """Set the fitted attributes; of the kernels only what new rows need."""
        self.objective_path_ = np.array(mode.path)
        self.gap_, self.converged_ = mode.gap, bool(mode.converged)
        self.n_iter_, self.n_inner_ = mode.n_iter, mode.n_inner
        self.n_products_ = covariance.n_products
        self._fitted = None
        # In the features the mode has weights of these, and the intercept in the last row.
        if isinstance(covariance, FeatureCovariance):
            self.coef_, self.intercept_ = mode.image[:-1], mode.image[-1]
            return self
        self.dual_coef_ = mode.coef
        self.intercept_ = covariance.bias_variance * mode.coef.sum(axis=0)
        # Coefficients of a linear kernel become weights of the features too.
        if self.kernel == "linear" and self.rank is None:
            coupled = covariance.coupling.couple(mode.coef, covariance.variance)
            self.coef_ = covariance.kernels.coef(coupled)
            return self
        # Other kernels compare new rows with the training rows; their matrices are not needed.
        covariance.kernels.forget()
        self._fitted = covariance
        return self

    def _scores(self, X):
        """Scores (n_new, C) by weights of features, or by kernel values with the training rows."""
        X = new_rows(self, X)
        if self._fitted is None:
            return X @ self.coef_ + self.intercept_
        return self._fitted.cross(dense(X) if self.kernel == "precomputed" else X, self.dual_coef_)
