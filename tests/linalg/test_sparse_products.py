"""Products with sparse features against those of scipy."""

import numpy as np
from scipy import sparse

from kronbench.linalg.sparse_products import SparseProducts


def test_sparse_products_in_single_precision_and_many_columns():
    rng = np.random.default_rng(0)
    X = sparse.random_array((60, 300), density=0.05, rng=rng, format="csr")
    X = sparse.csr_array(X.multiply(np.arange(60)[:, None] != 3))  # a document without words
    block = rng.standard_normal((60, 150)).astype(np.float32)
    product = SparseProducts(X.astype(np.float32)).gram(block)
    assert product.dtype == np.float32
    expected = X @ (X.T @ block.astype(float))
    np.testing.assert_allclose(product, expected, atol=1e-4)
    assert np.abs(SparseProducts(X).gram(block.astype(float)) - expected).max() < 1e-11


def test_sparse_products_of_many_documents_and_words():
    """More than a block of each, and panels that are copied on all threads."""
    rng = np.random.default_rng(1)
    X = sparse.random_array((25_000, 21_000), density=1e-4, rng=rng, format="csr")
    block = rng.standard_normal((25_000, 33))
    expected = X @ (X.T @ block)
    np.testing.assert_allclose(SparseProducts(X).gram(block), expected, atol=1e-12)
