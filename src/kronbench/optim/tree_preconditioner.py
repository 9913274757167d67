"""A preconditioner for posterior modes under a class tree: elimination from the leaves up.

Seeger (2006, footnote 3) found neither tensor products nor low-rank factors to help. What helps is
the exact inverse of the system in which the coupling of classes by the softmax is replaced by one
free function for all of them.
"""

from __future__ import annotations

import numpy as np

from kronbench.errors import InputError
from kronbench.operators.class_covariance import FeatureCovariance
from kronbench.operators.tree import Tree


class TreePreconditioner:
    """(T^-1 + curvature of each class about the best shift)^-1 for linear kernels under a tree.

    With Z the features and a column of ones, f_c the weights of the classes and G_c =
    Z' diag(min(pi_c, 1 - pi_c)) Z, the curvature sum_i Var_pi_i(z_i'f) is replaced by
    min_m sum_c (f_c - m)'G_c (f_c - m): m is a function at the root without penalty, because
    functions common to all classes are free. With m = 0 shifts common to a subtree would look
    stiff, and little is gained on trees; with pi_c itself rows that are certain of their class
    would, of which the true curvature vanishes.

    Each node is eliminated into its parent with (I + V_p J_p)^-1, where J_p is the curvature below
    it and V_p its prior variances. O(n C d^2 + P d^3) to set up, O(P d^2) for each application.

    Parameters
    ----------
    covariance : FeatureCovariance under a Tree
    loss : SoftmaxLoss
    weights : (n, C) array
        The probabilities at which the curvature is taken.
    """

    def __init__(self, covariance, loss, weights):
        if not isinstance(covariance, FeatureCovariance) or not isinstance(
            covariance.coupling, Tree
        ):
            raise InputError("the tree preconditioner needs few dense features and a class tree")
        tree = self._tree = covariance.coupling
        Z = covariance.features[loss.rows]
        r = Z.shape[1]
        shares = np.minimum(weights[loss.rows], 1 - weights[loss.rows])
        self._curvature = np.empty((tree.n_classes, r, r))
        for c in range(tree.n_classes):
            self._curvature[c] = Z.T @ (shares[:, c, None] * Z)
        prior = np.empty((tree.n_nodes + 1, r))
        prior[1:, :-1] = covariance.variance[:, None]
        prior[1:, -1] = 0
        prior[tree.leaves, -1] = covariance.bias_variance
        self._levels = [
            np.flatnonzero(tree.depths == depth) for depth in range(1, tree.depths.max() + 1)
        ]
        J = np.zeros((tree.n_nodes + 1, r, r))
        J[tree.leaves] = self._curvature
        self._inverse = np.empty_like(J)  # (I + V_p J_p)^-1
        self._prior = prior
        for nodes in reversed(self._levels):
            self._inverse[nodes] = np.linalg.inv(np.eye(r) + prior[nodes, :, None] * J[nodes])
            np.add.at(J, tree.parents[nodes], J[nodes] @ self._inverse[nodes])
        # The free function is determined only where the curvature is
        self._root = np.linalg.pinv(J[0], rcond=1e-10, hermitian=True)

    def __call__(self, residual):
        """(z, image of z) for a vector (d + 1, C)."""
        tree = self._tree
        h = residual.T
        b = np.zeros((tree.n_nodes + 1, h.shape[1]))
        b[tree.leaves] = h
        for nodes in reversed(self._levels):
            # J (I + V J)^-1 is symmetric, and so is what b' = (I + J V)^-1 b belongs to
            up = np.einsum("pij,pi->pj", self._inverse[nodes], b[nodes])
            np.add.at(b, tree.parents[nodes], up)
        sums = np.zeros_like(b)
        sums[0] = self._root @ (b[0] - h.sum(axis=0))
        for nodes in self._levels:
            x = sums[tree.parents[nodes]] + self._prior[nodes] * b[nodes]
            sums[nodes] = np.einsum("pij,pj->pi", self._inverse[nodes], x)
        g = sums[tree.leaves]
        z = h - np.einsum("cij,cj->ci", self._curvature, g)
        return np.ascontiguousarray(z.T), np.ascontiguousarray((g - sums[0]).T)
