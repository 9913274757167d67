"""The separable expansion against the reciprocal itself."""

import numpy as np
import pytest

from kronbench.linalg.adi_nodes import reciprocal_factors, reciprocal_nodes


@pytest.mark.parametrize("kappa", [0.0, 1e-12, 1e-3, 1.0, 1e2, 1e5, 1e10, 1e16])
def test_expansion_is_exact_on_the_whole_square(kappa):
    x = np.concatenate([[0.0], np.geomspace(1e-18, 1.0, 200)])
    total = np.zeros((len(x), len(x)))
    left, right = np.ones_like(x), np.ones_like(x)
    gain = np.sqrt(kappa * (1 + kappa))
    for index, (c, d) in enumerate(zip(*reciprocal_nodes(kappa), strict=True)):
        term = np.outer(left / (1 + kappa * d * x), right / (1 + kappa * c * x))
        total += (-1) ** index * (1 + kappa * c * d) * term
        left *= gain / (1 + kappa * c) * (x - c) / (1 + kappa * d * x)
        right *= gain / (1 + kappa * d) * (x - d) / (1 + kappa * c * x)
        # the bound of the docstring: what is added never cancels
        assert np.abs(left).max() <= 1 + 1e-9
        assert np.abs(right).max() <= 1 + 1e-9
    relative = np.abs(total * (1 + kappa * np.outer(x, x)) - 1)
    assert relative.max() < 1e-13
    lefts, rights = reciprocal_factors(x, x, kappa)
    np.testing.assert_allclose(lefts.T @ rights, total, rtol=1e-13)
