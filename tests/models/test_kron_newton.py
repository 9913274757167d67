import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import LinearSVC

from kronbench import PairData
from kronbench.errors import InputError
from kronbench.models import KronNewton, KronRidge, KronSVM
from tests.models.kron_problems import (
    dense_gram,
    gaussian,
    linear,
    random_labels,
    random_pairs,
    seeds,
    sizes,
)

SOLVERS = ["qmr", "minres", "cg"]
LOSSES = ["ridge", "l1svm", "l2svm", "logistic", "rankrls"]
SMOOTH = ["ridge", "l2svm", "logistic", "rankrls"]


@pytest.mark.parametrize("inner_solver", SOLVERS)
def test_svm_is_the_squared_hinge_svm_on_product_features(inner_solver):
    X = random_pairs(12, 10, 60, seed=0, d=4, r=3)
    y = np.where(X.row_features[X.rows, 0] + 0.1 * random_labels(60, 0) > 0, 1.0, -1.0)
    features = (X.row_features[X.rows][:, :, None] * X.col_features[X.cols][:, None, :]).reshape(
        60, -1
    )
    theirs = LinearSVC(C=1 / (2 * 0.5), fit_intercept=False, tol=1e-10, max_iter=10**5)
    theirs.fit(features, y)
    options = dict(reg=0.5, outer_iter=50, inner_iter=100, inner_solver=inner_solver, tol=1e-10)
    primal = KronSVM(form="primal", line_search=True, **options).fit(X, y)
    np.testing.assert_allclose(primal.coef_, theirs.coef_[0], atol=1e-5)
    dual = KronSVM(line_search=True, **options).fit(X, y)
    np.testing.assert_allclose(
        dual.decision_function(X), theirs.decision_function(features), atol=1e-5
    )
    np.testing.assert_array_equal(dual.predict(X), theirs.predict(features))
    if inner_solver == "minres":  # support vectors: the pairs inside the margin
        inside = y * dual.decision_function(X) < 1 - 1e-8
        np.testing.assert_array_equal(dual.dual_coef_ != 0, inside)


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(SMOOTH), st.sampled_from(SOLVERS), sizes, seeds)
def test_primal_is_the_dual_with_linear_kernels(loss, inner_solver, size, seed):
    X, y = random_pairs(*size, seed), random_labels(size[2], seed)
    new = random_pairs(4, 3, 7, seed + 1)
    options = dict(loss=loss, reg=0.5, outer_iter=40, inner_iter=100, tol=1e-10)
    dual = KronNewton(inner_solver=inner_solver, **options).fit(X, y)
    primal = KronNewton(inner_solver=inner_solver, form="primal", **options).fit(X, y)
    np.testing.assert_allclose(
        dual.decision_function(new), primal.decision_function(new), atol=1e-5
    )


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(LOSSES), st.sampled_from(SOLVERS), sizes, seeds)
def test_scores_are_the_dense_kernel_expansion(loss, inner_solver, size, seed):
    X, y = random_pairs(*size, seed), random_labels(size[2], seed)
    new = random_pairs(4, 3, 7, seed + 1)
    model = KronNewton(
        loss=loss, row_kernel="gaussian", row_gamma=0.5, outer_iter=4, inner_iter=5,
        inner_solver=inner_solver,
    ).fit(X, y)  # fmt: skip
    expected = dense_gram(new, X, gaussian(0.5), linear) @ model.dual_coef_
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-9)


def test_zero_coefficients_drop_out_of_the_prediction(monkeypatch):
    X, y = random_pairs(12, 10, 60, seed=0, d=4, r=3), random_labels(60, seed=0)
    new = random_pairs(4, 3, 7, seed=1, d=4, r=3)
    model = KronSVM().fit(X, y)
    model.dual_coef_[(X.rows > 2) | (X.cols > 3)] = 0
    expected = dense_gram(new, X, linear, linear) @ model.dual_coef_
    shapes, build = [], KronSVM.prediction_operator
    monkeypatch.setattr(
        KronSVM,
        "prediction_operator",
        lambda *args: shapes.append((operator := build(*args)).shape) or operator,
    )
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-10)
    assert shapes == [(7, np.count_nonzero(model.dual_coef_))]
    model.dual_coef_[:] = 0
    np.testing.assert_array_equal(model.decision_function(new), np.zeros(7))


