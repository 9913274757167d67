"""The cross-validation criterion as a function of one vector of free hyperparameters."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from kronbench.class_tree.covariance import Coupling
from kronbench.class_tree.cross_validation import CrossValidation, Known
from kronbench.class_tree.prior import ClassPrior
from kronbench.class_tree.sharing import mean_logs
from kronbench.class_tree.tree import Tree
from kronbench.errors import InputError


class Criterion:
    """Psi (Seeger 2006, section 6.3) by logarithms of hyperparameters that nodes may share.

    The vector holds the logarithm of the variance of each group, then of the width of each group
    (Gaussian kernel), then the entries of the coupling where it is learned. The scale of a
    coupling is that of the variances: where it is learned they stay.

    Parameters
    ----------
    prior : ClassPrior
    X : (n, d) array or sparse matrix
    coupling : Tree or Coupling
    folds : CrossValidation
    variance, gamma : (P,) arrays
        Where ``start`` lies: at the geometric mean of each group.
    variance_groups, gamma_groups : (P,) integer arrays, 0..G-1
    learn_coupling : bool

    Attributes
    ----------
    start : (m,) array

    Raises
    ------
    InputError
        The coupling is to be learned and there is none.
    """

    def __init__(
        self,
        prior: ClassPrior,
        X: np.ndarray | sparse.sparray,
        coupling: Tree | Coupling,
        folds: CrossValidation,
        *,
        variance: np.ndarray,
        gamma: np.ndarray,
        variance_groups: np.ndarray,
        gamma_groups: np.ndarray,
        learn_coupling: bool = False,
    ):
        self._prior, self._coupling, self._folds = prior, coupling, folds
        self._variance, self._variance_groups = variance, variance_groups
        self._learn_coupling = learn_coupling
        self._has_widths = prior.is_named("gaussian")
        self._gamma_groups = gamma_groups if self._has_widths else np.zeros(len(gamma), int)
        logs = [] if learn_coupling else [mean_logs(variance, variance_groups)]
        self._n_variances = sum(map(len, logs))
        if self._has_widths:
            logs.append(mean_logs(gamma, gamma_groups))
        self._n_logs = sum(map(len, logs))
        if learn_coupling:
            if not isinstance(coupling, Coupling):
                raise InputError("coupling is None: give the matrix from which to learn")
            logs.append(coupling.matrix.ravel())
        self.start = np.concatenate(logs)
        widths = np.exp(self._log_widths(self.start)) if self._has_widths else gamma[:1]
        self._kernels = prior.kernels(X, widths)

    @property
    def first(self) -> Known | None:
        """The first evaluation."""
        return self._folds.first

    def parameters(self, x: np.ndarray) -> dict:
        """``variance`` (P,), and ``gamma`` (P,) and ``coupling`` (C, P) where they are free."""
        values = {"variance": self._variance}
        if self._n_variances:
            values["variance"] = np.exp(x[: self._n_variances])[self._variance_groups]
        if self._has_widths:
            values["gamma"] = np.exp(self._log_widths(x))[self._gamma_groups]
        if self._learn_coupling:
            values["coupling"] = x[self._n_logs :].reshape(self._coupling.matrix.shape)
        return values

    def evaluate(self, x: np.ndarray) -> tuple:
        """(Evaluation, gradient (m,), derivative by the logarithm of the bias variance)."""
        values = self.parameters(x)
        variance, coupling = values["variance"], self._coupling
        if self._has_widths:
            self._kernels = self._kernels.with_gamma(np.exp(self._log_widths(x)))
        if self._learn_coupling:
            coupling = Coupling(values["coupling"])
        which = None if self._kernels.n_kernels == 1 else self._gamma_groups
        covariance = self._prior.covariance(self._kernels, coupling, variance, which)
        evaluation = self._folds.evaluate(covariance)
        vectors = evaluation.coefs, evaluation.adjoints
        pairs = list(zip(*vectors, strict=True))
        gradient = []
        if self._n_variances:
            by_node = variance * covariance.node_products(*vectors)
            gradient.append(np.bincount(self._variance_groups, by_node))
        if self._has_widths:
            by_node = variance * covariance.node_products(*vectors, derivative=True)
            gradient.append(np.bincount(self._gamma_groups, by_node))
        if self._learn_coupling:
            gradient.append(sum(covariance.coupling_gradient(E, F) for E, F in pairs).ravel())
        by_bias = covariance.bias_variance * sum(covariance.bias_product(E, F) for E, F in pairs)
        return evaluation, np.concatenate(gradient), by_bias

    def _log_widths(self, x):
        return x[self._n_variances : self._n_logs]
