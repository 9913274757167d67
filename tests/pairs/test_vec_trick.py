import tracemalloc

import numba
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from threadpoolctl import threadpool_limits

from kronbench import InputError
from kronbench.linalg import gram
from kronbench.pairs import (
    SampledKroneckerOperator,
    _routes,
)

METHODS = ("sparse", "dense", "lowrank", "auto")
ROUNDING = {np.float64: 1e-12, np.float32: 2e-4}


LOOPS = {"vector": None, "plain": True} if _routes.PLAIN is None else {"plain": True}


@pytest.fixture(scope="module", params=LOOPS.values(), ids=LOOPS)
def carrier(request):
    """Innermost loops in vector instructions, then in plain numba: the same tests for both.

    The first only where they are loaded, which ``KRONBENCH_PLAIN=1`` prevents.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_routes, "PLAIN", request.param)
        yield


both_carriers = pytest.mark.usefixtures("carrier")


def dense_formula(A, B, rows, cols, in_rows, in_cols):
    """R (G kron K) C' entry by entry."""
    A, B = A.astype(np.float64), B.astype(np.float64)
    return A[np.ix_(rows, in_rows)] * B[np.ix_(cols, in_cols)]


def assert_close(actual, matrix, v, dtype):
    """Within rounding of the sums of absolute values, entry by entry."""
    v = v.astype(dtype).astype(np.float64)
    scale = np.abs(matrix) @ np.abs(v)
    assert actual.dtype == dtype
    np.testing.assert_array_less(
        np.abs(actual - matrix @ v), ROUNDING[dtype] * scale + np.finfo(dtype).tiny
    )


@st.composite
def problems(draw):
    """Matrices and pairs from one vertex and one pair up; every pair may occur several times."""
    sizes = st.one_of(st.integers(1, 4), st.integers(1, 150))
    a, b, c, d = (draw(sizes) for _ in range(4))
    e, f = (draw(st.one_of(st.integers(1, 5), st.integers(1, 800))) for _ in range(2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    rank = draw(st.sampled_from([1, 3, 1000]))

    def matrix(n, m):
        if rank < min(n, m):
            entries = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, m))
        else:
            entries = rng.standard_normal((n, m))
        return np.asarray(entries, dtype, order=draw(st.sampled_from("CF")))

    def index(n, size):  # often leaves vertices without pairs
        return rng.integers(0, draw(st.integers(1, n)), size)

    v = rng.standard_normal(e) * (rng.random(e) < draw(st.sampled_from([0.0, 0.1, 1.0])))
    pairs = index(a, f), index(c, f), index(b, e), index(d, e)
    return matrix(a, b), matrix(c, d), pairs, v, rng.standard_normal(f), dtype


