"""The cross-validation log likelihood against refits, its gradient against differences."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from kronbench.class_tree import Tree, sharing_pattern
from kronbench.class_tree.covariance import DualCovariance
from kronbench.class_tree.criterion import CrossValidation
from kronbench.class_tree.kernels import GaussianKernels
from kronbench.class_tree.posterior_mode import NewtonCG
from kronbench.errors import InputError
from kronbench.linalg.quasi_newton import capped_bfgs
from kronbench.models import HierarchicalNewtonClassifier, HierarchicalNewtonCV
from tests.models.hierarchical_problems import PARENTS, clouds

FOLDS = np.random.default_rng(0).permutation(40) % 4
F2 = Tree(PARENTS).leaf_subtrees
MIXING = np.random.default_rng(1).standard_normal((5, 3))

BY_LEVEL, OWN = ({"kernel": "gaussian", "gamma_sharing": by} for by in ("level", "node"))

PATTERNS = {
    "F1": {},
    "F2": {"sharing": F2},
    "H1": {"tree": PARENTS, "sharing": "level"},
    "H2": {"tree": PARENTS, "sharing": "subtree"},
    "mc-tied": {"kernel": "gaussian"},
    "mc-sep": {"sharing": "node"} | OWN,
    "tree, widths by level": {"tree": PARENTS, "sharing": "subtree"} | BY_LEVEL,
    "H1, preconditioned": {"tree": PARENTS, "sharing": "level", "solver": "pcg"},
    "mc-tied, preconditioned": {"kernel": "gaussian", "solver": "pcg"},
    "low rank": {"kernel": "gaussian", "rank": 12},
    "coupling": {"coupling": MIXING, "learn_coupling": True},
    "coupling, own widths": {"coupling": MIXING, "learn_coupling": True} | OWN,
}


SEARCH = ("sharing", "gamma_sharing", "learn_coupling", "max_iter", "noise", "tol")


def model(**options):
    tight = {"tol": 1e-13, "max_inner": 1000, "gamma": 0.15, "variance": 2.0}
    return HierarchicalNewtonClassifier(
        **{**tight, "bias_variance": 0.5, "classes": np.arange(5), **options}
    )


def search(fits=None, **options):
    """The search with the patterns' options; ``fits`` are further ones of the model."""
    ours = {name: options.pop(name) for name in SEARCH if name in options}
    return HierarchicalNewtonCV(model(**options, **(fits or {})), **ours)


@pytest.fixture(scope="module")
def problem():
    return clouds(n=40)


def value_and_gradient(options, problem, x=None):
    """Minus Psi and its gradient by the vector of a search, at x or where it begins."""
    learner = search(**options)
    X, codes, coupling = learner.estimator._checked(*problem)
    sharing, options = (learner.sharing, learner.gamma_sharing), {"tol": 1e-13}
    criterion = learner.estimator._criterion(
        X, codes, coupling, FOLDS, sharing, learn_coupling=learner.learn_coupling, **options
    )
    x = criterion.start if x is None else x
    evaluation, gradient, _ = criterion.evaluate(x)
    return -evaluation.value, -gradient, x


@pytest.mark.parametrize("name", PATTERNS)
def test_the_gradient_is_that_of_central_differences(name, problem):
    _, gradient, start = value_and_gradient(PATTERNS[name], problem)
    h = 1e-4
    directions = np.eye(len(start))
    if len(start) > 3:  # an error in one coordinate shows in any random direction
        directions = np.random.default_rng(2).standard_normal((2, len(start)))
    size = np.abs(gradient).max()
    for direction in directions:
        high, low = (
            value_and_gradient(PATTERNS[name], problem, start + s * h * direction)[0]
            for s in (1, -1)
        )
        expected = (high - low) / (2 * h)
        assert direction @ gradient == pytest.approx(expected, abs=2e-6 * size)


