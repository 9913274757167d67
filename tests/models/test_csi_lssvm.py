"""The LS-SVM on low-rank factors: scikit-learn's contract, against a dense solution."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score

from kronbench.errors import InputError
from kronbench.linalg.gram_matrix import gram
from kronbench.models import CSILSSVM


def classes(n_classes, n=150):
    X, y = make_classification(
        n, 6, n_informative=4, n_classes=n_classes, class_sep=2.0, random_state=0
    )
    return X, np.array(["red", "green", "blue"])[y]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("decomposition", ["csi", "cholesky"])
def test_stages_are_machines_of_smaller_rank(n_classes, decomposition):
    X, y = classes(n_classes)
    model = CSILSSVM(gamma=0.1, reg=1e-4, decomposition=decomposition, max_rank=12, tol=1e-6)
    model.fit(X[:100], y[:100])
    stages = list(model.staged_predict(X[100:]))
    assert len(stages) == len(model.pivots_) == 12
    np.testing.assert_array_equal(stages[-1], model.predict(X[100:]))
    for rank in (1, 5):
        smaller = clone(model).set_params(max_rank=rank).fit(X[:100], y[:100])
        np.testing.assert_array_equal(smaller.pivots_, model.pivots_[:rank])
        np.testing.assert_array_equal(smaller.predict(X[100:]), stages[rank - 1])
    lighter = clone(model).set_params(reg=1e-2).fit(X[:100], y[:100])
    np.testing.assert_array_equal(
        list(model.staged_predict(X[100:], reg=1e-2)), list(lighter.staged_predict(X[100:]))
    )


@pytest.mark.parametrize("kernel", ["gaussian", "precomputed"])
def test_a_look_ahead_at_all_points_is_that_of_as_many_steps(kernel):
    X, y = make_regression(60, 5, noise=1.0, random_state=0)
    given = gram(X, kernel="gaussian", gamma=0.05) if kernel == "precomputed" else X
    shared = {"task": "regression", "kernel": kernel, "gamma": 0.05, "max_rank": 12}
    whole = CSILSSVM(lookahead=None, **shared).fit(given, y)
    steps = CSILSSVM(lookahead=60, **shared).fit(given, y)
    np.testing.assert_array_equal(whole.pivots_, steps.pivots_)
    np.testing.assert_allclose(whole.gains_, steps.gains_, rtol=1e-6)
    np.testing.assert_allclose(whole.predict(given), steps.predict(given), rtol=1e-8)
    assert CSILSSVM(lookahead=None, **(shared | {"tol": 0.05})).fit(given, y).gains_.min() >= 0.05


def test_decisions_follow_the_responses():
    X, y = classes(3)
    model = CSILSSVM(gamma=0.1).fit(X, y)
    responses = model.decision_function(X)
    distance = np.linalg.norm(responses[:, None] - np.eye(3), axis=2)
    np.testing.assert_array_equal(model.predict(X), model.classes_[distance.argmin(axis=1)])
    X, y = classes(2)
    model = CSILSSVM(gamma=0.1).fit(X, y)
    np.testing.assert_array_equal(model.predict(X) == model.classes_[1],
                                  model.decision_function(X) > 0)  # fmt: skip
    assert not hasattr(CSILSSVM(task="regression"), "decision_function")


def test_prediction_takes_the_pivots_alone():
    asked = []

    def kernel(X, Y):
        asked.append((len(X), len(Y)))
        return (1.0 + X @ Y.T) ** 2

    X, y = classes(2)
    model = CSILSSVM(kernel=kernel, max_rank=7, lookahead=5).fit(X, y)
    columns = [shape for shape in asked if shape == (len(X), 1)]
    assert len(columns) <= 7 + 5
    asked.clear()
    model.predict(X[:11])
    assert asked == [(11, len(model.pivots_))]


def test_a_given_kernel_matrix_is_the_same_machine():
    X, y = classes(3)
    K = gram(X, kernel="gaussian", gamma=0.1)
    direct = CSILSSVM(gamma=0.1, max_rank=20)
    given_matrix = CSILSSVM(kernel="precomputed", max_rank=20)
    np.testing.assert_array_equal(direct.fit(X, y).predict(X), given_matrix.fit(K, y).predict(K))
    np.testing.assert_allclose(
        cross_val_score(direct, X, y, cv=4), cross_val_score(given_matrix, K, y, cv=4)
    )


def test_regression_of_one_and_of_several_responses():
    X, Y = make_regression(120, 4, n_targets=2, noise=1.0, random_state=0)
    both = CSILSSVM(task="regression", kernel="linear", reg=1e-6, tol=0.0).fit(X, Y)
    assert both.predict(X).shape == Y.shape
    assert both.score(X, Y) > 0.99
    assert len(both.pivots_) == 4
    reference = Ridge(alpha=120e-6).fit(X, Y)
    np.testing.assert_allclose(both.predict(X), reference.predict(X), rtol=1e-6)
    one = CSILSSVM(task="regression", kernel="linear", reg=1e-6, tol=0.0).fit(X, Y[:, 0])
    np.testing.assert_allclose(one.predict(X), reference.predict(X)[:, 0], rtol=1e-6)


def test_a_kernel_without_content_leaves_the_mean():
    X, y = np.zeros((10, 2)), np.arange(10.0)
    model = CSILSSVM(task="regression", kernel="linear").fit(X, y)
    assert len(model.pivots_) == 0
    assert list(model.staged_predict(X)) == []
    np.testing.assert_allclose(model.predict(X), 4.5)


def test_constant_responses_are_predicted():
    X, _ = classes(2)
    with pytest.warns(UserWarning, match="constant"):
        model = CSILSSVM(task="regression").fit(X, np.full(len(X), 3.0))
    np.testing.assert_allclose(model.predict(X), 3.0)


def test_a_fitted_model_is_small():
    X, y = classes(2, n=2000)
    model = CSILSSVM(gamma=0.1, max_rank=5).fit(X, y)
    # neither the factor of all points nor their features
    assert len(pickle.dumps(model)) < 20_000


def test_wrong_parameters_are_named():
    X, y = classes(2)
    for call, match in [
        (lambda: CSILSSVM(kernel="precomputed").fit(X, y), "square"),
        (lambda: CSILSSVM().fit(X, np.full(len(X), "red")), "one class"),
        (lambda: list(CSILSSVM().fit(X, y).staged_predict(X, reg=0.0)), "reg"),
    ]:
        with pytest.raises(InputError, match=match):
            call()


def greedy_pivots(K, Y, kappa, rank):
    """The largest decreases of the paper's criterion (Eq. 2), each tried by a dense solution."""
    Y = Y - Y.mean(axis=0)
    pivots = []
    for _ in range(rank):
        values = {}
        for i in set(range(len(K))) - set(pivots):
            chosen = [*pivots, i]
            left = K - K[:, chosen] @ np.linalg.solve(K[np.ix_(chosen, chosen)], K[chosen])
            columns = K[:, chosen] - K[:, chosen].mean(axis=0)
            rest = Y - columns @ np.linalg.lstsq(columns, Y)[0]
            share = np.linalg.norm(rest) ** 2 / np.linalg.norm(Y) ** 2
            values[i] = (1 - kappa) * np.trace(left) / np.trace(K) + kappa * share
        pivots.append(min(values, key=values.get))
    return pivots