@both_carriers
@given(problems(), st.sampled_from(METHODS), st.integers(1, 6))
@settings(max_examples=150, deadline=None)
def test_products_of_one_and_of_several_vectors_are_the_dense_formula(problem, method, k):
    A, B, pairs, v, w, dtype = problem
    matrix = dense_formula(A, B, *pairs)
    operator = SampledKroneckerOperator(A, B, *pairs, method=method)
    assert operator.shape == matrix.shape
    assert_close(operator.matvec(v), matrix, v, dtype)
    assert_close(operator.rmatvec(w), matrix.T, w, dtype)
    X, Y = (np.outer(x, np.arange(k)) + np.linspace(0, 1, k) for x in (v, w))
    assert_close(operator.matmat(X), matrix, X, dtype)
    assert_close(operator.rmatmat(Y), matrix.T, Y, dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("zeros", [0.0, 0.5])
def test_as_few_pairs_as_vertices_are_summed_directly(dtype, order, zeros, rng):
    n = 403  # the last sums are three, not four
    A, B = (np.asarray(rng.standard_normal((n, n + 9)), dtype, order=order) for _ in range(2))
    pairs = [rng.permutation(size)[:n] for size in (n, n, n + 9, n + 9)]
    matrix = dense_formula(A, B, *pairs)
    v, w = (rng.standard_normal(n) * (rng.random(n) >= zeros) for _ in range(2))
    operator = SampledKroneckerOperator(A, B, *pairs, method="sparse")
    assert isinstance(operator._route, _routes.DoubleSum)
    X = np.column_stack([v, 2 * v, np.zeros(n)])
    assert_close(operator.matvec(v), matrix, v, dtype)
    assert_close(operator.rmatvec(w), matrix.T, w, dtype)
    np.testing.assert_array_equal(operator.matmat(X)[:, 0], operator.matvec(v))
    assert not operator.matmat(X)[:, 2].any()
    for times, route in ((3, _routes.DoubleSum), (5, _routes.PairRoute)):
        many = (
            np.concatenate([np.roll(pairs[0], k) for k in range(times)]),
            np.tile(pairs[1], times),
        )
        more = SampledKroneckerOperator(A, B, *many, *pairs[2:], method="sparse")
        assert isinstance(more._route, route)
        assert_close(more.matvec(v), dense_formula(A, B, *many, *pairs[2:]), v, dtype)


@both_carriers
@given(problems(), st.sampled_from(METHODS))
@settings(max_examples=60, deadline=None)
def test_restrict_is_the_operator_of_the_subset(problem, method):
    A, B, pairs, v, w, dtype = problem
    operator = SampledKroneckerOperator(A, B, *pairs, method=method)
    rng = np.random.default_rng(len(v))
    out, in_ = rng.random(len(w)) < 0.4, rng.random(len(v)) < 0.4
    part = operator.restrict(out=out, in_=in_)
    matrix = dense_formula(A, B, *pairs)[out][:, in_]
    assert part.shape == matrix.shape
    assert_close(part.matvec(v[in_]), matrix, v[in_], dtype)
    assert_close(part.rmatvec(w[out]), matrix.T, w[out], dtype)
    assert_close(operator.matvec(v), dense_formula(A, B, *pairs), v, dtype)


def square_problem(rng, m, q, n):
    """Symmetric kernels of full rank and pairs that use every vertex."""
    A, B = (gram(rng.standard_normal((size, 4)), kernel="gaussian", gamma=1.0) for size in (m, q))
    rows = np.concatenate([np.arange(n) % m, rng.integers(0, m, n)])
    cols = np.concatenate([np.arange(n) % q, rng.integers(0, q, n)])
    return A, B, rows, cols


@both_carriers
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("m", "q"), [(40, 900), (900, 40), (210, 330)])
def test_blocks_of_many_vertices(rng, method, dtype, m, q):
    # Several panels, blocks of minor vertices and tasks, whose seams a small problem never meets
    A, B, rows, cols = square_problem(rng, m, q, 1000)
    operator = SampledKroneckerOperator(A, B, rows, cols, method=method, dtype=dtype)
    v = rng.standard_normal(len(rows))
    matrix = dense_formula(A.astype(dtype), B.astype(dtype), rows, cols, rows, cols)
    assert_close(operator.matvec(v), matrix, v, dtype)
    X = rng.standard_normal((len(rows), 5))
    assert_close(operator @ X, matrix, X, dtype)


