"""The prior covariance of all class scores, K~ = (B kron I) blockdiag(v_p M_p) (B' kron I) + bias.

Rows are documents, columns classes; B (C, P) is the tree's matrix Phi_L or a dense coupling
(Seeger 2006, Eq. 2 and section 7.2), and the bias adds sigma^2 to every kernel value of a class
with itself (section 6.1.1). Both classes below carry vectors a with their images; what a vector
is, differs:

    dual space        a = A (n, C) coefficients; the image is K~ A, the scores themselves
    feature space     a = (X'A, 1'A) (d + 1, C); the image is what gives the scores as X F + f0

so that <a, image(b)> is the inner product a'K~ b in both. A vector comes out of a block R (n, C)
by ``gather``, scores out of an image by ``scores``.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from kronbench.classes.kernels import Kernels
from kronbench.classes.tree import Tree
from kronbench.errors import InputError
from kronbench.linalg.gemm import multiply

# Of the largest entry: what rounding leaves in a row that sums to zero.
_ZERO_SUM = 1e-13


class Coupling:
    """A dense B (C, P) with the products of a :class:`Tree` (Seeger 2006, section 7.2)."""

    is_flat = False

    def __init__(self, matrix: np.ndarray):
        self.matrix = np.asarray(matrix, float)
        if self.matrix.ndim != 2 or not np.isfinite(self.matrix).all():
            raise InputError(
                f"coupling has shape {self.matrix.shape}: give a (C, P) array of finite numbers"
            )
        self.n_classes, self.n_nodes = self.matrix.shape

    def scores(self, functions: np.ndarray) -> np.ndarray:
        return multiply(functions, self.matrix.T.astype(functions.dtype))

    def adjoint(self, block: np.ndarray) -> np.ndarray:
        return multiply(block, self.matrix.astype(block.dtype))

    def couple(self, block: np.ndarray, variance: np.ndarray) -> np.ndarray:
        return self.scores(self.adjoint(block) * np.asarray(variance, block.dtype))

    def diagonal(self, variance: np.ndarray) -> np.ndarray:
        """(n, C) diagonals of B diag(variance_i) B' for rows (n, P) of variances."""
        return variance @ (self.matrix**2).T


class DualCovariance:
    """K~ on coefficients (n, C): products with the kernel matrices.

    Where all nodes share one kernel, K~ A = M (A T) + sigma^2 1 1'A with T = B diag(v) B': the
    expensive product is made on C columns instead of P.

    Parameters
    ----------
    kernels : as in :mod:`kronbench.classes.kernels`
    coupling : Tree or Coupling
    variance : (P,) array
        v_p.
    bias_variance : float
        sigma^2, not negative.
    which : (P,) integer array, optional
        The kernel of each node; kernel 0 for all when None.

    Attributes
    ----------
    n_products : float
        Products with K~ made so far.
    """

    def __init__(
        self,
        kernels: Kernels,
        coupling: Tree | Coupling,
        variance: np.ndarray,
        bias_variance: float,
        which: np.ndarray | None = None,
    ):
        self.kernels, self.coupling = kernels, coupling
        self.variance = np.asarray(variance, float)
        self.bias_variance = float(bias_variance)
        self.which = None if kernels.n_kernels == 1 else np.asarray(which)
        self.n_products = 0.0

    @property
    def shape(self) -> tuple[int, int]:
        return self.kernels.n_rows, self.coupling.n_classes

    @property
    def dtype(self) -> np.dtype:
        return self.kernels.dtype

    @property
    def is_stored(self) -> bool:
        """Whether kernel matrices are in memory: one pass should then serve many blocks."""
        return len(getattr(self.kernels, "matrices", ())) > 0

    def gather(self, block: np.ndarray) -> np.ndarray:
        return block

    def scores(self, image: np.ndarray) -> np.ndarray:
        return image

    def image(self, block: np.ndarray) -> np.ndarray:
        """K~ A (n, C)."""
        return self.images([block])[0]

    def images(self, blocks: list[np.ndarray]) -> list[np.ndarray]:
        """The same for several blocks in one pass over the kernels."""
        self.n_products += len(blocks)
        if self.which is None:
            coupled = [self.coupling.couple(block, self.variance) for block in blocks]
            out = self._through_one_kernel(self.kernels.product, coupled)
        else:
            functions = [self.coupling.adjoint(block) for block in blocks]
            which = np.tile(self.which, len(blocks))
            together = self.kernels.product(_side_by_side(functions), which)
            together *= np.tile(self.variance, len(blocks))
            out = [self.coupling.scores(part) for part in _cut(together, len(blocks))]
        for values, block in zip(out, blocks, strict=True):
            values += (self.bias_variance * block.sum(axis=0, dtype=float)).astype(values.dtype)
        return out

    def cross(self, X: np.ndarray | sparse.sparray, block: np.ndarray) -> np.ndarray:
        """Scores (n_new, C) of new rows."""
        if self.which is None:
            out = self.kernels.cross(X, self.coupling.couple(block, self.variance))
        else:
            functions = self.kernels.cross(X, self.coupling.adjoint(block), self.which)
            out = self.coupling.scores(functions * self.variance)
        return out + self.bias_variance * block.sum(axis=0)

    def node_diagonals(self) -> np.ndarray:
        """(n, P): v_p M^(p)_ii."""
        diagonal = self.kernels.diagonal()
        columns = np.zeros(len(self.variance), int) if self.which is None else self.which
        return diagonal[:, columns] * self.variance

    def node_products(
        self, Es: list[np.ndarray], Fs: list[np.ndarray], derivative: bool = False
    ) -> np.ndarray:
        """(P,) sums over pairs of e~_p' M^(p) f~_p, or with dM^(p) / d log gamma (section 6.4).

        Stored matrices are passed once for all pairs.
        """
        if not self.is_stored and len(Es) > 1:
            return sum(
                self.node_products([E], [F], derivative) for E, F in zip(Es, Fs, strict=True)
            )
        product = self.kernels.derivative if derivative else self.kernels.product
        adjoint = self.coupling.adjoint
        if self.which is None:
            images = [adjoint(image) for image in self._through_one_kernel(product, Fs)]
        else:
            functions = _side_by_side([adjoint(F) for F in Fs])
            images = _cut(product(functions, np.tile(self.which, len(Fs))), len(Fs))
        return sum(
            np.einsum("ip,ip->p", adjoint(E), image, dtype=np.float64)
            for E, image in zip(Es, images, strict=True)
        )

    def _through_one_kernel(self, product, blocks):
        """Images of blocks (n, C) by the kernel that all nodes share, in one pass.

        Where stored matrices are passed and the rows of all blocks sum to zero, as residuals of
        probabilities do, the image of the last column is minus the sum of the others.
        """
        short = self.is_stored and all(_sums_to_zero(block) for block in blocks)
        wanted = [block[:, :-1] for block in blocks] if short else blocks
        images = _cut(product(_side_by_side(wanted)), len(blocks))
        if not short:
            return images
        return [np.column_stack([image, -image.sum(axis=1)]) for image in images]

    def bias_product(self, E: np.ndarray, F: np.ndarray) -> float:
        """sum_c (1'e_c) (1'f_c)."""
        return float(E.sum(axis=0) @ F.sum(axis=0))

    def coupling_gradient(self, E: np.ndarray, F: np.ndarray) -> np.ndarray:
        """(C, P) derivatives of e'K f by the entries of B (Seeger 2006, section 7.2)."""
        if self.which is None:
            inner = E.T @ self.kernels.product(F)
            return (inner + inner.T) @ self.coupling.matrix * self.variance
        Fp = self.kernels.product(self.coupling.adjoint(F), self.which)
        Ep = self.kernels.product(self.coupling.adjoint(E), self.which)
        return (E.T @ Fp + F.T @ Ep) * self.variance


