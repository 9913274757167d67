from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge

from kronbench import PairData
from kronbench.errors import InputError
from kronbench.models import KronRidge
from kronbench.pairs import sparse_design
from tests.models.kron_problems import (
    dense_gram,
    gaussian,
    linear,
    product_features,
    random_labels,
    random_pairs,
    seeds,
    sizes,
)

GAUSSIAN = dict(row_kernel="gaussian", col_kernel="gaussian", row_gamma=0.5, col_gamma=0.2)


@settings(deadline=None, max_examples=40)
@given(sizes, seeds, st.floats(1e-2, 1e2))
def test_dual_is_the_dense_solution(size, seed, reg):
    X, y = random_pairs(*size, seed), random_labels(size[2], seed)
    Q = dense_gram(X, X, gaussian(0.5), gaussian(0.2))
    model = KronRidge(reg=reg, max_iter=1000, tol=1e-12, **GAUSSIAN).fit(X, y)
    theirs = KernelRidge(alpha=reg, kernel="precomputed").fit(Q, y)
    np.testing.assert_allclose(model.dual_coef_, theirs.dual_coef_, atol=1e-6)
    new = random_pairs(4, 3, 7, seed + 1)
    Q_new = dense_gram(new, X, gaussian(0.5), gaussian(0.2))
    np.testing.assert_allclose(model.predict(new), theirs.predict(Q_new), atol=1e-6)


@pytest.mark.parametrize("form", ["dual", "primal"])
def test_objective_path_and_callback(form):
    X, y = random_pairs(6, 5, 25, seed=0), random_labels(25, seed=0)
    Q, features = dense_gram(X, X, linear, linear), product_features(X)
    seen = []

    def observe(state):
        coef, p = state.coef, state.scores
        np.testing.assert_allclose((Q if form == "dual" else features) @ coef, p, atol=1e-10)
        norm_squared = coef @ Q @ coef if form == "dual" else coef @ coef
        risk = 0.5 * np.sum((p - y) ** 2) + 0.5 * 0.1 * norm_squared
        np.testing.assert_allclose(state.objective, risk, rtol=1e-10)
        seen.append(state.objective)
        return state.n_iter == 4

    model = KronRidge(form=form, reg=0.1).fit(X, y, callback=observe)
    assert model.n_iter_ == 4
    np.testing.assert_allclose(model.objective_path_, seen, rtol=1e-12)
    stopped = KronRidge(form=form, reg=0.1, solver="minres", max_iter=4).fit(X, y)
    np.testing.assert_array_equal(stopped.objective_path_, model.objective_path_)