@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
@pytest.mark.parametrize("nodes", [False, True], ids=["numbers", "arrays"])
def test_the_gradient_of_the_model_is_by_its_parameters(kernel, nodes, problem):
    parameters = {"variance": 2.0, "gamma": 0.15, "bias_variance": 0.5}
    if nodes:
        parameters |= {"variance": np.linspace(1, 3, 7), "gamma": np.linspace(0.1, 0.4, 7)}
    if kernel == "linear":
        del parameters["gamma"]
    fixed = {"tree": PARENTS, "kernel": kernel}
    fitted = model(**fixed, **parameters)
    _, gradient = fitted.cv_log_likelihood(*problem, FOLDS)
    assert not hasattr(fitted, "classes_")  # evaluated, not fitted
    size, h, expected = np.abs(gradient).max(), 1e-4, []
    for name, value in parameters.items():
        for i in range(np.size(value)):
            step = np.zeros(np.shape(value))
            step[i if np.ndim(value) else ()] = h
            high, low = (
                model(
                    **fixed, **{**parameters, name: value * np.exp(s * step)[()]}
                ).cv_log_likelihood(*problem, FOLDS)[0]
                for s in (1, -1)
            )
            expected.append((high - low) / (2 * h))
    np.testing.assert_allclose(gradient, expected, atol=2e-6 * size)


@pytest.mark.parametrize(
    ("name", "tree", "groups"),
    [
        ("F1", None, [0, 0, 0, 0, 0]),
        ("F2", None, [0, 0, 1, 1, 1]),
        ("H1", PARENTS, [0, 0, 1, 1, 1, 1, 1]),
        ("H2", PARENTS, [0, 1, 0, 0, 1, 1, 1]),
    ],
)
def test_a_pattern_adds_up_the_gradients_of_the_nodes_that_it_names(name, tree, groups, problem):
    parents, sharing = sharing_pattern(name, PARENTS)
    _, by_node, _ = value_and_gradient({"tree": tree, "sharing": "node"}, problem)
    _, gradient, _ = value_and_gradient({"tree": parents, "sharing": sharing}, problem)
    np.testing.assert_allclose(gradient, np.bincount(groups, by_node), rtol=1e-9)


@pytest.mark.parametrize("name", ["H2", "mc-sep"])
def test_the_value_is_that_of_refits_to_the_other_folds(name, problem):
    X, y = problem
    fixed = search(**PATTERNS[name]).estimator
    total = 0.0
    for fold in range(4):
        held_out = fold == FOLDS
        fitted = clone(fixed).fit(X[~held_out], y[~held_out])
        log_proba = fitted.predict_log_proba(X[held_out])
        total += log_proba[np.arange(held_out.sum()), y[held_out]].sum()
    value, _ = fixed.cv_log_likelihood(X, y, FOLDS)
    assert value == pytest.approx(total, rel=1e-7)


def covariance_of(X, gamma=0.15):
    return DualCovariance(GaussianKernels(X, [gamma]), Tree.flat(5), np.full(5, 8.0), 0.5)


def test_rows_of_no_fold_train_in_each(problem):
    X, y = problem
    first, second = (
        model().cv_log_likelihood(X, y, np.where(FOLDS == fold, fold, -1)) for fold in (0, 1)
    )
    both = model().cv_log_likelihood(X, y, np.where(FOLDS < 2, FOLDS, -1))
    assert first[0] + second[0] == pytest.approx(both[0], rel=1e-12)
    np.testing.assert_allclose(first[1] + second[1], both[1], rtol=1e-9)


def test_the_correction_is_of_second_order_and_independent_of_the_start(problem):
    X, y = problem
    exact = CrossValidation(y, 5, FOLDS, NewtonCG(1e-13)).evaluate(covariance_of(X))
    for tol in (1e-3, 1e-4):
        rough = CrossValidation(y, 5, FOLDS, NewtonCG(tol))
        cold = rough.evaluate(covariance_of(X))
        rough.evaluate(covariance_of(X, 0.3))
        warm = rough.evaluate(covariance_of(X))
        for result in (cold, warm):
            error = abs(result.value - exact.value) / exact.value
            plain = abs(result.value - result.correction - exact.value) / exact.value
            assert error < 0.1 * plain or error < 1e-8
            assert error < 10 * tol


def test_a_correction_of_a_fit_that_was_cut_off_is_refused(problem):
    X, y = problem
    cut = CrossValidation(y, 5, FOLDS, NewtonCG(max_iter=1, max_inner=1))
    result = cut.evaluate(covariance_of(X))
    assert not result.converged
    assert result.correction == 0


def test_the_printed_iteration_comes_to_the_same_likelihood_and_gradient(problem):
    for fixed in ({"tree": PARENTS}, {"kernel": "gaussian"}):
        ours = model(**fixed).cv_log_likelihood(*problem, FOLDS)
        options = {"solver": "printed", "max_iter": 50, "max_inner": 200}
        printed = model(**fixed, **options).cv_log_likelihood(*problem, FOLDS)
        assert printed[0] == pytest.approx(ours[0], rel=1e-5)
        np.testing.assert_allclose(printed[1], ours[1], atol=1e-3 * np.abs(ours[1]).max())