class FeatureCovariance:
    """K~ of a linear kernel with few features d: everything is (d + 1, C) instead of (n, C).

    A vector is (X'A, 1'A), its image ((X'A) T, sigma^2 1'A), and a product with K~ two products
    of the BLAS with X and its column of ones (``gather`` and ``scores``, half a product each).

    Parameters
    ----------
    kernels : DenseFeatures, or a low-rank kernel without correction
    coupling, variance, bias_variance, n_products : as for :class:`DualCovariance`
    """

    which = None
    is_stored = False

    def __init__(
        self,
        kernels: Kernels,
        coupling: Tree | Coupling,
        variance: np.ndarray,
        bias_variance: float,
    ):
        self.kernels, self.coupling = kernels, coupling
        X = kernels.features
        self.features = np.hstack([X, np.ones((len(X), 1), X.dtype)])
        self.variance = np.asarray(variance, float)
        self.bias_variance = float(bias_variance)
        self.n_products = 0.0

    @property
    def shape(self) -> tuple[int, int]:
        return self.features.shape[1], self.coupling.n_classes

    @property
    def dtype(self) -> np.dtype:
        return self.features.dtype

    def gather(self, block: np.ndarray) -> np.ndarray:
        self.n_products += 0.5
        return multiply(self.features.T, block)

    def scores(self, image: np.ndarray) -> np.ndarray:
        self.n_products += 0.5
        return multiply(self.features, image)

    def image(self, vector: np.ndarray) -> np.ndarray:
        out = np.empty_like(vector)
        out[:-1] = self.coupling.couple(vector[:-1], self.variance)
        out[-1] = self.bias_variance * vector[-1]
        return out

    def images(self, vectors: list[np.ndarray]) -> list[np.ndarray]:
        return [self.image(vector) for vector in vectors]

    def cross(self, X: np.ndarray | sparse.sparray, vector: np.ndarray) -> np.ndarray:
        """Scores (n_new, C) of new rows of features."""
        image = self.image(vector)
        return X @ image[:-1] + image[-1]

    def node_products(self, Es: list[np.ndarray], Fs: list[np.ndarray]) -> np.ndarray:
        """(P,) sums over pairs of e~_p' M f~_p."""
        adjoint = self.coupling.adjoint
        return sum(
            np.einsum("ip,ip->p", adjoint(E[:-1]), adjoint(F[:-1]), dtype=np.float64)
            for E, F in zip(Es, Fs, strict=True)
        )

    def bias_product(self, E: np.ndarray, F: np.ndarray) -> float:
        """sum_c (1'e_c) (1'f_c)."""
        return float(E[-1] @ F[-1])

    def coupling_gradient(self, E: np.ndarray, F: np.ndarray) -> np.ndarray:
        """(C, P) derivatives of e'K f by the entries of B (Seeger 2006, section 7.2)."""
        inner = E[:-1].T @ F[:-1]
        return (inner + inner.T) @ self.coupling.matrix * self.variance


Covariance = DualCovariance | FeatureCovariance


def _sums_to_zero(block):
    """Whether each row of (n, C) does, up to rounding."""
    largest = np.abs(block).max(initial=0)
    return np.abs(block.sum(axis=1)).max(initial=0) <= _ZERO_SUM * largest


def _side_by_side(blocks):
    return blocks[0] if len(blocks) == 1 else np.hstack(blocks)


def _cut(together, n):
    return [together] if n == 1 else [np.ascontiguousarray(p) for p in np.hsplit(together, n)]
