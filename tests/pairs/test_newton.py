import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse.linalg import LinearOperator

from kronbench.errors import InputError
from kronbench.pairs import LOSSES, newton_dual, newton_primal

SEEDS = st.integers(0, 2**32 - 1)
SOLVERS = ["qmr", "cg"]
names, solvers = st.sampled_from(sorted(LOSSES)), st.sampled_from(SOLVERS)
SMOOTH = sorted(set(LOSSES) - {"l1svm"})


def problem(n=40, d=6, seed=0):
    """Features, their Gram matrix, and noisy labels in {-1, 1}."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
    return X, X @ X.T, y


class Restrictable(LinearOperator):
    """Dense operator that counts its products and can be restricted, as the sampled product."""

    def __init__(self, Q, products=None):
        super().__init__(Q.dtype, Q.shape)
        self.Q, self.products = Q, [] if products is None else products

    def _matvec(self, v):
        self.products.append(self.Q.shape)
        return self.Q @ v

    def _rmatvec(self, v):
        self.products.append(self.Q.shape)
        return self.Q.T @ v

    def restrict(self, out, in_):
        return Restrictable(self.Q[np.ix_(out, in_)], self.products)


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(SMOOTH), solvers, st.integers(1, 25), st.floats(1e-2, 1e2), SEEDS)
def test_steps_solve_equation_9(loss, solver, n, reg, seed):
    """With enough inner iterations each step is the dense one: the active set equals the full
    system, and so do the products in the inner product of Q."""
    X, Q, y = problem(n, d=4, seed=seed)
    iterates = []
    newton_dual(Q, LOSSES[loss], y, reg, max_iter=3, max_inner=400, tol=1e-13,
                solver=solver,
                callback=lambda state: iterates.append(state.coef.copy()))  # fmt: skip
    a = np.zeros(n)
    for iterate in iterates:
        p = Q @ a
        H = np.column_stack([LOSSES[loss].hessian_product(p, y, e) for e in np.eye(n)])
        rhs = LOSSES[loss].gradient(p, y) + reg * a
        a = a - np.linalg.solve(H @ Q + reg * np.eye(n), rhs)
        # "cg" leaves the null space of Q alone
        seen, expected = (iterate, a) if solver != "cg" else (X.T @ iterate, X.T @ a)
        np.testing.assert_allclose(seen, expected, rtol=1e-5, atol=1e-6 * (1 + np.abs(a).max()))
        a = iterate  # the next active set is decided on equal predictions


@settings(deadline=None, max_examples=60)
@given(names, solvers, st.integers(1, 30), st.integers(1, 8), st.floats(1e-3, 1e3), SEEDS)
def test_line_search_never_raises_the_objective(loss, solver, n, max_inner, reg, seed):
    _, Q, y = problem(n, d=5, seed=seed)
    options = dict(max_iter=8, max_inner=max_inner, solver=solver, line_search=True)
    result = newton_dual(Q, LOSSES[loss], y, reg, **options)
    path = [LOSSES[loss].value(np.zeros(n), y), *result.objective_path]
    assert (np.diff(path) <= 1e-9 * path[0]).all()
    np.testing.assert_allclose(result.scores, Q @ result.coef, atol=1e-7)
    if len(result.objective_path):
        p = Q @ result.coef
        expected = LOSSES[loss].value(p, y) + 0.5 * reg * (result.coef @ p)
        np.testing.assert_allclose(result.objective_path[-1], expected, rtol=1e-8, atol=1e-12)


@settings(deadline=None, max_examples=30)
@given(st.sampled_from(SMOOTH), st.integers(2, 30), st.integers(1, 4), SEEDS)
def test_truncated_dual_cg_is_the_truncated_primal_cg(loss, n, max_inner, seed):
    X, Q, y = problem(n, d=5, seed=seed)
    options = dict(solver="cg", max_iter=3, max_inner=max_inner, line_search=True)
    dual = newton_dual(Q, LOSSES[loss], y, 0.1, **options)
    primal = newton_primal(X, LOSSES[loss], y, 0.1, **options)
    np.testing.assert_allclose(dual.scores, primal.scores, atol=1e-6)


@pytest.mark.parametrize(("solver", "per_step"), [("qmr", 2 * 4), ("cg", 4 + 1)])
def test_number_of_products(solver, per_step):
    _, Q, y = problem()
    operator = Restrictable(Q)
    newton_dual(operator, LOSSES["logistic"], y, 0.1, solver=solver,
                max_iter=3, max_inner=4, line_search=True)  # fmt: skip
    assert len(operator.products) == 3 * per_step


@pytest.mark.parametrize("solver", SOLVERS)
def test_products_of_the_active_set_give_the_same_iterates(solver):
    """On the active pairs and one direction for all others the iterations are those on all pairs:
    also where coefficients of others are not zero, as after truncated steps."""
    _, Q, y = problem(n=200, d=10, seed=3)
    Q = (Q + 1) ** 2
    operator = Restrictable(Q)
    options = dict(solver=solver, max_iter=10, max_inner=6)
    restricted = newton_dual(operator, LOSSES["l2svm"], y, 0.1, **options)
    plain = newton_dual(Q, LOSSES["l2svm"], y, 0.1, **options)
    np.testing.assert_allclose(restricted.coef, plain.coef, rtol=1e-9, atol=1e-9)
    sizes = [shape[0] for shape in operator.products]
    assert min(sizes) < 100
    assert max(sizes) == 200


def test_a_step_that_cannot_be_found_ends_the_iterations():
    swap = np.array([[0.0, 1.0], [-1.0, 0.0]])  # no kernel: the two-sided Lanczos breaks down
    result = newton_dual(swap, LOSSES["ridge"], np.array([1.0, 0.0]), 1e-30)
    assert result.stop == "breakdown"
    assert not len(result.objective_path)
    Q = np.diag([1.0, 1e200])
    result = newton_dual(Q, LOSSES["ridge"], np.array([1e200, 1e200]), 1e-9, max_inner=1)
    assert result.stop in ("breakdown", "diverged")


@pytest.mark.parametrize("loss", ["ridge", "l2svm", "logistic"])
@pytest.mark.parametrize("reg", [1e-4, 1.0])
@pytest.mark.parametrize("scale", [1.0, 1e3, 1e6])
def test_what_rounding_hides_is_no_end_by_the_tolerance(loss, reg, scale, rng):
    X = rng.standard_normal((80, 9)) * np.where(np.arange(9) < 3, scale, 1)
    y = np.sign(rng.standard_normal(80))
    options = dict(solver="cg", max_iter=200, max_inner=2000, line_search=True)
    best = newton_primal(X, LOSSES[loss], y, reg, tol=1e-14, **options).objective_path[-1]
    found = newton_dual(X @ X.T, LOSSES[loss], y, reg, tol=1e-9, **options)
    off = found.objective_path[-1] / best - 1
    if found.stop == "tol":
        assert off < 1e-4
    if scale == 1:
        assert found.stop == "tol"
        assert off < 1e-9
    if scale == 1e6 and reg == 1e-4:
        assert found.stop == "rounding"


@pytest.mark.parametrize("loss", ["ridge", "l2svm", "logistic"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_large_column_does_not_end_the_primal_form(loss, solver, rng):
    X = rng.standard_normal((80, 9)) * np.where(np.arange(9) < 1, 1e5, 1)
    y = np.sign(X[:, 1] + rng.standard_normal(80))
    options = dict(solver=solver, max_iter=100, max_inner=100, line_search=True)
    best = newton_dual(X @ X.T, LOSSES[loss], y, 1.0, **options | {"solver": "qmr"}, tol=1e-9)
    found = newton_primal(
        X, LOSSES[loss], y, 1.0, **options, tol=1e-4, diagonal=lambda h: (X**2).T @ h
    )
    assert found.stop == "tol"
    np.testing.assert_allclose(found.scores, best.scores, atol=0.02)
    # the bound by reg alone is kept without the diagonal
    bound = newton_primal(X, LOSSES[loss], y, 1.0, **options, tol=1e-4)
    assert bound.stop == "tol"
    np.testing.assert_allclose(bound.scores, best.scores, atol=0.02)


def test_a_loose_tolerance_is_kept_where_columns_are_of_one_size():
    X, _, y = problem(n=200, d=10, seed=3)
    loss, sizes = LOSSES["logistic"], []

    def observe(state):
        gradient = X.T @ loss.gradient(state.scores, y) + 1e-3 * state.coef
        sizes.append(np.linalg.norm(gradient))

    for tol in (1e-2, 1e-4):
        sizes[:] = [np.linalg.norm(X.T @ y / 2)]
        options = dict(max_iter=20, max_inner=100, tol=tol, diagonal=lambda h: (X**2).T @ h)
        assert newton_primal(X, loss, y, 1e-3, callback=observe, **options).stop == "tol"
        below = np.array(sizes) <= tol * sizes[0]
        assert below.tolist() == [False] * (len(sizes) - 1) + [True]


def test_clear_errors():
    X, Q, y = problem()
    loss = LOSSES["l2svm"]
    for call, message in (
        (lambda: newton_dual(Q, loss, y, 0), "reg=0"),
        (lambda: newton_primal(X, loss, y, -1), "reg=-1"),
        (lambda: newton_dual(Q, loss, y, 1.0, solver="gmres"), "qmr, cg"),
        (lambda: newton_dual(X, loss, y, 1.0), "square"),
        (lambda: newton_dual(Q, loss, y[1:], 1.0), r"y has shape \(39,\)"),
        (lambda: newton_dual(-Q, loss, y, 1.0, solver="cg"), "not positive semidefinite"),
    ):
        with pytest.raises(InputError, match=message):
            call()
