"""The prior covariance of all class scores, K~ = (B kron I) blockdiag(v_p M_p) (B' kron I) + bias.

Rows are documents, columns classes; B (C, P) is what couples the classes (Seeger 2006, Eq. 2 and
section 7.2), and the bias adds sigma^2 to every kernel value of a class with itself (section
6.1.1). Both classes below carry vectors a with their images; what a vector is, differs:

    dual space        a = A (n, C) coefficients; the image is K~ A, the scores themselves
    feature space     a = (X'A, 1'A) (d + 1, C); the image is what gives the scores as X F + f0

so that <a, image(b)> is the inner product a'K~ b in both. A vector comes out of a block R (n, C)
by ``gather``, scores out of an image by ``scores``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from kronbench.class_tree.kernels import DenseFeatures, Features, Kernels
from kronbench.class_tree.tree import Coupling
from kronbench.errors import InputError
from kronbench.linalg.blas1 import dot
from kronbench.linalg.gemm import multiply

# Rounding leaves up to this share of the largest entry in the sum of a row that is zero.
_ZERO_SUM_ROUNDING = 1e-13


def space_of(kernels: Kernels, in_features: bool = True) -> type[Covariance]:
    """The space of features where they are few and this is allowed, else that of coefficients."""
    few = isinstance(kernels, DenseFeatures) and kernels.features.shape[1] < kernels.n_rows
    return FeatureCovariance if few and in_features else DualCovariance


class Covariance:
    """K~ in one space; each has, beside ``gather`` and ``scores``, what stands here.

        images(vectors)             K~ times several vectors
        cross(X, vector)            scores (n_new, C) of new rows
        rounding(vector)            what rounding leaves of a'K~ a
        node_products(Es, Fs)       (P,) sums over pairs of e~_p' M^(p) f~_p (section 6.4)
        bias_product(E, F)          sum_c (1'e_c) (1'f_c)
        coupling_gradient(E, F)     (C, P) derivatives of e'K~ f by the entries of B (section 7.2)

    ``variance`` (P,) holds v_p, ``bias_variance`` is sigma^2, and ``which`` (P,) is the kernel of
    each node, where there are several. ``shape`` and ``dtype`` are those of a vector,
    ``n_products`` counts the products with K~ made so far.
    """

    kernels: Any  # Kernels
    coupling: Any  # Coupling
    which: Any  # (P,), or None
    gather: Callable[[np.ndarray], np.ndarray]
    scores: Callable[[np.ndarray], np.ndarray]
    images: Callable[[list[np.ndarray]], list[np.ndarray]]
    rounding: Callable[[np.ndarray], float]
    shape: Any
    node_products: Callable[..., np.ndarray]
    bias_product: Callable[..., float]
    coupling_gradient: Callable[..., np.ndarray]

    def __init__(
        self,
        kernels: Kernels,
        coupling: Coupling,
        variance: np.ndarray,
        bias_variance: float,
        which: np.ndarray | None = None,
    ):
        if not np.isfinite(bias_variance) or bias_variance < 0:
            raise InputError(f"bias_variance is {bias_variance}: give a finite number, 0 or more")
        self.kernels, self.coupling = kernels, coupling
        self.variance, self.bias_variance = np.asarray(variance, float), float(bias_variance)
        self.which = None if kernels.n_kernels == 1 else np.asarray(which)
        self.dtype = kernels.dtype
        self.n_products = 0.0

    def image(self, vector: np.ndarray) -> np.ndarray:
        """K~ times a vector."""
        return self.images([vector])[0]

    def _squares_by_node(self, blocks, functions):
        """(P,) sums over pairs of e~_p'f_p, of blocks (., C) and functions (., P)."""
        # ``sum_below`` makes e~ = (B' kron I) e of section 6.4; the sums are in double precision.
        return sum(
            np.einsum("ip,ip->p", self.coupling.sum_below(E), F, dtype=np.float64)
            for E, F in zip(blocks, functions, strict=True)
        )

    def _gradient_of_shared(self, inner):
        """The gradient by the coupling from E'M F, where M is the one kernel."""
        # The derivative is that of e'K~ f = tr diag(v) B'(E'M F) B; the bias is without B.
        return (inner + inner.T) @ self.coupling.matrix * self.variance