@settings(deadline=None, max_examples=15)
@pytest.mark.parametrize("form", ["dual", "primal"])
@given(size=sizes, seed=seeds)
def test_path_is_the_separate_fits(form, size, seed):
    X, y = random_pairs(*size, seed), random_labels(size[2], seed)
    new = random_pairs(4, 3, 7, seed + 1)
    regs = 2.0 ** np.array([-10, -5, 0, 5, 10])
    options = dict(form=form, solver="minres", max_iter=20, tol=0, **GAUSSIAN)
    path = KronRidge(**options).path(X, y, regs, X_test=new)
    assert path.objective.shape == (5, path.solutions.n_iter)
    for j, reg in enumerate(regs):
        model = KronRidge(reg=reg, **options).fit(X, y)
        k = min(model.n_iter_, path.solutions.n_iter)
        np.testing.assert_allclose(
            path.objective[j, :k], model.objective_path_[:k], rtol=1e-6, atol=1e-9
        )
        found = path.solutions.iterate(j, path.last[j])
        coef = model.dual_coef_ if form == "dual" else model.coef_
        np.testing.assert_allclose(found, coef, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(path.test_scores(j)[-1], model.predict(new), atol=1e-6)


def test_dense_products_bring_the_scores_of_test_pairs_along():
    X, y = random_pairs(20, 20, 200, seed=0, d=8, r=8), random_labels(200, seed=0)
    train, test, regs = X[:150], X[150:], [0.1, 10.0]
    options = dict(row_effect=0.5, max_iter=20, tol=0, **GAUSSIAN)
    expected = KronRidge(product="sparse", **options).path(train, y[:150], regs, test)
    found = KronRidge(product="dense", **options).path(train, y[:150], regs, test)
    for j in range(2):
        np.testing.assert_allclose(found.test_scores(j), expected.test_scores(j), atol=1e-8)


def test_dense_products_know_equal_features_but_not_vertices_of_other_names(monkeypatch):
    X, y = random_pairs(20, 20, 200, seed=0, d=8, r=8), random_labels(200, seed=0)
    X.row_ids = X.col_ids = tuple(map(str, range(20)))
    model = KronRidge(product="dense", row_effect=0.5, max_iter=20, tol=0, **GAUSSIAN)
    with_test, gram_operator = [], KronRidge._gram_operator

    def seen(self, X, other=None):
        with_test.append(0 if other is None else len(other))
        return gram_operator(self, X, other)

    monkeypatch.setattr(KronRidge, "_gram_operator", seen)
    equal = X[150:].with_features(X.row_features.copy(), X.col_features.copy())
    paths = [model.path(X[:150], y[:150], [0.1], test) for test in (X[150:], equal)]
    assert with_test == [0, 200, 0, 200]  # in one product with the training pairs
    np.testing.assert_array_equal(paths[0].test_scores(0), paths[1].test_scores(0))
    others = X[150:].with_features(X.row_features.copy(), X.col_features)
    others.row_ids = tuple(f"new {i}" for i in range(20))
    found = model.path(X[:150], y[:150], [0.1], others)
    expected = model.set_params(reg=0.1, solver="minres").fit(X[:150], y[:150]).predict(others)
    np.testing.assert_allclose(found.test_scores(0)[-1], expected, atol=1e-8)
    assert not np.allclose(expected, model.predict(equal))


def test_path_makes_the_products_of_one_run(monkeypatch):
    X, y = random_pairs(20, 20, 200, seed=0, d=8, r=8), random_labels(200, seed=0)
    model = KronRidge(solver="minres", max_iter=25, tol=0)
    operator, products = model.prediction_operator(X), []
    matvec = operator.matvec
    operator.matvec = lambda v: products.append(1) or matvec(v)
    monkeypatch.setattr(KronRidge, "_gram_operator", lambda self, X: operator)
    model.path(X, y, 2.0 ** np.arange(-20, 21))
    assert len(products) == 25


def test_one_pair():
    X = PairData([[2.0]], [[3.0]], [0], [0])
    model = KronRidge(reg=4.0).fit(X, [5.0])
    np.testing.assert_allclose(model.dual_coef_, [5 / (36 + 4)])
    np.testing.assert_allclose(model.predict(X), [36 * 5 / 40])
    for solver, n_iter in (("auto", 1), ("minres", 0)):
        zero = KronRidge(solver=solver).fit(X, [0.0])
        assert zero.n_iter_ == n_iter
        np.testing.assert_array_equal(zero.predict(X), [0])


def test_clear_errors():
    X, y = random_pairs(6, 5, 25, seed=0), random_labels(25, seed=0)
    cases = [
        (lambda: KronRidge().fit(X, np.full(25, "a")), "give numbers"),
        (lambda: KronRidge().path(X, y, [1.0, -1.0]), "regs=-1"),
        (lambda: KronRidge().path(X, y, []), "at least one weight"),
        (lambda: KronRidge().path(X, y, ["a"]), "give positive numbers"),
        (lambda: KronRidge(form="primal", row_kernel="gaussian").fit(X, y), "gamma"),
        (lambda: KronRidge(form="primal", row_kernel="precomputed").fit(X, y), r"\(6, 3\)"),
        (lambda: KronRidge(row_kernel="gaussian").fit(X, y), "gamma"),
        (lambda: KronRidge(col_kernel="precomputed").fit(X, y), r"col_features .* \(5, 2\)"),
        (lambda: KronRidge().path(X, y, [1.0]).test_scores(0), "X_test"),
    ]
    for call, message in cases:
        with pytest.raises(InputError, match=message):
            call()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("solver", ["auto", "minres"])
def test_unscaled_features_are_solved_or_the_solution_is_doubted(solver, dtype):
    rng = np.random.default_rng(0)
    D, T = (
        rng.uniform(150, 500, (30, 2)).astype(dtype),
        rng.uniform(100, 900, (20, 2)).astype(dtype),
    )
    X, y = PairData.complete(D, T), np.random.default_rng(0).standard_normal(600)
    features = np.kron(D.astype(float), T.astype(float))
    errors = y - features @ np.linalg.lstsq(features, y, rcond=None)[0]  # reg is nothing to 1e10
    if solver == "auto":
        model = KronRidge().fit(X, y)
        np.testing.assert_allclose(y - model.predict(X), errors, atol=1e-3)
        assert model.noise_variance_ == pytest.approx(errors @ errors / 600, rel=1e-3)
        np.testing.assert_allclose(model.dual_coef_, errors, atol=1e-3)
    else:
        with pytest.warns(ConvergenceWarning, match="ended by rounding"):
            model = KronRidge(solver="minres").fit(X, y)
        # the empty model has y'y / 2
        assert np.sum((y - model.predict(X)) ** 2) < 1.01 * y @ y
    assert len(model.objective_path_) == model.n_iter_
    risk = 0.5 * np.sum((y - model.predict(X)) ** 2)
    assert model.objective_path_[-1] == pytest.approx(risk, rel=0.05)


def test_a_path_says_how_each_weight_ended():
    rng = np.random.default_rng(0)
    D, T = rng.uniform(150, 500, (30, 2)), rng.uniform(100, 900, (20, 2))
    X, y = PairData.complete(D, T), np.random.default_rng(0).standard_normal(600)
    with pytest.warns(ConvergenceWarning, match="1 of 2 weights, up to reg=1e-06"):
        path = KronRidge(solver="minres").path(X, y, [1e-6, 1e10], X)
    assert path.stop_reasons == ("rounding", "tol")
    assert np.abs(path.final_test_scores(1e-8)).max() < 5  # 1e13 after 100 iterations
    best = KronRidge().path(X, y, [1e-6, 1e10], X)
    assert best.stop_reasons == ("tol", "tol")
    np.testing.assert_allclose(path.final_test_scores(1e-8)[1], best.test_scores(1)[-1], atol=1e-5)


def test_products_that_are_too_large_are_no_solution():
    X = PairData.complete(np.eye(3) * 1e160, np.eye(3))
    fitted = KronRidge(form="primal").fit(X, np.arange(9.0))
    np.testing.assert_allclose(fitted.predict(X), np.arange(9.0))
    with np.errstate(all="ignore"), pytest.warns(ConvergenceWarning, match="rounding"):
        lost = KronRidge(form="primal", solver="minres").fit(X, np.arange(9.0))
    assert np.isfinite(lost.predict(X)).all()
    with pytest.raises(InputError, match="scale the features"):
        KronRidge().fit(PairData.complete(np.eye(3) * 1e160, np.eye(3) * 1e160), np.arange(9.0))


def test_the_form_is_that_of_fewer_operations_where_the_optimum_is_asked():
    rng = np.random.default_rng(0)
    narrow = rng.standard_normal((400, 18)), rng.standard_normal((100, 17))
    i, j = np.divmod(rng.permutation(40000)[:20000], 100)
    y = rng.standard_normal(20000)
    X, new = PairData(*narrow, i, j), PairData.complete(*narrow)
    auto, dual = (KronRidge(reg=30.0, **form).fit(X, y) for form in ({}, {"form": "dual"}))
    assert hasattr(auto, "coef_")
    assert not hasattr(dual, "coef_")
    assert auto.is_primal(X)
    assert not dual.is_primal(X)
    np.testing.assert_allclose(auto.predict(new), dual.predict(new), atol=1e-6)
    np.testing.assert_allclose(auto.dual_coef_, dual.dual_coef_, atol=1e-6)
    np.testing.assert_allclose(auto.predict_std(new[:5]), dual.predict_std(new[:5]), atol=1e-6)
    path = KronRidge().path(X, y, [30.0], new)
    np.testing.assert_allclose(path.final_test_scores(1e-8)[0], dual.predict(new), atol=1e-5)
    # early stopping hangs on the form, and kernels and effects have no given features
    others = dict(solver="minres"), GAUSSIAN, dict(row_effect=1.0), dict(pairwise="linear")
    assert not any(KronRidge(**options).is_primal(X) for options in others)
    wide = PairData(rng.standard_normal((400, 900)), rng.standard_normal((100, 800)), i, j)
    assert not KronRidge().is_primal(wide)


@pytest.mark.parametrize("bits", [np.asarray, sparse.csr_array], ids=["dense", "bits"])
def test_a_path_of_bits_is_that_of_their_kernel_with_a_test_product_a_weight(bits, monkeypatch):
    rng = np.random.default_rng(1)
    B, T = (rng.random((60, 40)) < 0.2).astype(float), rng.standard_normal((30, 12))
    i, j = np.divmod(rng.permutation(1800)[:900], 30)
    y, regs = rng.standard_normal(900), [1.0, 30.0, 1e3]
    X, new = PairData(bits(B), T, i, j), PairData.complete(bits(B[::7]), T)
    primal, dual = (KronRidge(form=form, max_iter=900) for form in ("primal", "dual"))
    expected = dual.path(PairData(B, T, i, j), y, regs, PairData.complete(B[::7], T))
    monkeypatch.setattr(sparse_design, "LIST_OPERATION", 0)  # bits stay bits
    path, made = primal.path(X, y, regs, new), []
    counted = LinearOperator(
        path.test_operator.shape,
        matvec=lambda w: made.append(1) or path.test_operator.matvec(w),
        dtype=float,
    )
    found = replace(path, test_operator=counted).final_test_scores(1e-8)
    assert len(made) == len(regs)  # not one an iteration
    np.testing.assert_allclose(found, expected.final_test_scores(1e-8), atol=1e-6)
    for k in range(len(regs)):
        np.testing.assert_allclose(path.test_scores(k)[-1], found[k], atol=1e-6)
        np.testing.assert_allclose(path.objective[k, -1], expected.objective[k, -1], rtol=1e-8)


def test_a_path_without_iterations_keeps_what_it_promises():
    X, y = random_pairs(6, 5, 25, seed=0), random_labels(25, seed=0)
    Q, regs = dense_gram(X, X, linear, linear), [0.1, 3.0]
    path = KronRidge().path(X, y, regs, X)
    assert path.solutions.n_iter == 1
    for j, reg in enumerate(regs):
        a = np.linalg.solve(Q + reg * np.eye(25), y)
        np.testing.assert_allclose(path.solutions.iterate(j), a, atol=1e-9)
        np.testing.assert_allclose(path.test_scores(j), [Q @ a], atol=1e-9)
        np.testing.assert_allclose(path.final_test_scores(1e-8)[j], Q @ a, atol=1e-9)
        risk = 0.5 * np.sum((y - Q @ a) ** 2) + 0.5 * reg * a @ Q @ a
        np.testing.assert_allclose(path.objective[j], [risk])
    assert not hasattr(path.solutions, "quadratic_forms")  # those of a Krylov space


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_labels_whose_squares_are_no_numbers_are_refused_by_iterations(size):
    X, y = random_pairs(6, 5, 25, seed=0), random_labels(25, seed=0)
    expected = KronRidge().fit(X, y).predict(X)
    if size < 1:  # no iterations, no squares that matter
        np.testing.assert_allclose(KronRidge().fit(X, y * size).predict(X) / size, expected)
    for call in (
        lambda: KronRidge(solver="minres").fit(X, y * size),
        lambda: KronRidge(solver="minres").path(X, y * size, [1.0]),
        lambda: KronRidge(solver="minres", form="primal").fit(X, y * size),
    ):
        with pytest.raises(InputError, match=r"labels .* scale them"):
            call()
