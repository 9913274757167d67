"""Flat and hierarchical kernel classification with learned hyperparameters (Seeger 2006)."""

from __future__ import annotations

import time
import warnings

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from kronbench.classes.covariance import Coupling, DualCovariance, FeatureCovariance
from kronbench.classes.cross_validation import CrossValidation
from kronbench.classes.kernels import (
    DenseFeatures,
    GaussianKernels,
    LowRankKernel,
    SparseFeatures,
    StoredKernels,
)
from kronbench.classes.posterior_mode import posterior_mode, run
from kronbench.classes.printed_mode import symmetrized_mode
from kronbench.classes.softmax import SoftmaxLoss, softmax
from kronbench.classes.tree import Tree
from kronbench.classes.tree_preconditioner import tree_preconditioner
from kronbench.errors import InputError
from kronbench.evaluation import parent_decision, taxo_decision
from kronbench.linalg.gram_matrix import dense, gram
from kronbench.linalg.quasi_newton import capped_bfgs

_COUNTS = ("n_products", "n_iter", "n_inner", "n_adjoint", "converged")
_DECISIONS = {"taxo": taxo_decision, "parent": parent_decision}


class HierarchicalNewtonClassifier(ClassifierMixin, BaseEstimator):
    """Softmax classification with a kernel function on each node of a class tree.

    The score of a class is the sum of the functions on its path below the root, plus an
    intercept; each function has the prior (or penalty) of its kernel v_p M^(p), the intercepts
    variance sigma^2. The flat model is the tree of depth one. The posterior mode is found by
    Newton steps, each by conjugate gradients in the inner product of the prior covariance, to a
    certified duality gap; see :func:`posterior_mode`.

    Parameters
    ----------
    tree : (P + 1,) integer array, optional
        Parent of each node in any order, ``tree[0] == -1`` the root; leaves in increasing order
        of their node are the classes. None is the flat model.
    kernel : {"linear", "gaussian", "precomputed"} or callable(X, Y) -> (m, p) array
    gamma : float or (P,) array
        exp(-gamma ||x - x'||^2) for each node; equal ones share a stored matrix.
    variance : float or (P,) array
        v_p, which multiplies the kernel of each node below the root.
    bias_variance : float
        sigma^2 >= 0 of the intercept of each class.
    classes : (C,) array, optional
        Labels of the leaves, in their order. With None: 0..C-1 for integer labels under a tree,
        else the sorted labels of y, of which there must be C.
    sharing : {"all", "level", "subtree", "node"} or (P,) integer array
        Nodes of a group have one variance when it is learned; those of F1, F2, H1 and H2 are
        given by :func:`sharing_pattern`.
    gamma_sharing : the same, for the widths
        mc-tied is "all" for both, mc-sep "node" for both.
    coupling : (C, p) array, optional
        In place of the tree, scores are this matrix times p independent functions (section 7.2).
    learn_coupling : bool
        Whether its entries are the hyperparameters instead of the variances.
    rank : int, optional
        Pivots of a low-rank kernel with corrected diagonal (section 7.4); exact when None.
    precision : {"double", "single"}
        Of stored kernel matrices, and of products with sparse features; sums are in double.
    preconditioner : {None, "tree"}
        "tree" cuts the steps of conjugate gradients by elimination along the tree, in few dense
        features or in leading eigenvectors of one kernel for all nodes; see
        :func:`tree_preconditioner` for what it costs.
    paper_protocol : bool
        The printed iteration (Eq. 6, diagonal preconditioner) with k1 = ``max_iter``, k2 =
        ``max_inner`` and k3 = ``max_gradient`` steps instead.
    tol : float
        Relative duality gap at which a fit stops; relative fall of Phi for the printed one.
    max_iter, max_inner, max_gradient : int

    Attributes
    ----------
    classes_ : (C,) array
    tree_ : Tree or Coupling
    dual_coef_ : (n, C) array
        Not where a linear kernel has fewer features than rows.
    coef_ : (d, C) array, linear kernel
        Scores are X coef_ + intercept_.
    intercept_ : (C,) array
    log_posterior_path_ : (n_iter_ + 1,) array
        -Phi at the start and after each Newton step.
    gap_ : float
        Bound on how far Phi is from its minimum.
    n_iter_, n_inner_ : int
        Newton steps, and steps of conjugate gradients in all.
    n_products_ : float
        Products with the kernel of all classes.
    hyperparameter_path_ : list of dict, after ``fit_hyperparameters``
        ``parameters`` (logarithms), ``value`` of each evaluation in turn, and what it took:
        ``seconds``, ``n_products``, ``n_iter``, ``n_inner``, ``n_adjoint``, ``converged``.
    cv_log_likelihood_ : float
        The largest of these values.
    """

    def __init__(
        self,
        tree=None,
        *,
        kernel="linear",
        gamma=1.0,
        variance=1.0,
        bias_variance=1.0,
        classes=None,
        sharing="all",
        gamma_sharing="all",
        coupling=None,
        learn_coupling=False,
        rank=None,
        precision="double",
        preconditioner=None,
        paper_protocol=False,
        tol=1e-6,
        max_iter=100,
        max_inner=200,
        max_gradient=25,
    ):
        self.tree = tree
        self.kernel = kernel
        self.gamma = gamma
        self.variance = variance
        self.bias_variance = bias_variance
        self.classes = classes
        self.sharing = sharing
        self.gamma_sharing = gamma_sharing
        self.coupling = coupling
        self.learn_coupling = learn_coupling
        self.rank = rank
        self.precision = precision
        self.preconditioner = preconditioner
        self.paper_protocol = paper_protocol
        self.tol = tol
        self.max_iter = max_iter
        self.max_inner = max_inner
        self.max_gradient = max_gradient

    def fit(self, X, y, callback=None):
        """Fit to X (n, d), dense or sparse, and labels y (n,).

        Parameters
        ----------
        X : (n, d) array or sparse matrix; (n, n) kernel matrix when kernel is "precomputed"
        y : (n,) array
        callback : callable(Mode) -> bool, optional
            Called after each Newton step; True stops.

        Raises
        ------
        InputError
            A label outside the tree, a bad tree, or a parameter out of range.
        """
        X, codes, tree = self._checked(X, y)
        covariance = self._prior_of(X, tree)
        return self._keep(covariance, self._mode_of(covariance, codes, callback=callback))

    def fit_uncertain(self, X, nodes, *, max_em=50, em_tol=1e-6):
        """Fit where a target may be an inner node: its class is one of the leaves below.

        Expectation-maximization (section 7.3): q_ic ~ [c below y_i] P(c | u_i), then a fit to q
        from the last mode. The log posterior of the incomplete data never falls.

        Parameters
        ----------
        nodes : (n,) integer array
            A node of the tree for each row, a leaf where the class is known.
        max_em : int
        em_tol : float
            Stops when the log posterior rises by at most this part of it.

        Attributes set besides those of ``fit``: ``em_path_``, the log posterior of the incomplete
        data after each fit, ``em_likelihood_path_``, its log likelihood alone, and
        ``responsibilities_`` (n, C), q at the end.
        """
        if self.tree is None:
            raise InputError("tree is None: uncertain targets are nodes of a tree, give one")
        tree = Tree(self.tree)
        nodes = np.asarray(nodes)
        if nodes.dtype.kind not in "iu" or nodes.ndim != 1:
            raise InputError(f"nodes has dtype {nodes.dtype}: give one node of the tree for a row")
        below = {node: tree.members(node) for node in np.unique(nodes)}
        allowed = np.stack([below[node] for node in nodes])
        first = tree.leaves[np.argmax(allowed, axis=1)]
        X, _, tree = self._checked(
            X, self._label_leaves(tree)[np.searchsorted(tree.leaves, first)]
        )
        shares = allowed / allowed.sum(axis=1, keepdims=True)
        self.em_path_, self.em_likelihood_path_ = [], []
        covariance, mode = self._prior_of(X, tree), None
        for _ in range(max_em):
            mode = self._mode_of(covariance, shares, start=None if mode is None else mode.coef)
            reached = np.where(allowed, mode.probabilities, 0)
            sums = reached.sum(axis=1)
            self.em_likelihood_path_.append(float(np.log(sums).sum()))
            prior = 0.5 * float(np.vdot(mode.coef, mode.image))
            self.em_path_.append(self.em_likelihood_path_[-1] - prior)
            shares = reached / sums[:, None]
            if len(self.em_path_) > 1:
                rise = self.em_path_[-1] - self.em_path_[-2]
                if rise <= em_tol * abs(self.em_path_[-1]):
                    break
        self.responsibilities_ = shares
        return self._keep(covariance, mode)

    def cv_log_likelihood(self, X, y, folds):
        """Log likelihood of each fold under the fit to the others, and its gradient.

        A log likelihood: the paper's -Psi (Eq. 3), larger is better.

        Parameters
        ----------
        X, y : as for ``fit``
        folds : (n,) integer array
            The fold of each row.

        Returns
        -------
        value : float
        gradient : (m,) array
            By the logarithms of the variances of the groups of ``sharing`` (not where the coupling
            is learned), then of the widths of the groups of ``gamma_sharing`` (Gaussian kernel),
            then by the entries of the coupling where it is learned, and last by the logarithm of
            ``bias_variance``, which ``fit_hyperparameters`` leaves as it is.

        Notes
        -----
        The error of the value is of second order in what the fits leave of stationarity; that of
        the gradient is of first order: for finite differences take ``tol`` 1e-12.
        """
        search = _HyperparameterSearch(self, *self._checked(X, y), folds)
        value, gradient = search.evaluate(search.start)
        return -value, -np.append(gradient, search.bias_gradient)

    def fit_hyperparameters(self, X, y, folds, *, max_evaluations=40, noise=1e-5, tol=1e-5):
        """Set ``variance`` and ``gamma`` (and ``coupling``) where ``cv_log_likelihood`` is large.

        A quasi-Newton search over logarithms from the parameters as they are, with steps of at
        most 1 in each; then a fit to all rows. Where the fits do not converge there is no value,
        and the search keeps away (the printed iteration has no test of it).

        Parameters
        ----------
        max_evaluations : int
        noise : float
            Gains below this part of the value do not count.
        tol : float
            Relative gap of the fits during the search.

        Raises
        ------
        InputError
            The fits do not converge at the parameters as they are.
        """
        checked = self._checked(X, y)
        search = _HyperparameterSearch(self, *checked, folds, tol=tol)
        self.hyperparameter_path_ = []
        begun = time.perf_counter()

        def criterion(x):
            value, gradient = search.evaluate(x)
            if search.last.converged or self.paper_protocol:
                return value, gradient
            return np.inf, gradient

        def record(x, value, gradient):
            nonlocal begun
            counts = {name: getattr(search.last, name) for name in _COUNTS}
            seconds = time.perf_counter() - begun
            self.hyperparameter_path_.append(
                {"parameters": x.copy(), "value": -value, "seconds": seconds, **counts}
            )
            begun = time.perf_counter()

        result = capped_bfgs(
            criterion,
            search.start,
            noise=noise,
            max_evaluations=max_evaluations,
            callback=record,
        )
        if not np.isfinite(result.value):
            raise InputError(
                f"the fits to the folds do not converge at variance {self.variance} and gamma "
                f"{self.gamma}, where the search begins: give smaller variances, or raise "
                "max_iter or max_inner"
            )
        self.set_params(**search.parameters(result.x))
        self.cv_log_likelihood_ = -result.value
        return self.fit(X, y)

    def decision_function(self, X):
        """Scores: (n_new, C), or the difference (n_new,) of the second and the first of two."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X):
        """Probabilities (n_new, C); rows sum to one."""
        return softmax(self._scores(X))[0]

    def predict_log_proba(self, X):
        """Their logarithms."""
        scores = self._scores(X)
        return scores - softmax(scores)[1][:, None]

    def predict(self, X):
        """The most probable class (n_new,)."""
        best = np.argmax(self._scores(X), axis=1)
        return self.classes_[best]

    def decide(self, X, loss="taxo"):
        """The classes (n_new,) of least expected loss (section 8.2).

        Parameters
        ----------
        loss : {"taxo", "parent"}
            Half the path length between leaves, or whether the parents differ.
        """
        if loss not in _DECISIONS:
            raise InputError(f"loss is {loss!r}: give one of {', '.join(map(repr, _DECISIONS))}")
        check_is_fitted(self)
        parents = Tree.flat(len(self.classes_)).parents if self.tree is None else self.tree
        return self.classes_[_DECISIONS[loss](self.predict_proba(X), parents)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is("precomputed")
        return tags

    def _is(self, name):
        return isinstance(self.kernel, str) and self.kernel == name

    def _checked(self, X, y):
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        if self.precision not in ("double", "single"):
            raise InputError(f"precision is {self.precision!r}: give 'double' or 'single'")
        if self.preconditioner not in (None, "tree"):
            raise InputError(f"preconditioner is {self.preconditioner!r}: give None or 'tree'")
        if self.preconditioner is not None and self.paper_protocol:
            raise InputError("the printed iteration has its own preconditioner: give None")
        tree, codes = self._encode(y)
        return X, codes, tree

    def _encode(self, y):
        """The tree, and codes of the labels."""
        if self.tree is None:
            given = np.unique(y) if self.classes is None else np.asarray(self.classes)
            tree = Tree.flat(len(given))
        else:
            tree = Tree(self.tree)
            given = self._label_leaves(tree, y)
        order = np.argsort(given, kind="stable")
        at = np.searchsorted(given, y, sorter=order)
        codes = order[np.minimum(at, len(given) - 1)]
        outside = given[codes] != y
        if outside.any():
            raise InputError(
                f"y holds the label {y[np.argmax(outside)]!r}, which is no class: give labels "
                f"among the {len(given)} classes of the tree"
            )
        self.classes_ = given
        if self.coupling is None:
            return tree, codes
        coupling = Coupling(self.coupling)
        if coupling.n_classes != len(given):
            raise InputError(
                f"coupling has {coupling.n_classes} rows for {len(given)} classes: give one for "
                "each class"
            )
        return coupling, codes

    def _label_leaves(self, tree, y=None):
        if self.classes is not None:
            given = np.asarray(self.classes)
        elif y is None or y.dtype.kind in "iub" or (y.dtype.kind == "f" and (y % 1 == 0).all()):
            given = np.arange(tree.n_classes)
        else:
            given = np.unique(y)
        if len(given) != tree.n_classes:
            raise InputError(
                f"the tree has {tree.n_classes} leaves for {len(given)} classes: give one class "
                "for each leaf"
            )
        return given

    def _kernels(self, X, gamma):
        """The kernel matrices over the rows of X, one for each of the widths."""
        storage = np.float32 if self.precision == "single" else np.float64
        if self.rank is not None:
            if len(gamma) > 1:
                raise InputError("gamma has several values: a low-rank kernel takes one")
            if self._is("precomputed"):
                raise InputError("kernel is 'precomputed': a low-rank kernel needs features")
            return LowRankKernel(X, self.kernel, gamma[0], self.rank)
        if self._is("linear"):
            if sparse.issparse(X):
                return SparseFeatures(X, storage)
            return DenseFeatures(X)
        if self._is("gaussian"):
            return GaussianKernels(X, gamma, storage)
        if self._is("precomputed"):
            if X.shape[0] != X.shape[1]:
                raise InputError(f"the precomputed kernel has shape {X.shape}: give (n, n)")
            return StoredKernels([dense(X).astype(storage, copy=False)])
        matrix = gram(X, kernel=self.kernel).astype(storage, copy=False)
        return StoredKernels([matrix], X, self.kernel)

    def _covariance(self, kernels, tree, variance, which):
        bias = self.bias_variance
        if not np.isfinite(bias) or bias < 0:
            raise InputError(f"bias_variance is {bias}: give a number, 0 or more")
        few = isinstance(kernels, DenseFeatures) and kernels.features.shape[1] < kernels.n_rows
        if few and not self.paper_protocol:
            return FeatureCovariance(kernels, tree, variance, bias)
        return DualCovariance(kernels, tree, variance, bias, which)

    def _prior_of(self, X, tree):
        """The covariance of the scores of the rows of X."""
        variance = _per_node(self.variance, tree.n_nodes, "variance")
        gamma, which = np.unique(_per_node(self.gamma, tree.n_nodes, "gamma"), return_inverse=True)
        return self._covariance(self._kernels(X, gamma), tree, variance, which)

    def _mode_of(self, covariance, targets, start=None, callback=None):
        loss = SoftmaxLoss(targets, len(self.classes_))
        options = {"max_iter": self.max_iter, "max_inner": self.max_inner, "callback": callback}
        minimize = symmetrized_mode if self.paper_protocol else posterior_mode
        if self.preconditioner is not None:
            options["preconditioner"] = tree_preconditioner(covariance, loss)
        mode = run(minimize(covariance, loss, start=start, tol=self.tol, **options), covariance)
        if not mode.converged and callback is None and not self.paper_protocol:
            warnings.warn(
                f"the gap is {mode.gap / max(mode.value, 1e-300):.1e} of the objective after "
                f"{mode.n_iter} Newton steps, not {self.tol:.1e}: raise max_iter or max_inner",
                ConvergenceWarning,
                stacklevel=3,
            )
        return mode

    def _keep(self, covariance, mode):
        """Set the fitted attributes; of the kernels only what new rows need."""
        self.tree_ = covariance.coupling
        self.log_posterior_path_ = -np.array(mode.path)
        self.gap_, self.n_iter_, self.n_inner_ = mode.gap, mode.n_iter, mode.n_inner
        self.n_products_ = covariance.n_products
        if isinstance(covariance, FeatureCovariance):
            self.coef_, self.intercept_ = mode.image[:-1], mode.image[-1]
            return self
        self.dual_coef_ = mode.coef
        self.intercept_ = covariance.bias_variance * mode.coef.sum(axis=0)
        if self._is("linear") and self.rank is None:
            coupled = covariance.coupling.couple(mode.coef, covariance.variance)
            self.coef_ = covariance.kernels.coef(coupled)
            return self
        if hasattr(covariance.kernels, "forget"):
            covariance.kernels.forget()
        self._prior = covariance
        return self

    def _scores(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        if self._is("precomputed"):
            X = dense(X)
        if self._is("linear") and self.rank is None:
            return X @ self.coef_ + self.intercept_
        return self._prior.cross(X, self.dual_coef_)


def sharing_pattern(name, tree) -> dict:
    """Parameters of the flat and hierarchical models on one class tree (Seeger 2006, section 8.2).

    Parameters
    ----------
    name : {"F1", "F2", "H1", "H2"}
        F is flat, H hierarchical; F1 has one variance, H1 one for each level of the tree, F2 and
        H2 one for each child of the root.
    tree : (P + 1,) integer array
        Parent of each node; the leaves are the classes of the flat models too.

    Returns
    -------
    dict
        ``tree``, ``classes`` (0..C-1) and ``sharing`` of :class:`HierarchicalNewtonClassifier`.

    Raises
    ------
    InputError
        Another name, or a bad tree.
    """
    tree = Tree(tree)
    patterns = {
        "F1": (None, "all"),
        "F2": (None, tree.leaf_subtrees),
        "H1": (tree.parents, "level"),
        "H2": (tree.parents, "subtree"),
    }
    if name not in patterns:
        raise InputError(f"name is {name!r}: give one of {', '.join(map(repr, patterns))}")
    parents, sharing = patterns[name]
    return {"tree": parents, "classes": np.arange(tree.n_classes), "sharing": sharing}


class _HyperparameterSearch:
    """Psi as a function of the free hyperparameters, with what evaluations share."""

    def __init__(self, model, X, targets, tree, folds, tol=None):
        self.model, self.tree = model, tree
        self._groups = _groups(model.sharing, tree, "sharing")
        self._variance = _per_node(model.variance, tree.n_nodes, "variance")
        # The scale of a coupling is that of the variances: where it is learned they stay
        logs = [] if model.learn_coupling else [_group_logs(self._variance, self._groups)]
        self._n_variances = sum(map(len, logs))
        self._learns_gamma = model._is("gaussian")
        gamma = _per_node(model.gamma, tree.n_nodes, "gamma")
        self._which = np.zeros(tree.n_nodes, int)
        if self._learns_gamma:
            self._which = _groups(model.gamma_sharing, tree, "gamma_sharing")
            logs.append(_group_logs(gamma, self._which))
        self._n_logs = sum(map(len, logs))
        if model.learn_coupling:
            if not isinstance(tree, Coupling):
                raise InputError("coupling is None: give the matrix from which to learn")
            logs.append(tree.matrix.ravel())
        self.start = np.concatenate(logs)
        first = np.exp(self._gamma_logs(self.start)) if self._learns_gamma else gamma[:1]
        self._kernels = model._kernels(X, first)
        steps = (model.max_iter, model.max_inner, model.max_gradient)
        tol = model.tol if tol is None else tol
        self._folds = CrossValidation(
            targets,
            len(model.classes_),
            np.asarray(folds),
            tol=tol,
            adjoint_tol=min(1e-3, 0.3 * np.sqrt(tol)),
            printed_steps=steps if model.paper_protocol else None,
            preconditioner=tree_preconditioner if model.preconditioner else None,
            max_iter=model.max_iter,
            max_inner=model.max_inner,
        )
        self.last = None
        self.bias_gradient = np.nan

    def parameters(self, x):
        """The model's parameters at x."""
        values = {"variance": self._variance}
        if self._n_variances:
            values["variance"] = np.exp(x[: self._n_variances])[self._groups]
        if self._learns_gamma:
            values["gamma"] = np.exp(self._gamma_logs(x))[self._which]
        if self.model.learn_coupling:
            values["coupling"] = x[self._n_logs :].reshape(self.tree.matrix.shape)
        return values

    def _gamma_logs(self, x):
        return x[self._n_variances : self._n_logs]

    def evaluate(self, x):
        """(Psi, its gradient)."""
        values = self.parameters(x)
        variance, tree = values["variance"], self.tree
        if self._learns_gamma:
            self._kernels = self._kernels.with_gamma(np.exp(self._gamma_logs(x)))
        if self.model.learn_coupling:
            tree = Coupling(values["coupling"])
        which = None if self._kernels.n_kernels == 1 else self._which
        covariance = self.model._covariance(self._kernels, tree, variance, which)
        result = self.last = self._folds.evaluate(covariance)
        pairs = list(zip(result.coefs, result.adjoints, strict=True))
        gradient = []
        if self._n_variances:
            by_variance = variance * sum(covariance.node_products(E, F) for E, F in pairs)
            gradient.append(np.bincount(self._groups, by_variance))
        if self._learns_gamma:
            by_gamma = variance * sum(covariance.node_products(E, F, True) for E, F in pairs)
            gradient.append(np.bincount(self._which, by_gamma))
        if self.model.learn_coupling:
            gradient.append(sum(covariance.coupling_gradient(E, F) for E, F in pairs).ravel())
        self.bias_gradient = covariance.bias_variance * sum(
            covariance.bias_product(E, F) for E, F in pairs
        )
        return result.value, np.concatenate(gradient)


