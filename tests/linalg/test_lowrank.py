"""The decompositions against exact arithmetic, their definitions and LAPACK."""

from fractions import Fraction

import numba
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.linalg.lapack import dpstrf

from kronbench.errors import InputError
from kronbench.linalg import gram
from kronbench.linalg.csi_decomposition import csi, csi_all_ahead
from kronbench.linalg.gram_matrix import KernelColumns
from kronbench.linalg.lowrank import (
    _rank_exceeds,
    factor_at,
    incomplete_cholesky,
    low_rank_factors,
)

shapes = st.tuples(st.integers(2, 6), st.integers(1, 4), st.integers(1, 3))
seeds = st.integers(0, 2**32 - 1)


class CountedColumns:
    """A kernel matrix that counts the columns asked for."""

    def __init__(self, K):
        self.K, self.asked = K, []

    def diagonal(self):
        return self.K.diagonal()

    def column(self, i):
        self.asked.append(i)
        return self.K[:, i]


def gaussian_problem(seed, n, copies=False, features=2, gamma=0.5, d=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, features))
    if copies:
        X = X[rng.integers(0, max(1, n // 2), n)]
    Y = np.stack([np.sin((j + 1) * X[:, 0]) for j in range(d)], axis=1)
    return gram(X, kernel="gaussian", gamma=gamma), Y + 0.1 * rng.standard_normal((n, d)), X


def exact_gains(residual, basis, Y, kappa, trace):
    """Gains of all points by Eqs. 5-8 in rational numbers; None for points already spanned."""
    n, total = len(Y), (Y * Y).sum()
    gains, columns = [None] * n, [None] * n
    for i in range(n):
        if residual[i, i] == 0:
            continue
        g = residual[:, i]
        h = g - sum(g) / n
        for b in basis:
            h = h - b * ((b @ h) / (b @ b))
        gains[i] = (1 - kappa) * (g @ g) / residual[i, i] / trace
        if any(h) and total != 0:
            gains[i] += kappa * sum((Y.T @ h) ** 2) / (h @ h) / total
        columns[i] = h
    return gains, columns


@given(st.data(), shapes, st.sampled_from([0.0, 0.25, 0.99, 1.0]))
@settings(max_examples=80, deadline=None)
def test_pivots_are_the_greedy_choice_on_the_exact_criterion(data, shape, kappa):
    n, p, d = shape
    small = st.integers(-3, 3)  # few values: duplicate points, zero diagonals, dependent columns
    X = data.draw(arrays(np.int64, (n, p), elements=small))
    if data.draw(st.booleans()):
        X[:, 0] = 3  # a column of the kernel may be constant: nothing is left of it once centred
    Y = data.draw(arrays(np.int64, (n, d), elements=small))
    rational = np.vectorize(Fraction, otypes=[object])
    residual, Y_exact = rational(X @ X.T), rational(Y)
    Y_exact = Y_exact - Y_exact.sum(axis=0) / n
    trace = sum(residual.diagonal())
    if not any(Y_exact.ravel()):
        Y, kappa = Y + np.arange(n)[:, None], 0.0  # constant targets have their own test
    factor = csi(X @ X.T, Y, n, kappa, lookahead=n, tol=0.0)
    basis = []
    for pivot, gain in zip(factor.pivots, factor.gains, strict=True):
        gains, columns = exact_gains(residual, basis, Y_exact, Fraction(kappa), trace)
        assert gains[pivot] is not None
        assert float(gains[pivot]) == pytest.approx(gain, abs=1e-11)
        # equal up to ties: exactly tied points have exactly equal gains here
        assert float(max(g for g in gains if g is not None) - gains[pivot]) < 1e-11
        if any(columns[pivot]):
            basis.append(columns[pivot])
        residual = (
            residual - np.outer(residual[:, pivot], residual[pivot]) / residual[pivot, pivot]
        )
    assert not any(residual.ravel())  # tol = 0: on to the rank of K


@given(
    seeds,
    st.integers(2, 40),
    st.booleans(),
    st.integers(0, 12),
    st.sampled_from([0.0, 0.5, 0.99, 1.0]),
)
@settings(max_examples=60, deadline=None)
def test_csi_interpolates_and_bounds_the_kernel(seed, n, copies, lookahead, kappa):
    K, Y, _ = gaussian_problem(seed, n, copies)
    factor = csi(K, Y, n, kappa, lookahead, tol=1e-6)
    G, pivots = factor.factor, factor.pivots
    L = G @ G.T
    assert len(set(pivots)) == factor.rank
    np.testing.assert_allclose(L[:, pivots], K[:, pivots], atol=1e-9)
    assert np.linalg.eigvalsh(K - L).min() > -1e-8
    assert (np.triu(G[pivots], 1) == 0).all()
    assert (G[pivots].diagonal() > 0).all()
    assert (factor.gains >= 1e-6).all()


@given(seeds, st.integers(3, 30), st.integers(0, 10))
@settings(max_examples=40, deadline=None)
def test_gains_are_the_decreases_of_the_criterion(seed, n, lookahead):
    K, Y, _ = gaussian_problem(seed, n, gamma=3.0)
    factor = csi(K, Y, n, 0.9, lookahead, tol=1e-3)
    Pi = np.eye(n) - 1 / n
    trace, total = np.trace(K), np.linalg.norm(Pi @ Y) ** 2
    criterion = [1.0]
    for r in range(1, factor.rank + 1):
        G = factor.factor[:, :r]
        rest = Pi @ Y - Pi @ G @ np.linalg.lstsq(Pi @ G, Pi @ Y)[0]
        criterion.append(
            0.1 * np.trace(K - G @ G.T) / trace + 0.9 * np.linalg.norm(rest) ** 2 / total
        )
    np.testing.assert_allclose(-np.diff(criterion), factor.gains, atol=1e-8)


@given(seeds, st.integers(1, 60), st.sampled_from([1e-2, 1e-6, 1e-10]))
@settings(max_examples=40, deadline=None)
def test_incomplete_cholesky_is_as_close_as_tol_says(seed, n, tol):
    K, _, _ = gaussian_problem(seed, n, copies=seed % 2 == 0)
    K = 3.0 * K
    factor = incomplete_cholesky(K, tol=tol)
    L = factor.factor @ factor.factor.T
    assert abs(K - L).max() <= tol * 3.0 + 1e-13
    assert factor.gains.sum() == pytest.approx(np.trace(L) / np.trace(K))
    residual = K - factor.factor[:, :-1] @ factor.factor[:, :-1].T
    assert residual.diagonal().max() > tol * 3.0  # and no column more than it takes


@pytest.mark.parametrize("n", [1, 7, 700])
def test_incomplete_cholesky_agrees_with_lapack(n):
    rng = np.random.default_rng(n)
    A = rng.standard_normal((n, n)) * np.geomspace(1, 1e-3, n)
    K = A @ A.T
    triangle, order, rank, _ = dpstrf(K, lower=1)
    factor = incomplete_cholesky(K, tol=0.0)
    assert factor.rank == rank == n
    np.testing.assert_array_equal(factor.pivots, order - 1)
    np.testing.assert_allclose(factor.factor[factor.pivots], np.tril(triangle), atol=1e-9)


@pytest.mark.parametrize("lookahead", [0, 5, 40])
def test_few_kernel_columns_are_asked_for(lookahead):
    K, Y, _ = gaussian_problem(6, 300, gamma=5.0)
    columns = CountedColumns(K)
    factor = csi(columns, Y, 25, lookahead=lookahead, tol=0.0)
    assert factor.rank == 25
    assert len(columns.asked) == len(set(columns.asked)) <= 25 + lookahead
    columns = CountedColumns(K)
    assert incomplete_cholesky(columns, 25).pivots.tolist() == columns.asked


@pytest.mark.parametrize("lookahead", [3, 40])
@pytest.mark.parametrize("kappa", [0.0, 0.99, 1.0])
def test_a_smooth_kernel_can_be_followed_to_rounding_error(lookahead, kappa):
    K, Y, _ = gaussian_problem(7, 400, features=1)
    factor = csi(K, Y, None, kappa, lookahead, tol=0.0)
    L = factor.factor @ factor.factor.T
    assert factor.rank < 60
    assert abs(K - L).max() < 1e-10
    assert np.linalg.eigvalsh(K - L).min() > -1e-9


def test_a_smooth_kernel_decomposed_whole_has_gains_that_are_parts_of_one():
    """R drifts away from G until it is factored anew: gains summed to 1.06 and to 10^14."""
    for n, gamma in ((300, 0.1), (500, 0.3)):
        rng = np.random.RandomState(0)
        X, Y = rng.standard_normal((n, 3)), rng.standard_normal((n, 2))
        K = gram(X, kernel="gaussian", gamma=gamma)
        found = csi(K, Y, max_rank=None, tol=0.0)
        assert abs(K - found.factor @ found.factor.T).max() < 1e-12
        explained = Y - Y.mean(axis=0)
        basis, of_column = np.linalg.qr(found.factor - found.factor.mean(axis=0))
        kept = abs(of_column.diagonal()) > 1e-10 * np.linalg.norm(of_column, axis=0)
        share = np.linalg.norm(basis[:, kept].T @ explained) ** 2 / np.linalg.norm(explained) ** 2
        assert abs(found.gains.sum() - (0.01 + 0.99 * share)) < 2e-3


def test_constant_targets_fall_back_on_the_kernel():
    K, Y, _ = gaussian_problem(13, 50)
    with pytest.warns(UserWarning, match="constant"):
        factor = csi(K, np.full(50, 0.1), 10, tol=0.0)
    np.testing.assert_array_equal(factor.pivots, csi(K, Y, 10, kappa=0.0, tol=0.0).pivots)


def test_rank_zero():
    for factor in (
        csi(np.zeros((4, 4)), np.arange(4.0), 3),
        incomplete_cholesky(np.zeros((4, 4))),
    ):
        assert factor.factor.shape == (4, 0)
        assert factor.transform(np.empty((2, 0))).shape == (2, 0)
    assert csi_all_ahead(np.ones((4, 4)), np.arange(4.0), None).rank == 1


def test_all_ahead_ends_at_the_rank_but_for_rounding(rng):
    X, Y = rng.standard_normal((30, 3)), rng.standard_normal((30, 2))
    assert csi_all_ahead(X @ X.T, Y, None, tol=0.0).rank == 3


def test_more_columns_than_first_reserved():
    K, Y, _ = gaussian_problem(15, 600, gamma=500.0)
    factor = csi(K, Y, None, lookahead=7, tol=0.0)
    assert factor.rank == 600
    np.testing.assert_allclose(factor.factor @ factor.factor.T, K, atol=1e-12)
    bounded = csi(K, Y, 20, lookahead=7, tol=0.0)
    np.testing.assert_array_equal(bounded.pivots, factor.pivots[:20])
    np.testing.assert_array_equal(bounded.factor, factor.factor[:, :20])


@given(seeds, st.integers(1, 40), st.booleans())
@settings(max_examples=30, deadline=None)
def test_transform_gives_the_rows_of_the_factor(seed, n, with_targets):
    K, Y, X = gaussian_problem(seed, n, gamma=3.0)
    Y = Y + np.arange(n)[:, None] ** 2
    factor = csi(K, Y, 10) if with_targets and n > 1 else incomplete_cholesky(K, 10)
    np.testing.assert_allclose(factor.transform(K[:, factor.pivots]), factor.factor, atol=1e-7)
    new = gram(X + 0.3, X[factor.pivots], kernel="gaussian", gamma=3.0)
    rows = factor.transform(new)
    np.testing.assert_allclose(rows @ factor.factor[factor.pivots].T, new, atol=1e-9)


@pytest.mark.parametrize(
    ("kernel", "gamma"),
    [("gaussian", 0.7), ("linear", None), (lambda X, Y: gram(X, Y) ** 2, None)],
)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.coo_matrix])
def test_kernel_columns_are_those_of_the_kernel_matrix(kernel, gamma, container):
    X = np.random.default_rng(16).standard_normal((150, 20)).astype(np.float32)
    K = gram(X, kernel=kernel, gamma=gamma)
    columns = KernelColumns(container(X), kernel, gamma)
    np.testing.assert_allclose(columns.diagonal(), K.diagonal(), rtol=1e-5)
    np.testing.assert_allclose(columns.column(37), K[:, 37], rtol=1e-5, atol=1e-5)
    a, b = incomplete_cholesky(columns, 15), incomplete_cholesky(K, 15)
    np.testing.assert_allclose(a.factor @ a.factor.T, b.factor @ b.factor.T, rtol=1e-3, atol=1e-3)


def test_any_memory_layout_and_type_of_the_matrix_gives_the_same():
    K, Y, _ = gaussian_problem(17, 40)
    expected = csi(K, Y, 10)
    locked = K.copy()
    locked.flags.writeable = False
    for other in (np.asfortranarray(K), np.repeat(K, 2, axis=1)[:, ::2], locked):
        np.testing.assert_array_equal(csi(other, Y, 10).factor, expected.factor)
    single = csi(K.astype(np.float32), Y[:, 0].astype(np.float32), 10)
    assert single.factor.dtype == np.float64


def test_the_result_does_not_depend_on_threads_and_leaves_them():
    X = np.random.default_rng(18).standard_normal((40_000, 2))  # worth more than one thread
    columns, Y = KernelColumns(X, "gaussian", 0.5), np.sin(X)
    before = numba.get_num_threads()
    factor = csi(columns, Y, 8, lookahead=5)
    assert numba.get_num_threads() == before
    numba.set_num_threads(1)
    try:
        np.testing.assert_array_equal(csi(columns, Y, 8, lookahead=5).factor, factor.factor)
    finally:
        numba.set_num_threads(before)


def test_wrong_input_is_named():
    K, Y, _ = gaussian_problem(19, 20)
    indefinite = K.copy()
    indefinite[3, 5] = indefinite[5, 3] = 1.5
    hole = K.copy()
    hole[4, 4] = 0.0
    missing = K.copy()
    missing[:, 0] = np.nan
    for call, match in [
        (lambda: csi(K[:5], Y, 3), "square"),
        (lambda: csi(K, Y[:5], 3), "one row for each"),
        (lambda: csi(K, Y * np.nan, 3), "targets holds NaN"),
        (lambda: csi(K, Y, 0), "max_rank"),
        (lambda: csi(K, Y, 3, kappa=1.5), "kappa"),
        (lambda: csi(K, Y, 3, lookahead=-1), "lookahead"),
        (lambda: csi(K, Y, 3, tol=-1.0), "tol"),
        (lambda: incomplete_cholesky(missing), "NaN"),
        (lambda: incomplete_cholesky(indefinite), "semidefinite"),
        (lambda: incomplete_cholesky(hole), "semidefinite"),
        (lambda: csi(indefinite, Y, 20, tol=0.0), "semidefinite"),
        (lambda: incomplete_cholesky(-K), "negative"),
        (lambda: KernelColumns(K, "precomputed"), "kernel matrix itself"),
        (lambda: incomplete_cholesky(K, 3).transform(K), "3 pivots"),
    ]:
        with pytest.raises(InputError, match=match):
            call()


def test_drawn_pivots_follow_what_is_left_of_the_diagonal():
    rng = np.random.RandomState(0)
    kernel = np.diag([8.0, 1.0, 1.0])
    first = [incomplete_cholesky(kernel, 1, rng=rng).pivots[0] for _ in range(1000)]
    np.testing.assert_allclose(np.bincount(first) / 1000, [0.8, 0.1, 0.1], atol=0.05)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_pivots_drawn_in_blocks_have_the_probabilities_of_one_after_the_other(form):
    X = np.array([[2.0, 0.0, 1.0], [2.0, 0.5, 1.0], [0.0, 1.0, 0.0], [1.0, 1.0, 2.0]])
    K, rng, n = X @ X.T, np.random.RandomState(0), 3000
    expected, found = np.zeros((4, 4)), np.zeros((4, 4))
    for first in range(4):
        left = K.diagonal() - K[first] ** 2 / K[first, first]
        left[first] = 0
        expected[first] = K[first, first] / np.trace(K) * left / left.sum()
    columns = KernelColumns(form(X))
    for _ in range(n):
        found[tuple(incomplete_cholesky(columns, 2, rng=rng, draws=5).pivots)] += 1 / n
    deviation = np.sqrt(expected * (1 - expected) / n)
    assert np.all(np.abs(found - expected) <= 4 * deviation)
    assert np.abs(found - np.outer(found.sum(1), found.sum(1))).max() > 0.05  # of other draws


@pytest.mark.parametrize("kernel", ["tanimoto", "gaussian", lambda X, Y: (1 + X @ Y.T) ** 2])
def test_factors_of_blocks_are_those_of_their_pivots(kernel):
    bits = (np.random.default_rng(0).random((5000, 20)) < 0.3).astype(float)
    bits[-1] = bits[0]  # the same twice
    columns = KernelColumns(bits, kernel, 0.1 if kernel == "gaussian" else None)
    factor = incomplete_cholesky(columns, 30, rng=np.random.RandomState(1), draws=16)
    expected = factor_at(columns, factor.pivots).factor
    np.testing.assert_allclose(factor.factor, expected, atol=1e-9 * np.abs(expected).max())
    trace = columns.diagonal().sum()
    np.testing.assert_allclose(factor.gains, (expected**2).sum(axis=0) / trace, rtol=1e-9)
    rank = incomplete_cholesky(columns, rng=np.random.RandomState(1), draws=64).rank
    assert rank < 5000  # ends where nothing is left
    few = incomplete_cholesky(KernelColumns(bits[:9]), rng=np.random.RandomState(1), draws=64)
    np.testing.assert_allclose(few.factor @ few.factor.T, bits[:9] @ bits[:9].T, atol=1e-10)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 8),
    st.sampled_from([6, 12, 50]),
    st.integers(0, 2**32 - 1),
    st.floats(1e-14, 1.0),
)
def test_no_rank_is_exceeded_by_what_has_thinner_factors(rank, n, seed, smallest):
    """A matrix of rank k plus another direction as small as ``smallest``."""
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, rank + 3))
    whole = matrix + smallest * np.outer(rng.standard_normal(n), rng.standard_normal(rank + 3))
    assert not _rank_exceeds(matrix, rank, 1e-11)
    assert not _rank_exceeds(whole, rank + 1, 1e-11)
    if _rank_exceeds(whole, rank, 1e-11):
        # The best matrix of this rank misses an entry by more than the tolerance.
        U, s, Vt = np.linalg.svd(whole, full_matrices=False)
        best = (U[:, :rank] * s[:rank]) @ Vt[:rank]
        assert abs(whole - best).max() > 1e-11 * abs(whole).max()


