import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse import linalg as scipy_linalg
from scipy.sparse.linalg import LinearOperator

from kronbench.errors import InputError
from kronbench.linalg import cg, minres, multishift_minres, qmr

SEEDS = st.integers(0, 2**32 - 1)


def matrix(kind, n, seed):
    """Matrix with eigenvalues spread over two orders of magnitude, and a right-hand side."""
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.standard_normal((n, n)))
    values = np.geomspace(0.1, 10, n)
    if kind == "indefinite":
        values *= rng.choice([-1, 1], n)
    A = basis * values @ basis.T
    if kind == "nonsymmetric":
        A = rng.uniform(0.1, 2, n)[:, None] * A + 0.1 * np.eye(n)
    return A, rng.standard_normal(n)


def counting(A, b):
    """Operator of A and the list of its products so far."""
    products = []

    def apply(A, v):
        products.append(v)
        return A @ v

    n = len(b)
    operator = LinearOperator(
        (n, n), matvec=lambda v: apply(A, v), rmatvec=lambda v: apply(A.T, v), dtype=b.dtype
    )
    return operator, products


@pytest.mark.parametrize(
    ("solver", "kind", "n_products"),
    [("minres", "indefinite", 15), ("cg", "definite", 15), ("qmr", "nonsymmetric", 29)],
)
def test_iterates_are_scipys_and_residuals_are_true(solver, kind, n_products):
    A, b = matrix(kind, 40, seed=0)
    operator, products = counting(A, b)
    iterates, deviations = [], []

    def observe(x, residual):
        iterates.append(x.copy())
        deviations.append(np.abs(b - A @ x - residual).max())

    result = {"minres": minres, "cg": cg, "qmr": qmr}[solver](
        operator, b, tol=0, max_iter=15, callback=observe, verify=False
    )
    theirs = []
    getattr(scipy_linalg, solver)(
        A, b, rtol=1e-30, maxiter=15, callback=lambda x: theirs.append(x.copy())
    )
    np.testing.assert_allclose(iterates, theirs, atol=1e-9)
    assert max(deviations) < 1e-12
    assert len(products) == n_products
    assert result.n_iter == 15
    np.testing.assert_array_equal(result.x, iterates[-1])


def test_left_vectors_of_a_symmetric_matrix_are_the_right_ones():
    A, b = matrix("indefinite", 30, 5)
    operator, products = counting(A, b)
    found = qmr(operator, b, max_iter=12, verify=False, symmetric=True)
    assert len(products) == found.n_iter == 12
    both = LinearOperator(A.shape, matvec=lambda v: A @ v, rmatvec=lambda v: A @ v)
    np.testing.assert_array_equal(found.x, qmr(both, b, max_iter=12, verify=False).x)


def test_minres_of_a_singular_system():
    A = np.diag([2.0, 1.0, 0.0])
    consistent = minres(A, np.array([2.0, 1.0, 0.0]))
    np.testing.assert_allclose(consistent.x, [1, 1, 0], atol=1e-12)
    nothing_to_gain = minres(A, np.array([0.0, 0.0, 3.0]))
    np.testing.assert_array_equal(nothing_to_gain.x, [0, 0, 0])
    np.testing.assert_array_equal(nothing_to_gain.residual, [0, 0, 3])


@pytest.mark.parametrize("solve", [minres, cg, qmr, lambda A, b: multishift_minres(A, b, [1.0])])
def test_shapes_that_do_not_fit(solve):
    with pytest.raises(InputError, match=r"\(3, 3\)"):
        solve(np.eye(3), np.ones(4))
    with pytest.raises(InputError, match=r"\(3, 4\)"):
        solve(np.ones((3, 4)), np.ones(3))


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 60), st.sampled_from([1e-3, 1.0, 1e6]), SEEDS)
def test_one_lanczos_run_gives_every_shift(n, scale, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, n)) * np.geomspace(1, 1e-3, n)
    A, b = scale * X @ X.T, rng.standard_normal(n)
    operator, products = counting(A, b)
    shifts = 2.0 ** np.arange(-20, 21)
    path = multishift_minres(operator, b, shifts, tol=0, max_iter=30)
    assert len(products) == path.n_iter <= 30
    for j, shift in enumerate(shifts):
        separate = []
        minres(A, b, shift=shift, tol=0, max_iter=30,
               callback=lambda x, r, seen=separate: seen.append(x.copy()))  # fmt: skip
        for k, x in enumerate(separate):
            np.testing.assert_allclose(
                path.iterate(j, k), x, rtol=1e-6, atol=1e-7 * np.linalg.norm(x)
            )