def test_by_default_the_targets_weigh_as_in_the_paper():
    X, y = make_regression(30, 5, noise=1.0, random_state=1)
    K, Y = gram(X, kernel="gaussian", gamma=0.05), y[:, None]
    model = CSILSSVM(task="regression", gamma=0.05, lookahead=None, max_rank=8).fit(X, y)
    assert model.pivots_.tolist() == greedy_pivots(K, Y, 0.99, 8)
    assert model.pivots_.tolist() != greedy_pivots(K, Y, 0.9, 8)


def raw_table(scale, n=60):
    """Two columns that matter and one of another scale, of which they are a part in 10^16."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    y = X[:, 0] - X[:, 1] + 0.1 * rng.standard_normal(n)
    return X * [1, 1, scale], y, X


@pytest.mark.parametrize("decomposition", ["csi", "cholesky"])
@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e3, 1e6, 1e8])
@pytest.mark.parametrize("reg", [1e-12, 1e-6, 1e-2, 1e2])
def test_a_machine_on_raw_features_is_right_or_says_that_it_may_not_be(decomposition, scale, reg):
    X, y, unit = raw_table(scale)
    model = CSILSSVM(
        task="regression", kernel="linear", reg=reg, decomposition=decomposition, tol=0.0
    )
    with warnings.catch_warnings(record=True, action="always") as said:
        responses = model.fit(X, y).predict(X)
    # Of columns of one size, each with the weight that its scale gives it
    Z = unit - unit.mean(axis=0)
    weight = np.diag(len(y) * reg / np.array([1, 1, scale]) ** 2)
    expected = y.mean() + Z @ np.linalg.solve(Z.T @ Z + weight, Z.T @ (y - y.mean()))
    error = np.abs(responses - expected).max() / np.abs(expected).max()
    told = any("are rounded by" in str(one.message) for one in said)
    assert error < 1e-2 or told
    assert not told or scale >= 1e6 or reg == 1e-12
    if told and reg < 1:  # another weight on the same factor is told of too
        with pytest.warns(ConvergenceWarning, match="centre and scale the features"):
            list(model.staged_predict(X, reg=reg / 2))
    if scale == 1e8 and reg < 1:
        assert told