def test_a_few_rows_tell_that_a_rank_is_exceeded(monkeypatch):
    """A few factors of many sparse rows are not looked for in all of the rows."""
    matrix = (np.random.default_rng(0).random((3000, 200)) < 0.1).astype(np.float32)
    seen, qr = [], np.linalg.qr
    monkeypatch.setattr(np.linalg, "qr", lambda A, mode: seen.append(A.shape) or qr(A, mode=mode))
    assert low_rank_factors(matrix, 20) is None
    assert all(rows < 100 for rows, _ in seen)
    # Where the rows that are asked first are all alike, the others are asked too.
    matrix[:: 3000 // 42] = 1
    assert low_rank_factors(matrix, 20) is None
    assert seen[-1] == matrix.shape


@pytest.mark.parametrize("transpose", [False, True])
def test_a_long_matrix_of_full_rank_has_none(transpose):
    matrix = np.random.default_rng(0).standard_normal((80, 6))
    assert low_rank_factors(matrix.T if transpose else matrix, 6) is None
    matrix[:, 5] = matrix[:, :5].sum(axis=1)
    P, Q = low_rank_factors(matrix.T if transpose else matrix, 6)
    np.testing.assert_allclose(P @ Q.T, matrix.T if transpose else matrix, atol=1e-10)
    assert P.shape[1] == 6  # the block of the range finder ends at the width
