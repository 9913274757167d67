"""Products of matrices in either precision."""

import numpy as np
import pytest

from kronbench.linalg.stored_products import stored_product


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", [1, 2, 3, 5, 6, 13, 33])
def test_stored_matrices_times_few_and_many_columns(dtype, n_columns):
    rng = np.random.default_rng(8)
    matrix = rng.random((11, 11)).astype(dtype)
    matrix = matrix + matrix.T
    block = rng.standard_normal((11, n_columns))
    expected = matrix.astype(float) @ block
    np.testing.assert_allclose(stored_product(matrix, block), expected, atol=1e-12)