def test_multishift_forms_images_and_residuals(rng):
    X = rng.standard_normal((120, 120)) * np.geomspace(1, 1e-4, 120)
    A, b, B = X @ X.T, rng.standard_normal(120), rng.standard_normal((7, 120))
    shifts = np.array([1e-4, 1.0, 1e4])
    # long enough that the Lanczos vectors are far from orthogonal
    path = multishift_minres(A, b, shifts, tol=0, max_iter=100)
    assert np.abs(path.basis @ path.basis.T - np.eye(101)).max() > 0.1
    np.testing.assert_allclose(path.basis[:-1] @ A, path.tridiagonal.T @ path.basis, atol=1e-11)
    xAx, error_squared, _ = path.quadratic_forms()
    basis_images = path.basis[:-1] @ B.T
    for j, shift in enumerate(shifts):
        images = path.coefficients[j] @ basis_images
        for k in (0, 5, 40, 99):
            x = path.iterate(j, k)
            np.testing.assert_allclose(xAx[j, k], x @ A @ x, rtol=1e-9)
            np.testing.assert_allclose(error_squared[j, k], np.sum((A @ x - b) ** 2), rtol=1e-8)
            np.testing.assert_allclose(images[k], B @ x, atol=1e-9 * np.linalg.norm(x))
            residual = np.linalg.norm(b - A @ x - shift * x)
            np.testing.assert_allclose(path.residual_norms[j, k], residual, atol=1e-10)


@settings(deadline=None, max_examples=200)
@given(st.sampled_from([minres, cg, qmr]), st.integers(0, 4), st.integers(1, 6), SEEDS)
def test_what_is_said_to_be_solved_is_solved(solve, kind, n, seed):
    """Systems on which recurrences break down, nearly or at all, or lose the residual."""
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(n, n)), rng.integers(-2, 3, n).astype(float)
    noise = 10.0 ** -rng.integers(5, 20) * A
    if kind == 0:
        A = rng.integers(-2, 3, (n, n)).astype(float)
    elif kind == 1:
        A = A - A.T + noise
    elif kind == 2:
        A = np.roll(np.eye(n), 1, 0) + noise
    elif kind == 3:
        U, _, V = np.linalg.svd(A)
        A = U * np.geomspace(1, 10.0 ** -rng.integers(1, 18), n) @ V
    if solve is not qmr:
        A = A + A.T
    result = solve(A, b, max_iter=200)
    assert result.stop in ("tol", "max_iter", "breakdown", "rounding")
    if result.stop == "tol":
        assert np.linalg.norm(b - A @ result.x) <= 2e-8 * np.linalg.norm(b)
    if result.stop in ("tol", "rounding"):
        np.testing.assert_allclose(result.residual, b - A @ result.x, atol=1e-6)


@pytest.mark.parametrize("solve", [minres, cg, qmr])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_lost_recurrence_is_found_out_however_it_ends(solve, dtype, rng):
    """Unscaled products of features: the condition is 1e13, and recurrences leave the system."""
    D, T = rng.uniform(150, 500, (30, 2)), rng.uniform(100, 900, (20, 2))
    X = np.kron(D, T).astype(dtype)
    b, A = rng.standard_normal(600).astype(dtype), X @ X.T + np.eye(600, dtype=dtype)
    seen = []

    def stop_at(last):
        return lambda x, residual: seen.append(x.copy()) or len(seen) == last

    for options, stops in (
        ({}, ("rounding",)),
        ({"callback": stop_at(90)}, ("rounding",)),
        ({"max_iter": 3}, ("max_iter", "rounding")),
    ):
        found = solve(A, b, tol=0, **options)
        assert found.stop in stops
        true = b - A.astype(float) @ found.x
        assert np.linalg.norm(true - found.residual) <= 2e-3 * np.linalg.norm(b)
    assert len(seen) <= 90  # what is made anew is not shown again


def test_breakdown_is_no_solution():
    rotation = np.array([[0.0, 1.0], [-1.0, 0.0]])
    for noise in (0.0, 1e-17, 1e-16):
        result = qmr(rotation + noise, np.array([1.0, 0.0]))
        assert result.stop == "breakdown"
        assert result.n_iter == 0
        np.testing.assert_array_equal(result.residual, [1, 0])
    assert cg(-np.eye(2), np.ones(2)).stop == "breakdown"
    assert minres(np.diag([1.0, 0.0]), np.ones(2)).stop != "tol"
    # what the recurrence reached is not the residual where A is singular in double precision
    U, _, V = np.linalg.svd(np.random.default_rng(0).normal(size=(4, 4)))
    A = U * np.geomspace(1, 1e-16, 4) @ V
    assert qmr(A, np.ones(4), max_iter=500).stop != "tol"


@pytest.mark.parametrize("solve", [minres, cg, qmr])
def test_reasons_to_stop_and_precision(solve):
    A, b = matrix("definite", 30, seed=1)
    assert solve(A, b, max_iter=3).stop == "max_iter"
    ended, zero = solve(A, b, callback=lambda x, r: True), solve(A, np.zeros(30))
    assert (ended.stop, ended.n_iter, zero.stop, zero.n_iter) == ("callback", 1, "tol", 0)
    assert not zero.x.any()
    loose = solve(A, b, tol=1e-2, max_iter=500)
    assert loose.stop == "tol"
    assert np.linalg.norm(b - A @ loose.x) <= 1e-2 * np.linalg.norm(b)
    assert loose.n_iter < solve(A, b, tol=1e-6, max_iter=500).n_iter
    single = solve(A.astype(np.float32), b.astype(np.float32), tol=1e-5, max_iter=200)
    assert single.x.dtype == np.float32
    assert np.linalg.norm(b - A @ single.x) < 1e-3 * np.linalg.norm(b)
    with pytest.raises(InputError, match="b holds NaN"):
        solve(A, np.full(30, np.nan))
