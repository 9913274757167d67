"""Kernel representations against their explicit matrices."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse

from kronbench.class_tree import Tree
from kronbench.class_tree.covariance import DualCovariance, FeatureCovariance
from kronbench.class_tree.kernels import (
    DenseFeatures,
    GaussianKernels,
    LowRankKernel,
    SparseFeatures,
    StoredKernels,
)
from kronbench.class_tree.tree import DenseCoupling
from kronbench.linalg import gram
from tests.class_tree.test_tree import path_matrix, random_parents

GAMMA = np.array([0.3, 1.1])


def dense_kernels(kind, X):
    """The representation, its matrices (L, n, n) and a function of new rows."""
    if kind in ("dense", "sparse"):
        kernels = DenseFeatures(X) if kind == "dense" else SparseFeatures(sparse.csr_array(X))
        return kernels, [X @ X.T], lambda Z, _: Z @ X.T
    if kind == "gaussian":
        matrices = [gram(X, kernel="gaussian", gamma=gamma) for gamma in GAMMA]
        return (
            GaussianKernels(X, GAMMA),
            matrices,
            lambda Z, k: gram(Z, X, kernel="gaussian", gamma=GAMMA[k]),
        )
    if kind == "stored":
        return StoredKernels([X @ X.T]), [X @ X.T], None
    kernels = LowRankKernel(X, "gaussian", 0.3, max_rank=5)
    L = kernels.L
    matrix = L @ L.T
    np.fill_diagonal(matrix, 1.0)
    return kernels, [matrix], None


@pytest.mark.parametrize("kind", ["dense", "sparse", "gaussian", "stored", "low rank"])
@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 40))
@settings(max_examples=8, deadline=None)
def test_products_and_diagonals(kind, seed, n, n_columns):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4)) * (rng.random((n, 4)) < 0.6)
    kernels, matrices, compare = dense_kernels(kind, X)
    block = rng.standard_normal((n, n_columns))
    which = rng.integers(0, len(matrices), n_columns)
    expected = np.stack([matrices[k] @ block[:, j] for j, k in enumerate(which)], axis=1)
    chosen = () if len(matrices) == 1 else (which,)
    np.testing.assert_allclose(kernels.product(block, *chosen), expected, atol=1e-10)
    diagonals = np.stack([matrix.diagonal() for matrix in matrices], axis=1)
    np.testing.assert_allclose(kernels.diagonal(), diagonals, atol=1e-12)
    if compare is not None:
        Z = rng.standard_normal((3, 4))
        new = np.stack([compare(Z, k) @ block[:, j] for j, k in enumerate(which)], axis=1)
        Z = sparse.csr_array(Z) if kind == "sparse" else Z
        np.testing.assert_allclose(kernels.cross(Z, block, *chosen), new, atol=1e-10)


def test_single_precision_storage_keeps_sums_in_double(rng):
    X = rng.standard_normal((50, 3))
    stored = GaussianKernels(X, [0.5], np.float32)
    assert stored.matrices[0].dtype == np.float32
    for n_columns in (1, 2, 3, 5, 6, 13, 33):
        block = rng.standard_normal((50, n_columns))
        product = stored.product(block)
        np.testing.assert_allclose(
            product, stored.matrices[0].astype(float) @ block, rtol=0, atol=1e-12
        )
        exact = gram(X, kernel="gaussian", gamma=0.5) @ block
        np.testing.assert_allclose(product, exact, atol=1e-5)


@pytest.mark.parametrize("kind", ["gaussian", "low rank", "low rank, not corrected"])
def test_derivatives_by_the_width(kind, rng):
    X, block, h = rng.standard_normal((20, 3)), rng.standard_normal((20, 4)), 1e-5
    if kind == "gaussian":
        which = (np.array([0, 1, 1, 0]),)
        kernels, gamma = GaussianKernels(X, GAMMA), GAMMA
    else:
        which, gamma = (), np.array([0.3])
        corrected = "not" not in kind
        kernels = LowRankKernel(X, "gaussian", 0.3, max_rank=6, corrected=corrected)
    high, low = (kernels.with_gamma(gamma * np.exp(s * h)) for s in (1, -1))
    difference = (high.product(block, *which) - low.product(block, *which)) / (2 * h)
    np.testing.assert_allclose(kernels.derivative(block, *which), difference, atol=1e-8)
    same = kernels.with_gamma(gamma)
    np.testing.assert_array_equal(same.product(block, *which), kernels.product(block, *which))


def test_all_points_as_pivots_are_exact_and_the_corrected_diagonal_is_never_too_large():
    X = np.random.default_rng(2).standard_normal((15, 3))
    K = gram(X, kernel="gaussian", gamma=0.3)
    every = LowRankKernel(X, "gaussian", 0.3, max_rank=15)
    block = np.eye(15)
    np.testing.assert_allclose(every.product(block), K, atol=1e-10)
    few = LowRankKernel(X, "gaussian", 0.3, max_rank=4)
    assert (few.correction >= 0).all()
    assert few.correction.max() > 1e-3
    plain = LowRankKernel(X, "gaussian", 0.3, max_rank=4, corrected=False)
    errors = [np.linalg.norm(kernel.product(block) - K) for kernel in (few, plain)]
    assert errors[0] < errors[1]
    Z = np.random.default_rng(3).standard_normal((5, 3))
    expected = gram(Z, X, kernel="gaussian", gamma=0.3)
    np.testing.assert_allclose(every.cross(Z, block), expected, atol=1e-8)


def dense_covariance(matrices, B, variance, bias, which):
    """K~ (n C, n C), classes slow, rows fast."""
    n, C = len(matrices[0]), len(B)
    K = bias * np.kron(np.eye(C), np.ones((n, n)))
    for p, v in enumerate(variance):
        K += v * np.kron(np.outer(B[:, p], B[:, p]), matrices[which[p]])
    return K


@pytest.mark.parametrize("kind", ["dense", "gaussian"])
@pytest.mark.parametrize("coupled", ["tree", "matrix"])
def test_covariances_against_the_explicit_matrix(kind, coupled, rng):
    X, n = rng.standard_normal((6, 4)), 6
    if coupled == "tree":
        parents = random_parents(rng, 9)
        coupling, B = Tree(parents), path_matrix(parents)
    else:
        B = rng.standard_normal((5, 3))
        coupling = DenseCoupling(B)
    kernels, matrices, _ = dense_kernels(kind, X)
    C, P = B.shape
    variance, which = rng.exponential(size=P), rng.integers(0, len(matrices), P)
    K = dense_covariance(matrices, B, variance, 0.7, which)
    covariance = DualCovariance(kernels, coupling, variance, 0.7, which)
    A, E = rng.standard_normal((2, n, C))
    image = (K @ A.T.ravel()).reshape(C, n).T
    np.testing.assert_allclose(covariance.image(A), image, atol=1e-10)
    for out, expected in zip(covariance.images([A, E]), (A, E), strict=True):
        np.testing.assert_allclose(out, covariance.image(expected), atol=1e-10)
    products = [(E @ B[:, p]) @ matrices[which[p]] @ (A @ B[:, p]) for p in range(P)]
    np.testing.assert_allclose(covariance.node_products([E], [A]), products, atol=1e-10)
    two = np.add(products, covariance.node_products([A], [A]))
    np.testing.assert_allclose(covariance.node_products([E, A], [A, A]), two, atol=1e-10)
    diagonal = coupling.diagonal(covariance.node_diagonals()) + 0.7
    np.testing.assert_allclose(diagonal, K.diagonal().reshape(C, n).T, atol=1e-10)
    if kind == "dense":
        features = FeatureCovariance(kernels, coupling, variance, 0.7)
        a, e = features.gather(A), features.gather(E)
        np.testing.assert_allclose(features.scores(features.image(a)), image, atol=1e-10)
        np.testing.assert_allclose(np.vdot(e, features.image(a)), np.vdot(E, image))
        np.testing.assert_allclose(features.node_products([e], [a]), products, atol=1e-10)
        assert features.bias_product(e, a) == pytest.approx(covariance.bias_product(E, A))


def test_rows_that_sum_to_zero_cost_one_column_less(monkeypatch, rng):
    M = rng.random((7, 7))
    kernels, widths = StoredKernels([M + M.T]), []
    product = kernels.product

    def counted(block, which=None):
        widths.append(block.shape[1])
        return product(block, which)

    monkeypatch.setattr(kernels, "product", counted)
    covariance = DualCovariance(kernels, Tree.flat(3), np.full(3, 2.0), 0.7)
    block = rng.standard_normal((7, 3))
    zero = block - block.mean(axis=1, keepdims=True)
    for vectors in ([zero, zero], [zero, block], [zero + 1e-6]):
        for image, vector in zip(covariance.images(vectors), vectors, strict=True):
            expected = 2 * (M + M.T) @ vector + 0.7 * vector.sum(axis=0)
            np.testing.assert_allclose(image, expected, atol=1e-12)
    assert widths == [4, 6, 3]