def test_ridge_loss_is_kron_ridge():
    X, y = random_pairs(8, 7, 40, seed=0), random_labels(40, seed=0)
    newton = KronNewton(loss="ridge", inner_solver="minres", outer_iter=1, inner_iter=7, tol=0,
                        line_search=False, reg=0.1).fit(X, y)  # fmt: skip
    ridge = KronRidge(max_iter=7, tol=0, reg=0.1).fit(X, y)
    np.testing.assert_allclose(newton.dual_coef_, ridge.dual_coef_, atol=1e-10)
    np.testing.assert_allclose(newton.objective_path_[-1], ridge.objective_path_[-1])


def test_rankrls_does_not_see_the_level_of_the_labels():
    X, y = random_pairs(8, 7, 40, seed=0), random_labels(40, seed=0)
    model = KronNewton(loss="rankrls", reg=10.0)
    scores = model.fit(X, y).decision_function(X)
    np.testing.assert_allclose(model.fit(X, y + 5).decision_function(X), scores, atol=1e-8)


@pytest.mark.parametrize("labels", [(0, 1), ("miss", "hit"), (-1.0, 1.0), (False, True)])
def test_labels_of_any_two_classes(labels):
    X, y = random_pairs(8, 7, 40, seed=0), random_labels(40, seed=0)
    expected = KronSVM().fit(X, y)
    low, high = sorted(labels)
    model = KronSVM().fit(X, np.where(y > 0, high, low))
    assert list(model.classes_) == [low, high]
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    np.testing.assert_array_equal(model.predict(X), np.where(expected.predict(X) > 0, high, low))
    assert model.score(X, np.where(y > 0, high, low)) == expected.score(X, y)


def test_validation_callback_stops_and_path_is_kept():
    X, y = random_pairs(8, 7, 40, seed=0, d=6, r=5), random_labels(40, seed=0)
    model = KronSVM(reg=0.01).fit(X, y, callback=lambda state: state.n_iter == 3)
    assert model.n_iter_ == len(model.objective_path_) == 3
    full = KronSVM(reg=0.01).fit(X, y)
    np.testing.assert_array_equal(full.objective_path_[:3], model.objective_path_)


def test_repeated_pairs_and_one_vertex():
    X = PairData([[1.0]], [[2.0]], [0, 0, 0], [0, 0, 0])
    for inner_solver in SOLVERS:
        model = KronSVM(reg=1.0, inner_solver=inner_solver).fit(X, [1, 1, -1])
        # p minimizes (1 - p)^2 + (1 + p)^2 / 2 + p^2 / 8
        np.testing.assert_allclose(model.decision_function(X), 1 / 3.25)


def test_clear_errors():
    X, y = random_pairs(6, 5, 25, seed=0), random_labels(25, seed=0)
    cases = [
        (lambda: KronSVM().fit(X, np.ones(25)), "y holds 1 class: .* exactly two"),
        (lambda: KronSVM().fit(X[:1], [1]), "1 class"),
        (lambda: KronSVM().fit(X, np.arange(25)), "25 classes"),
        (lambda: KronSVM().fit(X, np.where(y > 0, np.nan, 1)), "NaN"),
        (lambda: KronNewton(loss="hinge").fit(X, y), "loss='hinge'"),
        (lambda: KronNewton(loss="ridge").fit(X, y * np.inf), "infinite"),
        (lambda: KronSVM(inner_solver="lu").fit(X, y), "qmr, minres, cg"),
        (lambda: KronSVM(reg=-1).fit(X, y), "reg=-1"),
        (lambda: KronSVM(form="primal", col_kernel="gaussian").fit(X, y), "col_kernel"),
    ]
    for call, message in cases:
        with pytest.raises(InputError, match=message):
            call()