def _per_node(value, n_nodes, name):
    value = np.asarray(value, float)
    if value.ndim > 1 or (value.ndim == 1 and len(value) != n_nodes):
        raise InputError(
            f"{name} has shape {value.shape}: give a number, or one for each of the {n_nodes} "
            "nodes below the root"
        )
    if not (np.isfinite(value) & (value > 0)).all():
        raise InputError(f"{name} is {value.min()}: give positive numbers")
    return np.broadcast_to(value, n_nodes)


def _groups(sharing, tree, name):
    """(P,) groups 0..G-1 of the nodes."""
    if isinstance(sharing, str):
        if sharing == "all":
            return np.zeros(tree.n_nodes, int)
        if sharing == "node":
            return np.arange(tree.n_nodes)
        if sharing in ("level", "subtree") and isinstance(tree, Tree):
            return tree.levels if sharing == "level" else tree.subtrees
        raise InputError(
            f"{name} is {sharing!r}: give 'all', 'level', 'subtree', 'node' or an array of groups"
        )
    groups = np.asarray(sharing)
    if groups.shape != (tree.n_nodes,) or groups.dtype.kind not in "iu":
        raise InputError(
            f"{name} has shape {groups.shape} and dtype {groups.dtype}: give one integer group "
            f"for each of the {tree.n_nodes} nodes below the root"
        )
    return np.unique(groups, return_inverse=True)[1]


def _group_logs(values, groups):
    """Mean logarithm in each group."""
    return np.bincount(groups, np.log(values)) / np.bincount(groups)
