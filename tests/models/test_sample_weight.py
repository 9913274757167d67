"""Weights of pairs: a whole number is that many equal pairs, zero is none."""

import numpy as np
import pytest
from sklearn.base import clone

from kronbench import InputError, PairData
from kronbench.linalg import gram
from kronbench.models import KronNewton, KronRidge, KronSVM, PairSGD
from kronbench.solvers import scores_of
from tests.models.kron_problems import random_pairs

EXACT = {"tol": 1e-12, "max_iter": 2000, "row_kernel": "gaussian", "row_gamma": 0.3, "reg": 0.5}
STEPS = {**EXACT, "max_iter": 60, "max_inner": 2000, "line_search": True}


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = random_pairs(9, 8, 50, seed=0)
    return X, rng.normal(size=50) + 0.3, rng.integers(4, size=50)


@pytest.mark.parametrize(
    "model",
    [
        KronRidge(**EXACT, fit_intercept=True),
        KronRidge(**EXACT, form="primal", fit_intercept=True),
        KronRidge(reg=0.5),  # by singular values
        KronRidge(reg=0.5, form="primal"),
        KronRidge(**EXACT, pairwise="cartesian", col_effect=0.2),
        KronRidge(**EXACT, solver="minres", form="primal"),
        KronNewton(**STEPS, loss="ridge", fit_intercept=True),
        KronNewton(**STEPS, loss="logistic", fit_intercept=True),
        KronNewton(**STEPS, loss="logistic", form="primal", solver="pcg"),
        KronSVM(**STEPS),
        KronSVM(**STEPS, form="primal", fit_intercept=True),
    ],
    ids=lambda model: repr(model).replace(" ", ""),
)
def test_a_weight_is_a_number_of_equal_pairs(problem, model):
    X, y, weight = problem
    if hasattr(model, "loss") and model.loss != "ridge":
        y = np.sign(y)
    repeats = np.repeat(np.arange(50), weight)
    expected = clone(model).fit(X[repeats], y[repeats])
    found = clone(model).fit(X, y, sample_weight=weight)
    assert found.converged_
    assert found.intercept_ == pytest.approx(expected.intercept_, abs=1e-6)
    assert found.objective_path_[-1] == pytest.approx(expected.objective_path_[-1])
    np.testing.assert_allclose(scores_of(found, X), scores_of(expected, X), atol=1e-6)
    if isinstance(model, KronRidge):
        assert found.noise_variance_ == pytest.approx(expected.noise_variance_)
        np.testing.assert_allclose(found.predict_std(X), expected.predict_std(X), atol=1e-6)


def test_ridge_with_weights_is_the_dense_formula(problem):
    X, y, weight = problem
    weight = weight * 0.7
    K = gram(X.row_features, kernel="gaussian", gamma=0.3)[np.ix_(X.rows, X.rows)]
    Q = K * gram(X.col_features)[np.ix_(X.cols, X.cols)]
    # the minimum of 1/2 (Q a - y)' S (Q a - y) + reg/2 a'Q a
    a = np.linalg.solve(weight[:, None] * Q + 0.5 * np.eye(50), weight * y)
    for form in ("dual", "primal"):
        model = KronRidge(**EXACT, form=form).fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(model.predict(X), Q @ a, atol=1e-7)


def test_the_primal_form_that_auto_takes_has_the_dual_coefficients_of_weighted_pairs(rng):
    sides = rng.standard_normal((60, 18)), rng.standard_normal((50, 17))
    X = PairData(*sides, *np.divmod(rng.permutation(3000)[:2000], 50))
    y, weight = rng.standard_normal(2000), rng.uniform(0, 3, 2000)
    model = KronRidge(reg=30.0, tol=1e-12, max_iter=1000)
    assert model.is_primal(X)
    model.fit(X, y, sample_weight=weight)
    Q = (sides[0] @ sides[0].T)[np.ix_(X.rows, X.rows)]
    Q *= (sides[1] @ sides[1].T)[np.ix_(X.cols, X.cols)]
    a = np.linalg.solve(weight[:, None] * Q + 30.0 * np.eye(2000), weight * y)
    np.testing.assert_allclose(model.dual_coef_, a, atol=1e-9)
    assert not hasattr(KronRidge(form="primal").fit(X, y), "dual_coef_")


def test_a_callback_sees_the_pairs_as_they_are(problem):
    X, y, weight = problem
    kept, seen = weight > 0, []
    for form in ("dual", "primal"):
        model = KronRidge(**EXACT, form=form, solver="minres")
        model.fit(X, y, callback=seen.append, sample_weight=weight)
        np.testing.assert_allclose(seen[-1].scores, model.predict(X[kept]), atol=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_stochastic_steps_have_the_length_of_the_weight(problem, loss):
    X, y, weight = problem
    y = np.sign(y)
    options = {"loss": loss, "reg": 5.0, "random_state": 0, "n_updates": 20_000}
    primal = PairSGD(**options).fit(X, y, sample_weight=weight)
    dual = PairSGD(**options, form="dual").fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(dual.decision_function(X), primal.decision_function(X), atol=1e-8)
    kept = weight > 0
    without = PairSGD(**options).fit(X[kept], y[kept], sample_weight=weight[kept])
    np.testing.assert_array_equal(without.decision_function(X), primal.decision_function(X))
    if loss == "logistic":  # smooth, so that it comes near to the optimum
        options["n_updates"] = 500_000
        repeats = np.repeat(np.arange(50), weight)
        repeated = PairSGD(**options).fit(X[repeats], y[repeats])
        primal = PairSGD(**options).fit(X, y, sample_weight=weight)
        scores = repeated.decision_function(X)
        np.testing.assert_allclose(primal.decision_function(X), scores, atol=0.02)


@pytest.mark.parametrize("weight", [np.ones(49), -np.ones(50), np.full(50, np.nan)])
def test_other_weights_are_refused(problem, weight):
    X, y, _ = problem
    for model in (KronRidge(), KronSVM(), PairSGD()):
        with pytest.raises(InputError, match="sample_weight has shape"):
            model.fit(X, np.sign(y), sample_weight=weight)
    with pytest.raises(InputError, match="rankrls"):
        KronNewton(loss="rankrls").fit(X, y, sample_weight=np.ones(50))


@pytest.mark.parametrize("scale", [1.0, 1e12])
def test_dual_coefficients_of_weighted_pairs_are_those_of_the_weighted_system(scale, rng):
    """(Q + reg W^-1) a = y, also where one column is so large that columns are scaled."""
    rows, cols = rng.standard_normal((12, 2)) * [1.0, scale], rng.standard_normal((9, 2))
    X, y = PairData.complete(rows, cols), rng.standard_normal(108)
    weight = rng.uniform(0.1, 3.0, 108)
    model = KronRidge(reg=0.5).fit(X, y, sample_weight=weight)
    F = np.kron(rows / [1.0, scale], cols)
    penalty = np.repeat([0.5, 0.5 / scale**2], 2)
    errors = y - F @ np.linalg.solve(F.T * weight @ F + np.diag(penalty), F.T @ (weight * y))
    np.testing.assert_allclose(model.dual_coef_, weight * errors / 0.5, atol=1e-7)
