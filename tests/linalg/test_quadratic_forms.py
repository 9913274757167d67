"""Quadratic forms with an inverse: bounds that hold, and meet where they should."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse.linalg import aslinearoperator

from kronbench.errors import InputError
from kronbench.linalg.quadratic_forms import inverse_forms


def problem(n, decay, seed, t=5):
    """A matrix with eigenvalues exp(-decay i), t vectors in its range, and the exact forms."""
    rng = np.random.default_rng(seed)
    vectors = np.linalg.qr(rng.normal(size=(n, n)))[0]
    A = (vectors * np.exp(-decay * np.arange(n))) @ vectors.T
    B = A @ rng.normal(size=(n, t))
    return A, B, lambda shift: np.einsum("ij,ij->j", B, np.linalg.solve(A + shift * np.eye(n), B))


@given(st.integers(1, 40), st.sampled_from([0.01, 0.3, 3.0]), st.integers(0, 99))
@settings(deadline=None, max_examples=30)
def test_bounds_hold(n, decay, seed):
    A, B, exact = problem(n, decay, seed)
    slack = 1e-9 * np.linalg.norm(B, axis=0) ** 2
    low, high = inverse_forms(aslinearoperator(A), B, shift=0.1, atol=np.zeros(5), max_iter=2)
    assert (low <= exact(0.1) + slack).all()
    assert (high >= exact(0.1) - slack).all()


def test_conjugate_gradients_reach_the_tolerance_column_by_column():
    A, B, exact = problem(60, 0.2, 0)
    atol = np.array([1e-12, 1e-1, 1e-12, 1e-3, 0.5])
    low, high = inverse_forms(aslinearoperator(A), B, shift=1e-3, atol=atol)
    assert (high - low <= atol).all()
    assert (np.abs(low - exact(1e-3)) <= atol + 1e-12).all()


def test_an_indefinite_matrix_is_refused():
    with pytest.raises(InputError, match="not positive semidefinite"):
        inverse_forms(
            aslinearoperator(np.diag([1.0, -3.0])), np.ones((2, 1)), shift=0.1, atol=np.zeros(1)
        )