@both_carriers
@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="numba has one thread")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("method", ["sparse", "dense", "lowrank"])
@pytest.mark.parametrize("width", [1, 3])
def test_two_threads_form_the_same_sums(rng, monkeypatch, request, method, dtype, width):
    request.addfinalizer(lambda: numba.set_num_threads(1))
    x, z = rng.uniform(0, 40, (400, 1)), rng.uniform(0, 40, (300, 1))
    A, B = (gram(features, kernel="gaussian", gamma=1.0) for features in (x, z))
    rows, cols = rng.integers(0, 400, 100000), rng.integers(0, 300, 100000)
    X = rng.standard_normal((100000, width))
    operator = SampledKroneckerOperator(A, B, rows, cols, method=method, dtype=dtype)
    assert operator.method == method
    awake = []
    original = type(operator._route).__call__

    def call(route, x):
        awake.append(numba.get_num_threads())
        return original(route, x)

    monkeypatch.setattr(type(operator._route), "__call__", call)
    product, adjoint = operator @ X, operator.T @ X
    numba.set_num_threads(2)
    same, same_adjoint = operator @ X, operator.T @ X
    assert set(awake[: len(awake) // 2]) == {1}
    assert set(awake[len(awake) // 2 :]) == {2}
    # The loops over pairs promise every bit: each sum is formed in one thread, in one order
    np.testing.assert_array_equal(same, product)
    np.testing.assert_array_equal(same_adjoint, adjoint)
    matrix = dense_formula(A.astype(dtype), B.astype(dtype), rows[:50], cols[:50], rows, cols)
    with threadpool_limits(2):
        assert_close((operator @ X)[:50], matrix, X, dtype)


@given(problems())
@settings(max_examples=50, deadline=None)
def test_flops_are_those_of_theorem_1(problem):
    A, B, (rows, cols, in_rows, in_cols), _, _, _ = problem
    operator = SampledKroneckerOperator(A, B, rows, cols, in_rows, in_cols, method="sparse")
    a, c, b, d = (len(np.unique(index)) for index in (rows, cols, in_rows, in_cols))
    # 2016, Remark 1: e and f are the numbers of distinct pairs
    e, f = (len({*zip(*pair, strict=True)}) for pair in ((in_rows, in_cols), (rows, cols)))
    assert operator.flops == 2 * min(a * e + d * f, c * e + b * f)


@both_carriers
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_comes_through(rng, method, bad):
    A, B, rows, cols = square_problem(rng, 40, 30, 500)
    v = np.zeros(len(rows))
    v[3] = bad
    product = SampledKroneckerOperator(A, B, rows, cols, method=method) @ v
    assert not np.isfinite(product).any()  # kernels are positive: each output sees it


@both_carriers
def test_indefinite_matrices_of_low_rank(rng):
    signs = np.diag([1.0, -2.0, 3.0])
    A, B = (F @ signs @ F.T for F in (rng.standard_normal((size, 3)) for size in (90, 80)))
    rows, cols = rng.integers(0, 90, 2000), rng.integers(0, 80, 2000)
    operator = SampledKroneckerOperator(A, B, rows, cols, method="lowrank")
    assert operator.method == "lowrank"
    v = rng.standard_normal(2000)
    assert_close(operator @ v, dense_formula(A, B, rows, cols, rows, cols), v, np.float64)


@pytest.mark.parametrize(
    ("m", "q", "density", "method"),
    [(400, 400, 0.05, "sparse"), (400, 400, 0.95, "dense"), (2000, 30, 0.5, "dense")],
)
def test_auto_takes_the_cheapest_by_counted_operations(rng, m, q, density, method):
    A, B = (F @ F.T for F in (rng.standard_normal((size, size)) for size in (m, q)))
    rows, cols = np.nonzero(rng.random((m, q)) < density)
    operator = SampledKroneckerOperator(A, B, rows, cols)
    costs = {"sparse": 3 * 2 * len(rows) * (m + q), "dense": 2 * m * q * (m + q)}
    assert min(costs, key=costs.get) == method == operator.method


def test_auto_factorizes_where_that_pays(rng):
    x = rng.uniform(0, 5, (400, 1))
    K = gram(x, kernel="gaussian", gamma=1.0)
    rows, cols = rng.integers(0, 400, (2, 40000))
    operator = SampledKroneckerOperator(K, K, rows, cols)
    assert operator.method == "lowrank"
    assert operator._matrices == (None, None)  # the factors are all that is kept
    exact = SampledKroneckerOperator(K, K, rows, cols, method="sparse")
    assert operator.flops < exact.flops / 5
    full_rank = gram(30 * x, kernel="gaussian", gamma=1.0)
    assert SampledKroneckerOperator(full_rank, full_rank, rows, cols).method == "sparse"
    one_sided = SampledKroneckerOperator(full_rank, K, rows, cols)
    assert one_sided.method == "lowrank"
    v = rng.standard_normal(40000)
    expected = SampledKroneckerOperator(full_rank, K, rows, cols, method="sparse") @ v
    assert np.linalg.norm(one_sided @ v - expected) < 1e-10 * np.linalg.norm(expected)


@pytest.mark.parametrize("method", ["sparse", "dense", "lowrank"])
def test_memory_is_that_of_the_pairs_and_the_vertices(rng, method):
    m, n = 300, 20000
    x, z = rng.uniform(0, 20, (2, m, 1))
    A, B = (gram(features, kernel="gaussian", gamma=1.0) for features in (x, z))
    rows, cols = rng.integers(0, m, (2, n))
    v = rng.standard_normal(n)
    tracemalloc.start()
    SampledKroneckerOperator(A, B, rows, cols, method=method) @ v
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * (16 * n + 8 * m * m) < 8 * n * m / 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"row_matrix": np.full((2, 2), np.nan)}, "row_matrix holds NaN"),
        ({"rows": [[0, 1]]}, "rows has 2 dimension"),
        ({"in_rows": [0]}, "one of in_rows and in_cols is missing"),
        ({"in_rows": [0], "in_cols": [5]}, "in_cols holds the index 5"),
        ({"method": "fast"}, "method is 'fast'"),
        ({"dtype": np.int32}, "give float32 or float64"),
    ],
)
def test_bad_input_is_named(change, message):
    arguments = {"row_matrix": np.eye(2), "col_matrix": np.eye(3), "rows": [0, 1], "cols": [0, 1]}
    with pytest.raises(InputError) as caught:
        SampledKroneckerOperator(**{**arguments, **change})
    assert message in str(caught.value)


