import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from sklearn.svm import LinearSVC

from kronbench import PairData
from kronbench.errors import InputError
from kronbench.models import KronNewton, KronSVM
from kronbench.solvers import scores_of
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

SOLVERS = ["qmr", "cg"]
SMOOTH = ["ridge", "l2svm", "logistic", "rankrls"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_svm_is_the_squared_hinge_svm_on_product_features(solver):
    X = random_pairs(12, 10, 60, seed=0, d=4, r=3)
    y = np.where(X.row_features[X.rows, 0] + 0.1 * random_labels(60, 0) > 0, 1.0, -1.0)
    features = product_features(X)
    theirs = LinearSVC(C=1 / (2 * 0.5), fit_intercept=False, tol=1e-10, max_iter=10**5)
    theirs.fit(features, y)
    options = dict(reg=0.5, max_iter=50, max_inner=100, solver=solver, tol=1e-10)
    primal = KronSVM(form="primal", line_search=True, **options).fit(X, y)
    np.testing.assert_allclose(primal.coef_, theirs.coef_[0], atol=1e-5)
    dual = KronSVM(line_search=True, **options).fit(X, y)
    np.testing.assert_allclose(scores_of(dual, X), scores_of(theirs, features), atol=1e-5)
    np.testing.assert_array_equal(dual.predict(X), theirs.predict(features))


def wave(A, B):
    """A kernel that is neither linear nor Gaussian."""
    return np.cos(A[:, :1] - B[:, :1].T)


KERNELS = [{}, {"row_kernel": "gaussian", "row_gamma": 0.5, "col_kernel": wave}]


@pytest.mark.parametrize("kernels", KERNELS, ids=["linear", "others"])
@settings(deadline=None, max_examples=40)
@given(st.sampled_from(SMOOTH), st.sampled_from([*SOLVERS, "pcg"]), sizes, seeds)
def test_primal_is_the_dual_with_features_of_any_kernels(kernels, loss, solver, size, seed):
    X, y = random_pairs(*size, seed), random_labels(size[2], seed)
    new = random_pairs(4, 3, 7, seed + 1)
    options = dict(loss=loss, reg=0.5, max_iter=40, max_inner=100, tol=1e-10, **kernels)
    dual = KronNewton(solver="qmr" if solver == "pcg" else solver, **options).fit(X, y)
    primal = KronNewton(solver=solver, form="primal", **options).fit(X, y)
    # the wave has two features, and so have columns
    assert len(primal.coef_) <= (len(np.unique(X.rows)) if kernels else 3) * 2
    np.testing.assert_allclose(scores_of(dual, new), scores_of(primal, new), atol=1e-5)


def test_a_precomputed_kernel_has_features_too():
    X, y = random_pairs(7, 6, 30, seed=0), random_labels(30, seed=0)
    new = random_pairs(4, 3, 7, seed=1)
    options = dict(form="primal", solver="pcg", reg=0.5, max_iter=20, max_inner=50)
    kernel = gaussian(0.5)
    expected = KronSVM(row_kernel="gaussian", row_gamma=0.5, **options).fit(X, y)
    given = X.with_features(kernel(X.row_features, X.row_features), X.col_features)
    others = new.with_features(kernel(new.row_features, X.row_features), new.col_features)
    model = KronSVM(row_kernel="precomputed", **options).fit(given, y)
    np.testing.assert_allclose(scores_of(model, others), scores_of(expected, new), atol=1e-8)


@settings(deadline=None, max_examples=40)
@given(st.sampled_from([*SOLVERS, "pcg"]), sizes, seeds)
@example("pcg", (4, 3, 4), 4)  # the residual ends at 1e-163, whose square is no number
def test_iterated_ridge_filters_the_residual_once_a_step(solver, size, seed):
    """y - p after t steps is (reg (Q + reg I)^-1)^t y."""
    X, y = random_pairs(*size, seed), random_labels(size[2], seed)
    form = "primal" if solver == "pcg" else "dual"
    model = KronNewton(
        loss="ridge", form=form, reg=2.0, solver=solver, iterated=True, max_iter=3,
        max_inner=100, tol=0, line_search=False,
    ).fit(X, y)  # fmt: skip
    Q = dense_gram(X, X, linear, linear)
    left = y
    for _ in range(3):
        left = 2.0 * np.linalg.solve(Q + 2.0 * np.eye(len(y)), left)
    np.testing.assert_allclose(y - scores_of(model, X), left, atol=1e-6)
    for objective in model.objective_path_[-1:]:  # none where y is in the null space of Q
        np.testing.assert_allclose(objective, left @ left / 2, atol=1e-6)


def test_one_preconditioned_iteration_solves_complete_data(rng):
    X = PairData.complete(rng.standard_normal((9, 4)), rng.standard_normal((8, 3)))
    y = rng.standard_normal(72)
    model = KronNewton(loss="ridge", form="primal", solver="pcg", reg=0.3, max_iter=1,
                       max_inner=1, tol=0).fit(X, y)  # fmt: skip
    features = np.kron(X.row_features, X.col_features)
    exact = np.linalg.solve(features.T @ features + 0.3 * np.eye(12), features.T @ y)
    np.testing.assert_allclose(model.coef_, exact, atol=1e-12)


def test_zero_coefficients_drop_out_of_the_prediction(monkeypatch):
    X, y = random_pairs(12, 10, 60, seed=0, d=4, r=3), random_labels(60, seed=0)
    new = random_pairs(4, 3, 7, seed=1, d=4, r=3)
    model = KronSVM().fit(X, y)
    model.dual_coef_[(X.rows > 2) | (X.cols > 3)] = 0
    expected = dense_gram(new, X, linear, linear) @ model.dual_coef_
    shapes, build = [], KronSVM._gram_operator
    monkeypatch.setattr(
        KronSVM,
        "_gram_operator",
        lambda *args: shapes.append((operator := build(*args)).shape) or operator,
    )
    np.testing.assert_allclose(scores_of(model, new), expected, atol=1e-10)
    assert shapes == [(7, np.count_nonzero(model.dual_coef_))]
    model.dual_coef_[:] = 0
    np.testing.assert_array_equal(scores_of(model, new), np.zeros(7))


def test_clear_errors():
    X, y = random_pairs(6, 5, 25, seed=0), random_labels(25, seed=0)
    cases = [
        (lambda: KronSVM().fit(X, np.ones(25)), "y holds 1 class"),
        (lambda: KronSVM().fit(X[:1], [1]), "1 class"),
        (lambda: KronSVM().fit(X, np.arange(25)), "25 classes"),
        (lambda: KronNewton(loss="ridge").fit(X, y * np.inf), "infinite"),
        (lambda: KronSVM(form="primal", col_kernel="gaussian").fit(X, y), "gamma"),
        (
            lambda: KronSVM(form="primal", col_kernel=lambda A, B: -linear(A, B)).fit(X, y),
            "positive semidefinite",
        ),
        (lambda: KronSVM(solver="pcg").fit(X, y), "solver='pcg' needs form='primal'"),
    ]
    for call, message in cases:
        with pytest.raises(InputError, match=message):
            call()