@pytest.mark.parametrize("name", ["F2", "H1", "mc-sep"])
def test_learned_hyperparameters_have_a_larger_likelihood_and_no_gradient(name, problem):
    options = {**PATTERNS[name], "noise": 1e-6}
    fitted = search(**options).fit(*problem, folds=FOLDS)
    start, _ = fitted.estimator.cv_log_likelihood(*problem, FOLDS)
    values = [step["value"] for step in fitted.hyperparameter_path_]
    assert values[0] == pytest.approx(start)
    assert fitted.cv_log_likelihood_ == max(values)
    assert fitted.cv_log_likelihood_ > start
    assert fitted.n_iter_ == len(values)
    assert fitted.converged_
    steps = np.abs(np.diff([step["parameters"] for step in fitted.hyperparameter_path_], axis=0))
    assert steps.max() < 3  # each step is at most 1 from the best point so far
    assert len(np.unique(fitted.variance_)) <= {"F2": 2, "H1": 2, "mc-sep": 5}[name]
    learned = {"variance": fitted.variance_, "gamma": fitted.gamma_}
    best = fitted.best_estimator_
    np.testing.assert_equal({name: getattr(best, name) for name in learned}, learned)
    _, gradient, _ = value_and_gradient(PATTERNS[name] | learned, problem)
    bound = {"F2": 0.02, "H1": 0.02, "mc-sep": 0.3}[name]
    assert np.abs(gradient).max() < bound * abs(start)
    np.testing.assert_array_equal(fitted.predict_proba(problem[0]), best.predict_proba(problem[0]))


def test_a_search_goes_on_from_the_hyperparameters_and_the_curvature_of_an_earlier_one(problem):
    X, y = problem
    early = search(**PATTERNS["mc-sep"], max_iter=6).fit(X, y, folds=FOLDS)
    # The curvature is that of a row: twice the rows have the same
    for copies in (1, 2):
        rows = np.tile(np.arange(len(y)), copies)
        late = search(**PATTERNS["mc-sep"], max_iter=1).fit(
            X[rows], y[rows], folds=FOLDS[rows], start=early
        )
        (first,) = late.hyperparameter_path_
        expected = np.concatenate([early.variance_, early.gamma_])
        np.testing.assert_allclose(np.exp(first["parameters"]), expected)
        np.testing.assert_allclose(late.inverse_hessian_, early.inverse_hessian_)
        assert late.estimator.variance == 2.0
    other = search(**PATTERNS["mc-tied"], max_iter=1).fit(X, y, folds=FOLDS, start=early)
    assert other.inverse_hessian_ is None


def test_folds_are_drawn_where_none_are_given(problem):
    one, same, other = (
        search().set_params(cv=3, max_iter=1, random_state=seed).fit(*problem).cv_log_likelihood_
        for seed in (0, 0, 1)
    )
    assert one == same != other
    with pytest.raises(InputError, match="cv is 41 for n_samples=40: give a row for each fold"):
        search().set_params(cv=41).fit(*problem)


def test_bad_folds_are_refused(problem):
    for folds, message in (
        (np.zeros(40, int), "one fold"),
        (np.arange(3), "give the fold of each of 40"),
        (FOLDS + 0.5, "as an integer"),
    ):
        with pytest.raises(InputError, match=message):
            model().cv_log_likelihood(*problem, folds)
    for options, message in (
        ({"learn_coupling": True}, "coupling is None"),
        ({"sharing": [0, 1]}, "one integer group"),
    ):
        with pytest.raises(InputError, match=message):
            search(**options).fit(*problem, folds=FOLDS)


def test_quasi_newton_on_a_curved_valley():
    def valley(x):
        a, b = x[1] - x[0] ** 2, 1 - x[0]
        return 1 + 10 * a**2 + b**2, np.array([-40 * a * x[0] - 2 * b, 20 * a])

    x, *_ = capped_bfgs(valley, [-1.0, 1.0], noise=1e-10, max_evaluations=100)
    np.testing.assert_allclose(x, 1, atol=1e-3)
    steps = []

    def far(x):
        steps.append(x[0])
        return float(np.log1p(np.abs(x[0] - 50))), np.sign(x - 50) / (1 + np.abs(x - 50))

    x, *_ = capped_bfgs(far, [0.0], max_evaluations=20)
    assert len(steps) == 20
    assert np.abs(np.diff(steps)).max() <= 1 + 1e-12
    assert x[0] > 5

    def wall(x):
        return (np.inf, x) if x[0] > 0.7 else (float((x[0] - 0.6) ** 2 + 1), 2 * (x - 0.6))

    assert capped_bfgs(wall, [-3.0])[0][0] == pytest.approx(0.6, abs=0.02)


