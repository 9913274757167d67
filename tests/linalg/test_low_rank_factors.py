import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from kronbench.linalg.lowrank import _full_rank, low_rank_factors


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 8), st.integers(0, 2**32 - 1), st.floats(1e-14, 1.0))
def test_full_rank_is_never_said_of_what_has_thinner_factors(rank, seed, smallest):
    """A tall matrix of rank k plus another direction as small as ``smallest``."""
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((50, rank)) @ rng.standard_normal((rank, rank + 1))
    extra = np.outer(rng.standard_normal(50), rng.standard_normal(rank + 1))
    found = _full_rank(matrix + smallest * extra, 1e-11)
    if found:  # then the best matrix of this rank misses an entry by more than the tolerance
        whole = matrix + smallest * extra
        U, s, Vt = np.linalg.svd(whole, full_matrices=False)
        best = (U[:, :rank] * s[:rank]) @ Vt[:rank]
        assert np.linalg.norm(whole - best) > 1e-11 * abs(whole).max()


@pytest.mark.parametrize("transpose", [False, True])
def test_a_long_matrix_of_full_rank_has_none(transpose):
    matrix = np.random.default_rng(0).standard_normal((80, 6))
    assert low_rank_factors(matrix.T if transpose else matrix, 6) is None
    matrix[:, 5] = matrix[:, :5].sum(axis=1)
    P, Q = low_rank_factors(matrix.T if transpose else matrix, 6)
    np.testing.assert_allclose(P @ Q.T, matrix.T if transpose else matrix, atol=1e-10)
    assert P.shape[1] == 6  # the block of the range finder ends at the width
