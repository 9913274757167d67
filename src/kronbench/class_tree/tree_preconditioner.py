"""Preconditioners for posterior modes under a class tree: elimination from the leaves up.

Seeger (2006, footnote 3) found neither tensor products nor low-rank factors to help. What helps is
the exact inverse of the system in which the coupling of classes by the softmax is replaced by one
free function for all of them: in all features where they are few, else in the leading
eigenvectors of the kernel matrix alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.linalg import qr

from kronbench.class_tree.covariance import Covariance, FeatureCovariance
from kronbench.class_tree.softmax import SoftmaxLoss
from kronbench.class_tree.tree import Tree
from kronbench.errors import InputError
from kronbench.linalg.eigen import leading_vectors
from kronbench.linalg.gemm import multiply
from kronbench.linalg.gram_matrix import weighted_grams

# Leading eigenvectors of a kernel matrix: the root of the number of rows, but at most so many,
# since each application passes over all of them.
_MOST_VECTORS = 64

# Numbers that fit a cache.
_NUMBERS_IN_CACHE = 2**18


def tree_preconditioner(covariance: Covariance, loss: SoftmaxLoss) -> TreePreconditioner:
    """The preconditioner for this covariance and training part."""
    if not isinstance(covariance.coupling, Tree) or covariance.which is not None:
        raise InputError(
            "the tree preconditioner needs a class tree whose nodes share one kernel: give "
            "solver 'cg'"
        )
    if isinstance(covariance, FeatureCovariance):
        return FeaturePreconditioner(covariance, loss)
    return CoarsePreconditioner(covariance, loss)


class TreePreconditioner:
    """The approximate inverse in functions (n, r) of a space, for any weights of the curvature."""

    _inverse: Callable

    def __init__(self, covariance: Covariance, loss: SoftmaxLoss, functions: np.ndarray):
        self._tree, self._trains = covariance.coupling, loss.trains
        self._functions = functions[loss.trains]
        # Each node has prior variances of its weights; the root comes first.
        self._prior = np.zeros((self._tree.n_nodes + 1, functions.shape[1]))

    def at(
        self, weights: np.ndarray
    ) -> Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """Function (vector, its image) -> (z, image of z) for the curvature at weights (n, C)."""
        # The curvatures (C, r, r) are G_c = Z' diag(min(pi_c, 1 - pi_c)) Z for all classes.
        weights = weights[self._trains]
        curvatures = weighted_grams(self._functions, np.minimum(weights, 1 - weights))
        return self._inverse(_Elimination(self._tree, self._prior, curvatures))


class FeaturePreconditioner(TreePreconditioner):
    """(T^-1 + curvature of each class about the best shift)^-1 for a linear kernel.

    With Z the features and a column of ones, f_c the weights of the classes and G_c =
    Z' diag(min(pi_c, 1 - pi_c)) Z, the curvature sum_i Var_pi_i(z_i'f) is replaced by
    min_m sum_c (f_c - m)'G_c (f_c - m): m is a function at the root without penalty, because
    functions common to all classes are free. With m = 0 shifts common to a subtree would look
    stiff, and little is gained on trees; with pi_c itself rows that are certain of their class
    would, of which the true curvature vanishes.

    O(n C d^2 + P d^3) for new weights, O(P d^2) for each application.
    """

    def __init__(self, covariance: FeatureCovariance, loss: SoftmaxLoss):
        super().__init__(covariance, loss, covariance.features)
        # Each node has v_p for its features, and a leaf sigma^2 for its intercept.
        self._prior[1:, :-1] = covariance.variance[:, None]
        self._prior[self._tree.leaves, -1] = covariance.bias_variance

    def _inverse(self, elimination):
        return lambda vector, image: elimination.solve(vector)


class CoarsePreconditioner(TreePreconditioner):
    """The same in r - 1 leading eigenvectors of a kernel matrix and the constant.

    Vectors are coefficients (n, C). N (n, r) spans that space on the training part, scaled so that
    N'F = I with F = (M + 1 1')N; functions of the space are F times weights, and N'u are the
    weights of the part of u in it. Of the curvature only N G N' is kept, with G as above for F in
    place of Z. So (I + N G N'K~)^-1 r is

        z = r - N y,   y = (I + G V)^-1 G N'(K~ r),   V = N'K~ N

    N is turned so that N'1 = t e_r. Then V is diagonal for each node: v_p, and in the last axis
    v_p (1 - t^2), to which leaves add sigma^2 t^2. The image of z needs no product: K~ N y =
    (M N)(y T) + sigma^2 t 1 y_r.

    A few products of r columns for each fit; O(n C r^2 + P r^3) for new weights, O(n C r) for each
    application. It pays for long documents, whose kernel matrices have few large eigenvalues; of
    short ones, whose words hardly meet, it sees a small part and makes the steps more.
    """

    def __init__(self, covariance: Covariance, loss: SoftmaxLoss):
        kernels, tree, dtype = covariance.kernels, covariance.coupling, covariance.dtype
        # Leading eigenvectors and the constant, on the training part, make the basis.
        n_vectors = min(_MOST_VECTORS, math.isqrt(kernels.n_rows))
        vectors = leading_vectors(kernels.product, kernels.n_rows, n_vectors, kernels.dtype)
        basis = np.hstack([vectors, np.ones((len(vectors), 1))])
        basis[~loss.trains] = 0
        basis /= np.linalg.norm(basis, axis=0)
        # It is scaled and turned, so that N'F = I and N'1 = t e_r: with (M + 1 1') in the basis as
        # axes diag(squares) axes', N is basis axes squares^-1/2, and a QR decomposition of N'1
        # turns it to the last axis.
        products = kernels.product(basis.astype(dtype)).astype(float)
        bias = basis.sum(axis=0)
        squares, axes = np.linalg.eigh(basis.T @ products + np.outer(bias, bias))
        kept = squares > 1e-6 * squares[-1]  # rounding in single precision lies below
        scale = axes[:, kept] / np.sqrt(squares[kept])
        scale = scale @ qr((bias @ scale)[:, None])[0][:, ::-1]
        # These become M N, and N'1, of which t is the last entry.
        products = products @ scale
        bias = self._bias = bias @ scale
        super().__init__(covariance, loss, products + bias)
        self._covariance = covariance
        # V = N'K~ N is v_p, in the last axis v_p (1 - t^2), to which leaves add sigma^2 t^2.
        self._prior[1:] = covariance.variance[:, None]
        self._prior[:, -1] *= max(1 - bias[-1] ** 2, 0)
        self._prior[tree.leaves, -1] += covariance.bias_variance * bias[-1] ** 2
        # Both are in the precision of the vectors, for the passes over them.
        self._basis = (basis @ scale).astype(dtype)
        self._images = np.hstack([products, np.ones((len(basis), 1))]).astype(dtype)

    def _inverse(self, elimination):
        def inverse(vector, image):
            # The formulas above give y, z = r - N y, and the image of z by M N and the bias.
            y, _ = elimination.solve(elimination.curve(multiply(self._basis.T, image)))
            bias = self._covariance.bias_variance * (self._bias @ y)
            coupled = np.vstack([self._tree.couple(y, self._covariance.variance), bias])
            return _minus(vector, self._basis, y), _minus(image, self._images, coupled)

        return inverse


class _Elimination:
    """(I + G V)^-1 with the prior V of a tree and the curvature G about a free root.

    Each node is eliminated into its parent with (I + V_p J_p)^-1, where J_p is the curvature below
    it and V_p its prior variances.
    """

    def __init__(self, tree, prior, curvatures):
        """Prior variances (P + 1, r), of which those of the root do not count; G (C, r, r)."""
        self._tree, self._prior, self._curvatures = tree, prior, curvatures
        self._levels = [
            np.flatnonzero(tree.depths == depth) for depth in range(1, tree.depths.max() + 1)
        ]
        # Elimination goes from the leaves up. Node p leaves J_p (I + V_p J_p)^-1 for its parent,
        # which is the curvature below p as the parent's function sees it.
        r = prior.shape[1]
        J = np.zeros((tree.n_nodes + 1, r, r))
        J[tree.leaves] = curvatures
        self._inverse = np.empty_like(J)  # (I + V_p J_p)^-1
        for nodes in reversed(self._levels):
            # The children of one parent go at a time: their matrices stay in cache.
            for parent in np.unique(tree.parents[nodes]):
                children = nodes[tree.parents[nodes] == parent]
                below = J[children]
                inverse = np.linalg.inv(np.eye(r) + prior[children, :, None] * below)
                self._inverse[children] = inverse
                J[parent] += (below @ inverse).sum(axis=0)
        # The free function is determined only where the curvature is not zero.
        self._root = np.linalg.pinv(J[0], rcond=1e-10, hermitian=True)
        self._total = np.linalg.pinv(curvatures.sum(axis=0), rcond=1e-10, hermitian=True)

    def curve(self, weights):
        """G f (r, C) for weights f (r, C): G_c (f_c - m) with the best shift m."""
        # The best m of min_m sum_c (f_c - m)'G_c (f_c - m) solves (sum_c G_c) m = sum_c G_c f_c.
        out = (self._curvatures @ weights.astype(float).T[:, :, None])[:, :, 0].T
        shift = self._total @ out.sum(axis=1)
        return out - (self._curvatures @ shift).T

    def solve(self, h):
        """Z = (I + G V)^-1 h and V z, for h (r, C)."""
        tree, h = self._tree, np.asarray(h, float).T
        b = np.zeros((tree.n_nodes + 1, h.shape[1]))
        b[tree.leaves] = h
        # Eliminate from the leaves up, which carries right-hand sides to the parents.
        for nodes in reversed(self._levels):
            # b' (I + V J)^-1 is the transpose of (I + J V)^-1 b, as J and V are symmetric.
            up = (b[nodes, None, :] @ self._inverse[nodes])[:, 0]
            # Parents repeat: runs of one parent are summed, as np.add.at takes ten times as long.
            order = np.argsort(tree.parents[nodes], kind="stable")
            parents, starts = np.unique(tree.parents[nodes][order], return_index=True)
            b[parents] += np.add.reduceat(up[order], starts, axis=0)
        # Substitute from the root down: sums of the functions along the paths. The function of the
        # root takes what is left of the right-hand side there.
        sums = np.zeros_like(b)
        sums[0] = self._root @ (b[0] - h.sum(axis=0))
        for nodes in self._levels:
            x = sums[tree.parents[nodes]] + self._prior[nodes] * b[nodes]
            sums[nodes] = (self._inverse[nodes] @ x[:, :, None])[:, :, 0]
        # At the leaves the sums are g = V z + m, and z = h - G g.
        g = sums[tree.leaves]
        z = h - (self._curvatures @ g[:, :, None])[:, :, 0]
        return np.ascontiguousarray(z.T), np.ascontiguousarray((g - sums[0]).T)


def _minus(block, left, right):
    """Block - left @ right in the dtype of the block, by rows that stay in cache."""
    # Each part is multiplied and subtracted while it is in cache.
    right = right.astype(block.dtype)
    out = np.empty_like(block)
    step = max(1, _NUMBERS_IN_CACHE // max(1, block.shape[1]))
    for start in range(0, len(block), step):
        rows = slice(start, start + step)
        multiply(left[rows], right, out=out[rows])
        np.subtract(block[rows], out[rows], out=out[rows])
    return out