@pytest.mark.parametrize("method", METHODS)
def test_more_possible_pairs_than_32_bits_count(rng, method):
    m = 70_000  # m^2 > 2^32
    A, B = rng.standard_normal((2, m, 3))
    rows = np.array([m - 1, 0, m - 1, 46341, 7])
    cols = np.array([m - 1, m - 1, 0, 46341, m - 2])
    in_rows, in_cols = rng.integers(0, 3, (2, 4))
    v, w = rng.standard_normal(4), rng.standard_normal(5)
    operator = SampledKroneckerOperator(A, B, rows, cols, in_rows, in_cols, method=method)
    matrix = dense_formula(A, B, rows, cols, in_rows, in_cols)
    assert_close(operator @ v, matrix, v, np.float64)
    assert_close(operator.T @ w, matrix.T, w, np.float64)


def test_more_than_32_bits_number_are_refused():
    # Arrays of one number each, seen many times: nothing of this size is in memory
    many = np.broadcast_to(np.int8(0), 2**31 + 1)
    tall = np.broadcast_to(np.int8(1), (2**31 + 1, 1))
    with pytest.raises(InputError, match="rows is too long: give at most 2147483647 pairs"):
        SampledKroneckerOperator(np.eye(1), np.eye(1), many, many)
    with pytest.raises(InputError, match="rows is too long: give at most"):
        SampledKroneckerOperator(tall, np.eye(1), [2**31], [0], [0], [0])


@pytest.mark.parametrize("method", METHODS)
def test_no_pairs_at_all(method):
    none = np.empty(0, int)
    operator = SampledKroneckerOperator(
        np.eye(2), np.eye(3), [0, 1], [0, 1], none, none, method=method
    )
    np.testing.assert_array_equal(operator @ np.empty(0), [0.0, 0.0])
    assert (operator.T @ np.ones(2)).shape == (0,)
    assert operator.restrict(np.zeros(2, bool), np.zeros(0, bool)).shape == (0, 0)


@pytest.mark.parametrize("method", ["sparse", "dense"])
def test_subnormal_numbers_of_single_precision_are_zero(method):
    """They slow every product down; the matrix that was given stays as it is."""
    given = np.array([[1, 1e-40], [1e-40, 1e-40]], np.float32)
    before = given.copy()
    rows, cols = np.repeat([0, 1], 2), np.tile([0, 1], 2)
    operator = SampledKroneckerOperator(given, np.eye(2, dtype="f4"), rows, cols, method=method)
    v = np.array([1, 2, 3, 4], np.float32)
    np.testing.assert_array_equal(operator @ v, [1, 2, 0, 0])
    np.testing.assert_array_equal(given, before)
