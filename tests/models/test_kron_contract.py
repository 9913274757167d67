"""scikit-learn's estimator contract, as far as it applies to pairs."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from kronbench import InputError, PairData
from kronbench.linalg import psd_part
from kronbench.models import KronNewton, KronRidge, KronSVM
from kronbench.pairs import LOSSES
from kronbench.solvers import scores_of
from tests.models.kron_problems import product_features, random_labels, random_pairs

MODELS = [
    KronRidge(),
    KronRidge(form="primal"),
    KronSVM(),
    KronSVM(form="primal", solver="cg"),
    KronSVM(form="primal", solver="pcg", row_kernel="gaussian", row_gamma=0.3),
    *(KronNewton(loss=loss) for loss in ("ridge", "l1svm", "logistic", "rankrls")),
    KronNewton(loss="logistic", solver="cg"),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=str)


@pytest.fixture
def problem():
    return random_pairs(12, 12, 150, seed=0), random_labels(150, seed=0)


@each_model
def test_the_dtype_is_that_of_features_given_so(model, problem):
    X, y = problem
    features = [side.astype(np.float32) for side in (X.row_features, X.col_features)]
    single = PairData(*features, X.rows, X.cols)
    expected = scores_of(clone(model).set_params(reg=10.0).fit(single, y), single)
    assert expected.dtype == np.float32
    for dtype in ("float32", np.float32):
        given = clone(model).set_params(reg=10.0, dtype=dtype).fit(X, y)
        np.testing.assert_array_equal(scores_of(given, single), expected)
    in_double = scores_of(clone(model).set_params(reg=10.0).fit(X, y), X)
    assert np.linalg.norm(expected - in_double) < 1e-3 * np.linalg.norm(in_double)
    double = clone(model).set_params(reg=10.0, dtype="float64").fit(single, y)
    assert scores_of(double, single).dtype == np.float64
    for wrong in ("precise", "int64"):
        with pytest.raises(InputError, match=f"'dtype' parameter .* Got '{wrong}'"):
            clone(model).set_params(dtype=wrong).fit(X, y)


@each_model
def test_a_prediction_operator_is_no_fit(model, problem):
    X, y = problem
    model, before = clone(model), vars(clone(model)).copy()
    operator = model.prediction_operator(X[:100], X[100:])
    assert vars(model) == before
    with pytest.raises(NotFittedError):
        scores_of(model, X)
    fitted = model.fit(X[:100], y[:100])
    coef = fitted.coef_ if model.form == "primal" else fitted.dual_coef_
    np.testing.assert_allclose(operator @ coef, scores_of(fitted, X[100:]), atol=1e-10)


@each_model
def test_the_callback_sees_every_iteration_and_stops(model, problem):
    seen, operator = [], clone(model).prediction_operator(problem[0])

    def observe(state):
        np.testing.assert_allclose(operator @ state.coef, state.scores, atol=1e-9)
        seen.append(state.objective)
        assert state.n_iter == len(seen)
        return state.n_iter == stop_at

    stop_at = 2
    stopped = clone(model).set_params(tol=0).fit(*problem, callback=observe)
    assert (len(seen), stopped.n_iter_, stopped.stop_reason_) == (2, 2, "callback")
    seen, stop_at = [], None
    fitted = clone(model).fit(*problem, callback=observe)
    np.testing.assert_allclose(fitted.objective_path_, seen, rtol=1e-10)
    assert fitted.n_iter_ == len(seen)
    assert fitted.converged_ == (fitted.stop_reason_ == "tol")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "model",
    [*MODELS, KronRidge(solver="minres"), KronRidge(form="primal", solver="minres")],
    ids=str,
)
def test_verbose_tells_of_each_tenth_and_changes_no_number(model, problem, capsys):
    silent = clone(model).set_params(tol=0, max_iter=20).fit(*problem)
    assert capsys.readouterr().err == ""
    told = clone(model).set_params(tol=0, max_iter=20, verbose=True).fit(*problem)
    made, name = told.n_iter_, type(model).__name__
    lines = [f"{name}: {k} of 20 iterations" for k in range(2, made + 1, 2)]
    found = [line for line in capsys.readouterr().err.splitlines() if "iterations" in line]
    assert found == lines
    assert vars(silent).keys() == vars(told).keys()
    for key, value in vars(silent).items():
        if key.endswith("_") and isinstance(value, np.ndarray | float | int | str):
            np.testing.assert_array_equal(getattr(told, key), value, err_msg=key)


def test_verbose_iterations_end_as_the_callback_says_and_by_singular_values_there_are_none(
    problem, capsys
):
    model = KronRidge(verbose=2).fit(*problem)
    assert (model.n_iter_, capsys.readouterr().err) == (1, "")
    model.set_params(max_iter=10).fit(*problem, callback=lambda state: state.n_iter == 2)
    assert (model.n_iter_, model.stop_reason_) == (2, "callback")
    lines = ["KronRidge: 1 of 10 iterations", "KronRidge: 2 of 10 iterations"]
    assert capsys.readouterr().err.splitlines() == lines


@each_model
def test_scores_weigh_their_samples(model, problem):
    X, y = problem
    model, weights = clone(model).fit(X, y), np.repeat([1, 2], [50, 100])
    repeated = np.repeat(np.arange(150), weights)
    expected = model.score(X[repeated], y[repeated])
    assert model.score(X, y, sample_weight=weights) == pytest.approx(expected)


@each_model
def test_defaults_do_not_warn(model, problem):
    with warnings.catch_warnings(record=True, action="always") as caught:
        fitted = clone(model).fit(*problem)
    # the hinge has no curvature: Newton's method does not end by its tolerance
    expected = [ConvergenceWarning] if getattr(model, "loss", None) == "l1svm" else []
    assert [w.category for w in caught] == expected
    assert fitted.stop_reason_ == "tol" or expected or not isinstance(model, KronNewton)


def test_iterations_that_end_before_the_tolerance_say_so(problem):
    X, y = problem
    few = dict(max_iter=1, max_inner=1)
    with pytest.warns(ConvergenceWarning, match=r"number of iterations .* tol=0.0001: give more"):
        model = KronNewton(loss="logistic", **few).fit(X, y)
    assert model.stop_reason_ == "max_iter"
    # where the number of iterations is the regularizer
    with warnings.catch_warnings(action="error"):
        assert KronNewton(loss="logistic", tol=0, **few).fit(X, y).stop_reason_ == "max_iter"
        assert KronSVM(**few).fit(X, y).stop_reason_ == "max_iter"
        assert KronRidge(solver="minres", max_iter=2).fit(X, y).stop_reason_ == "max_iter"
        assert KronRidge().fit(X, y, callback=lambda state: True).stop_reason_ == "callback"
    kernels = PairData(np.eye(2), np.eye(2), [0, 1, 0, 1], [0, 1, 1, 0])
    singular = KronRidge(reg=1.0, row_kernel=lambda A, B: A @ np.diag([1.0, -1.0]) @ B.T)
    with pytest.warns(ConvergenceWarning, match="breakdown of the Krylov method"):
        singular.fit(kernels, [1.0, 1.0, 1.0, 1.0])  # Q + I is zero on two pairs
    assert singular.stop_reason_ == "breakdown"


@pytest.mark.parametrize("model", [KronRidge(solver="minres"), KronSVM()], ids=str)
def test_fitting_in_the_other_form_forgets_the_coefficients(model, problem):
    model = clone(model)
    for form in ("dual", "primal", "dual"):
        model.set_params(form=form).fit(*problem)
        assert hasattr(model, "dual_coef_") == (form == "dual")
        assert hasattr(model, "coef_") == (form == "primal")


@pytest.mark.parametrize("solver", [KronRidge, KronSVM, KronNewton])
@pytest.mark.parametrize("side", ["row", "col"])
def test_an_indefinite_kernel_is_refused_with_the_remedy(solver, side, rng):
    K, G = (F @ F.T for F in (rng.normal(size=(6, 6)), rng.normal(size=(5, 5))))
    y = np.where(rng.random(30) < 0.5, 1.0, -1.0)
    model = solver(row_kernel="precomputed", col_kernel="precomputed")
    model.fit(PairData.complete(K, G), y)
    shifted = [K, G]
    shifted[side == "col"] = shifted[side == "col"] - 2 * np.eye(6 if side == "row" else 5)
    message = f"{side}_features is indefinite.*psd_part of it, or its rows as features"
    with pytest.raises(InputError, match=message):
        model.fit(PairData.complete(*shifted), y)
    model.fit(PairData.complete(*map(psd_part, shifted)), y)


@each_model
def test_parameters_set_after_a_fit_change_no_prediction(model, problem):
    X, y = problem
    X, new = X[:100], X[100:]
    model = clone(model).set_params(row_kernel="gaussian", row_gamma=0.3).fit(X, y[:100])
    expected, labels = scores_of(model, new), model.predict(new)
    has_std = isinstance(model, KronRidge)
    std = model.predict_std(new) if has_std else None
    others = {"row_gamma": 3.0, "col_kernel": "tanimoto", "reg": 7.0, "dtype": "float32"}
    others |= {"col_effect": 1.0} if has_std else {}
    others |= {"loss": "ridge"} if "loss" in model.get_params() else {"pairwise": "linear"}
    model.set_params(**others)
    np.testing.assert_array_equal(scores_of(model, new), expected)
    np.testing.assert_array_equal(model.predict(new), labels)
    np.testing.assert_array_equal(model.predict_std(new) if has_std else None, std)
    assert model.get_params()["reg"] == 7.0


def test_operators_and_paths_check_parameters_too(problem):
    X, y = problem
    for solver in (KronRidge, KronNewton, KronSVM):
        with pytest.raises(InputError, match=r"'row_gamma' parameter of .* Got -1"):
            solver(row_gamma=-1).prediction_operator(X)
    with pytest.raises(InputError, match="'reg' parameter of KronRidge"):
        KronRidge(reg=np.nan).path(X, y, [1.0])


LARGE_MEAN = "mean of the labels is larger .* give fit_intercept=True, or subtract the mean"


@pytest.mark.parametrize("form", ["dual", "primal"])
@pytest.mark.parametrize("solver", ["auto", "minres"])
def test_an_intercept_is_the_mean_of_the_labels(form, solver, problem):
    X, _ = problem
    y = 6 + np.random.default_rng(0).normal(size=150)
    models = KronRidge(form=form, solver=solver), KronNewton(form=form, loss="ridge")
    for model in models:
        with pytest.warns(UserWarning, match=LARGE_MEAN):
            clone(model).fit(X, y)
        by_hand = clone(model).fit(X, y - y.mean()).predict(X) + y.mean()
        with warnings.catch_warnings(action="error"):
            clone(model).fit(X, np.where(y > 5, 1.0, 0.0))  # two classes
            fitted = clone(model).set_params(fit_intercept=True).fit(X, y)
        assert fitted.intercept_ == pytest.approx(y.mean())
        np.testing.assert_allclose(fitted.predict(X), by_hand, atol=1e-10)
        assert np.mean((fitted.predict(X) - y) ** 2) < y.var()
    with pytest.warns(UserWarning, match=LARGE_MEAN):
        KronRidge(solver=solver).path(X, y, [1.0])
    path = KronRidge(solver=solver, fit_intercept=True, max_iter=300).path(X, y, [1.0, 1e3], X)
    for j, reg in enumerate((1.0, 1e3)):
        alone = KronRidge(reg=reg, fit_intercept=True).fit(X, y).predict(X)
        np.testing.assert_allclose(path.test_scores(j)[-1], alone, atol=1e-5)
        np.testing.assert_allclose(path.final_test_scores(1e-8)[j], alone, atol=1e-5)


def test_the_level_of_a_ranking_is_that_of_the_labels(problem):
    X, _ = problem
    y = 6 + np.random.default_rng(0).normal(size=150)
    plain = KronNewton(loss="rankrls").fit(X, y).predict(X)
    level = KronNewton(loss="rankrls", fit_intercept=True).fit(X, y).predict(X)
    np.testing.assert_allclose(level - plain, np.full(150, np.mean(y - plain)), atol=1e-8)


@pytest.mark.parametrize("loss", ["l2svm", "logistic"])
@pytest.mark.parametrize(
    "options",
    [dict(solver=solver) for solver in ("qmr", "cg")]
    + [dict(form="primal", solver=solver) for solver in ("qmr", "cg", "pcg")],
    ids=str,
)
def test_the_intercept_of_a_classifier_is_a_constant_feature(loss, options, problem):
    """The minimum over (w, c) of the loss of X w + c and reg/2 (|w|^2 + c^2), by L-BFGS."""
    X, _ = problem
    rng = np.random.default_rng(1)
    y = np.where(
        X.row_features[X.rows, 0] * X.col_features[X.cols, 0] > 1 + rng.random(150), 1, -1
    )
    design = np.c_[product_features(X), np.ones(150)]
    chosen = LOSSES[loss]

    def risk(w):
        p = design @ w
        gradient = design.T @ chosen.gradient(p, y) + w
        return chosen.value(p, y) + 0.5 * (w @ w), gradient

    start = np.zeros(design.shape[1])
    best = minimize(risk, start, jac=True, method="L-BFGS-B", options={"gtol": 1e-9, "ftol": 0})
    model = KronNewton(loss=loss, reg=1.0, tol=1e-8, fit_intercept=True, **options).fit(X, y)
    assert model.intercept_ == pytest.approx(best.x[-1], abs=1e-4)
    np.testing.assert_allclose(scores_of(model, X), design @ best.x, atol=1e-3)
    assert len(model.coef_ if "form" in options else model.dual_coef_) == (
        design.shape[1] - 1 if "form" in options else 150
    )