def test_quasi_newton_with_the_inverse_hessian_makes_one_step():
    H, lowest = np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([0.3, -0.4])
    asked = []

    def bowl(x):
        asked.append(x)
        return 1 + 0.5 * (x - lowest) @ H @ (x - lowest), H @ (x - lowest)

    x, *_ = capped_bfgs(bowl, [0.0, 0.0], noise=1e-12, inverse=np.linalg.inv(H))
    assert len(asked) == 2
    np.testing.assert_allclose(x, lowest, atol=1e-12)
    capped_bfgs(bowl, [0.0, 0.0], noise=1e-12)
    assert len(asked) > 2 + 3


@pytest.mark.parametrize("solver", ["cg", "pcg", "printed"])
def test_a_search_that_begins_where_fits_do_not_converge_is_refused(solver, problem):
    cut = search({"max_iter": 1, "max_inner": 1, "solver": solver}, **PATTERNS["H1"])
    with pytest.raises(InputError, match=r"do not converge at variance 2\.0"):
        cut.fit(*problem, folds=FOLDS)


@pytest.mark.filterwarnings("ignore:the gap is")  # of the last fit
@pytest.mark.parametrize("solver", ["cg", "printed"])
def test_a_search_keeps_away_from_fits_that_do_not_converge(solver, problem):
    """They have no value, and the search ends where it does without them."""
    start = {**PATTERNS["H1"], "variance": 0.05}
    steps = {"cg": {"max_iter": 4, "max_inner": 2}, "printed": {"max_iter": 2, "max_inner": 6}}
    short = search({"solver": solver, **steps[solver]}, **start).fit(*problem, folds=FOLDS)
    path = pd.DataFrame(short.hyperparameter_path_)
    assert not path["converged"].all()
    assert np.isneginf(path["value"]).equals(~path["converged"])
    full = search(**start).fit(*problem, folds=FOLDS)
    assert short.cv_log_likelihood_ == pytest.approx(full.cv_log_likelihood_, abs=1e-3)


def test_models_that_begin_alike_share_the_first_evaluation(problem, monkeypatch):
    fold, made = CrossValidation._fold, []
    monkeypatch.setattr(
        CrossValidation, "_fold", lambda self, *args: made.append(1) or fold(self, *args)
    )
    H1 = search(**PATTERNS["H1"], max_iter=3).fit(*problem, folds=FOLDS)
    of_H1 = len(made)
    alone = search(**PATTERNS["H2"], max_iter=3).fit(*problem, folds=FOLDS)
    of_H2 = len(made) - of_H1
    shared = search(**PATTERNS["H2"], max_iter=3).fit(*problem, folds=FOLDS, begun=H1)
    assert len(made) - of_H1 - of_H2 == of_H2 - 4  # one a fold
    for mine, other in zip(alone.hyperparameter_path_, shared.hyperparameter_path_, strict=True):
        np.testing.assert_allclose(mine["parameters"], other["parameters"], rtol=1e-9)
        assert mine["value"] == pytest.approx(other["value"], rel=1e-12)
        assert mine["n_products"] == other["n_products"]
    other = search(**{**PATTERNS["H2"], "variance": 1.0}, max_iter=1)
    values = [other.fit(*problem, folds=FOLDS, begun=b).cv_log_likelihood_ for b in (None, H1)]
    assert values[0] == values[1] != H1.hyperparameter_path_[0]["value"]


def test_a_value_of_fits_that_were_cut_off_warns():
    X, y = clouds()
    folds = np.arange(len(y)) % 3
    cut = model(variance=50.0, kernel="gaussian", gamma=0.2, max_iter=2, max_inner=2)
    with pytest.warns(ConvergenceWarning, match="a fit to the other folds did not converge"):
        cut.cv_log_likelihood(X, y, folds)
    with warnings.catch_warnings(action="error"):
        model(kernel="gaussian", gamma=0.2).cv_log_likelihood(X, y, folds)