class DualCovariance(Covariance):
    """K~ on coefficients (n, C): products with the kernel matrices.

    Where all nodes share one kernel, K~ A = M (A T) + sigma^2 1 1'A with T = B diag(v) B': the
    expensive product is made on C columns instead of P.
    """

    shape = property(lambda self: (self.kernels.n_rows, self.coupling.n_classes))

    def gather(self, block: np.ndarray) -> np.ndarray:
        return block

    def scores(self, image: np.ndarray) -> np.ndarray:
        return image

    def images(self, blocks: list[np.ndarray]) -> list[np.ndarray]:
        """K~ A for several blocks in one pass over the kernels."""
        self.n_products += len(blocks)
        # B comes before and after the kernels (section 6.4), at once where all nodes share one.
        if self.which is None:
            coupled = [self.coupling.couple(block, self.variance) for block in blocks]
            out = self._through_one_kernel(self.kernels.product, coupled)
        else:
            functions = self._through_many_kernels(self.kernels.product, blocks)
            out = [self.coupling.sum_paths(part * self.variance) for part in functions]
        # The bias adds sigma^2 1 1' to the kernel of each class (section 6.1.1).
        for values, block in zip(out, blocks, strict=True):
            values += (self.bias_variance * block.sum(axis=0, dtype=float)).astype(values.dtype)
        return out

    def cross(self, X: Features, block: np.ndarray) -> np.ndarray:
        # This is ``images`` with the kernels between new rows and those of the fit.
        if self.which is None:
            out = self.kernels.cross(X, self.coupling.couple(block, self.variance))
        else:
            functions = self.kernels.cross(X, self.coupling.sum_below(block), self.which)
            out = self.coupling.sum_paths(functions * self.variance)
        return out + self.bias_variance * block.sum(axis=0)

    def rounding(self, block: np.ndarray) -> float:
        """About the rounding error of a'K~ a.

        The error of a term a_i K~_ij a_j is up to eps sqrt(K~_ii K~_jj) |a_i a_j|, of either sign,
        which makes eps sum_i K~_ii a_i^2 in all. Kernels may be stored in less precision than a.
        """
        eps_of_kernel, eps = self._eps
        rows, classes = self._diagonals
        # The diagonal in sum_ic K~_ii,cc a_ic^2 is a sum of L products of two factors.
        squares = np.einsum("ij,ij,jl->il", block, block, classes, dtype=float)
        by_bias = eps * self.bias_variance * dot(block, block)
        return eps_of_kernel * float(np.vdot(squares, rows)) + by_bias

    def score_rounding(self, block: np.ndarray) -> float:
        """The same of the scores that coefficients give, at the row of the largest K~_ii."""
        eps_of_kernel, eps = self._eps
        rows, classes = self._diagonals
        largest = eps_of_kernel * rows.max(axis=0) @ classes.max(axis=0) + eps * self.bias_variance
        return math.sqrt(largest * self.rounding(block))

    @property
    def _eps(self):
        stored = self.kernels.matrices[0].dtype if self.kernels.is_stored else self.dtype
        return float(np.finfo(stored).eps), float(np.finfo(self.dtype).eps)

    @cached_property
    def _diagonals(self):
        """Factors (n, L) and (C, L) of the diagonal of K~, but for the bias."""
        # Kernel l has the row factor M^(l)_ii; the class factor sums v_p of nodes with kernel l.
        which = 0 if self.which is None else self.which
        of_kernel = np.arange(self.kernels.n_kernels)[:, None] == which
        classes = self.coupling.diagonal(np.where(of_kernel, self.variance, 0.0))
        return self.kernels.diagonal(), classes.T

    def node_diagonals(self) -> np.ndarray:
        """(n, P): v_p M^(p)_ii."""
        columns = np.zeros(len(self.variance), int) if self.which is None else self.which
        return self.kernels.diagonal()[:, columns] * self.variance

    def node_products(
        self, Es: list[np.ndarray], Fs: list[np.ndarray], derivative: bool = False
    ) -> np.ndarray:
        """(P,) sums over pairs of e~_p' M^(p) f~_p, or with dM^(p) / d log gamma (section 6.4)."""
        if not self.kernels.is_stored and len(Es) > 1:
            each = (self.node_products([E], [F], derivative) for E, F in zip(Es, Fs, strict=True))
            return sum(each, np.zeros(1))
        # Stored matrices are passed once for all pairs.
        product = self.kernels.derivative if derivative else self.kernels.product
        if self.which is None:
            images = map(self.coupling.sum_below, self._through_one_kernel(product, Fs))
        else:
            images = self._through_many_kernels(product, Fs)
        return self._squares_by_node(Es, images)

    def _through_one_kernel(self, product, blocks):
        """Images of blocks (n, C) by the kernel that all nodes share, in one pass.

        Where stored matrices are passed and the rows of all blocks sum to zero, as residuals of
        probabilities do, the image of the last column is minus the sum of the others.
        """
        short = self.kernels.is_stored and all(
            abs(block.sum(axis=1)).max(initial=0) <= _ZERO_SUM_ROUNDING * abs(block).max(initial=0)
            for block in blocks
        )
        multiplied = [block[:, :-1] for block in blocks] if short else blocks
        # Columns of all blocks lie side by side in one product of the BLAS.
        images = _cut(product(_side_by_side(multiplied)), len(blocks))
        if not short:
            return images
        return [np.column_stack([image, -image.sum(axis=1)]) for image in images]

    def _through_many_kernels(self, product, blocks):
        """Functions (n, P) of blocks (n, C), each node by its kernel, in one pass."""
        together = _side_by_side([self.coupling.sum_below(block) for block in blocks])
        return _cut(product(together, np.tile(self.which, len(blocks))), len(blocks))

    def bias_product(self, E: np.ndarray, F: np.ndarray) -> float:
        return float(E.sum(axis=0) @ F.sum(axis=0))

    def coupling_gradient(self, E: np.ndarray, F: np.ndarray) -> np.ndarray:
        if self.which is None:
            return self._gradient_of_shared(E.T @ self.kernels.product(F))
        # With kernels M^(p) of their own, column p of the derivative is v_p (E'M f~_p + F'M e~_p).
        (Ep,), (Fp,) = (self._through_many_kernels(self.kernels.product, [A]) for A in (E, F))
        return (E.T @ Fp + F.T @ Ep) * self.variance


class FeatureCovariance(Covariance):
    """K~ of a linear kernel with few features d: everything is (d + 1, C) instead of (n, C).

    A vector is (X'A, 1'A), its image ((X'A) T, sigma^2 1'A), and a product with K~ two products
    of the BLAS with X and its column of ones (``gather`` and ``scores``, half a product each).
    """

    @cached_property
    def features(self) -> np.ndarray:
        # The column of ones makes the bias a weight like those of the features.
        X = self.kernels.features
        return np.hstack([X, np.ones((len(X), 1), X.dtype)])

    shape = property(lambda self: (self.features.shape[1], self.coupling.n_classes))

    def rounding(self, vector: np.ndarray) -> float:
        """None: the features are summed before they are squared."""
        return 0.0

    score_rounding = rounding

    def gather(self, block: np.ndarray) -> np.ndarray:
        self.n_products += 0.5
        return multiply(self.features.T, block)

    def scores(self, image: np.ndarray) -> np.ndarray:
        self.n_products += 0.5
        return multiply(self.features, image)

    def images(self, vectors: list[np.ndarray]) -> list[np.ndarray]:
        # The kernel is X X', of which ``gather`` and ``scores`` have one factor each: T is left.
        out = [np.empty_like(vector) for vector in vectors]
        for image, vector in zip(out, vectors, strict=True):
            image[:-1] = self.coupling.couple(vector[:-1], self.variance)
            image[-1] = self.bias_variance * vector[-1]
        return out

    def cross(self, X: Features, vector: np.ndarray) -> np.ndarray:
        image = self.image(vector)
        return X @ image[:-1] + image[-1]

    def node_products(self, Es: list[np.ndarray], Fs: list[np.ndarray]) -> np.ndarray:
        # e~_p' X X' f~_p is an inner product of X'e~_p and X'f~_p; the last row is the bias.
        functions = [self.coupling.sum_below(F[:-1]) for F in Fs]
        return self._squares_by_node([E[:-1] for E in Es], functions)

    def bias_product(self, E: np.ndarray, F: np.ndarray) -> float:
        return float(E[-1] @ F[-1])

    def coupling_gradient(self, E: np.ndarray, F: np.ndarray) -> np.ndarray:
        return self._gradient_of_shared(E[:-1].T @ F[:-1])


def _side_by_side(blocks):
    """Blocks (n, K) as one, (n, K times their number)."""
    return blocks[0] if len(blocks) == 1 else np.hstack(blocks)


def _cut(together, n):
    """The n blocks again, each in C order."""
    return [together] if n == 1 else [np.ascontiguousarray(p) for p in np.hsplit(together, n)]
