"""The LS-SVM paths against their linear systems, retraining and scikit-learn."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from kronbench.errors import InputError
from kronbench.linalg.gram_matrix import gram
from kronbench.linalg.lowrank import csi, incomplete_cholesky
from kronbench.models.csi_lssvm import CSILSSVM, LSSVMPath, PrefixPath

regs = st.sampled_from([1e-6, 1e-3, 1.0])
seeds = st.integers(0, 2**32 - 1)


def ridge(G, Y, penalty):
    """Coefficients and intercept of least squares with penalty ||b||^2, by a dense system."""
    Pi = np.eye(len(G)) - 1 / len(G)
    coef = np.linalg.solve(G.T @ Pi @ G + penalty * np.eye(G.shape[1]), G.T @ Pi @ Y)
    return coef, Y.mean(axis=0) - G.mean(axis=0) @ coef


@given(seeds, st.integers(2, 25), st.integers(1, 6), st.integers(1, 3), regs)
@settings(max_examples=40, deadline=None)
def test_each_rank_of_the_path_is_ridge_on_its_columns(seed, n, k, d, reg):
    rng = np.random.default_rng(seed)
    G, Y, new = (rng.standard_normal(shape) for shape in ((n, k), (n, d), (4, k)))
    path = PrefixPath(G, Y)
    responses = list(path.staged_responses(new, reg))
    assert len(responses) == k
    for r in range(1, k + 1):
        coef, intercept = ridge(G[:, :r], Y, n * reg)
        np.testing.assert_allclose(responses[r - 1], new[:, :r] @ coef + intercept, atol=1e-7)
    np.testing.assert_allclose(path.solve(reg).coef()[0], coef, atol=1e-7)
    np.testing.assert_allclose(path.solve(reg).coef()[1], intercept, atol=1e-7)


def test_points_in_blocks_and_scikit_learn_agree():
    rng = np.random.default_rng(0)
    G, Y = rng.standard_normal((20000, 5)) @ rng.standard_normal((5, 5)), rng.random((20000, 2))
    path = PrefixPath(G, Y)
    for reg in (1e-4, 1.0):
        reference = Ridge(alpha=20000 * reg).fit(G, Y)
        coef, intercept = path.solve(reg).coef()
        np.testing.assert_allclose(coef, reference.coef_.T, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(intercept, reference.intercept_, rtol=1e-8)


@given(seeds, st.integers(2, 20), st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_the_full_kernel_solves_the_dual_system(seed, n, d):
    rng = np.random.default_rng(seed)
    X, new, Y = (rng.standard_normal(shape) for shape in ((n, 2), (5, 2), (n, d)))
    K = gram(X, kernel="gaussian", gamma=0.7)
    K_new = gram(new, X, kernel="gaussian", gamma=0.7)
    weights = [1e-5, 1e-2, 10.0]
    responses = LSSVMPath(K, Y).responses(K_new, weights)
    for reg, ours in zip(weights, responses, strict=True):
        # stationary in alpha and b: (K + n reg I) alpha + 1 b = Y, 1^T alpha = 0
        system = np.block([[K + n * reg * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), 0.0]])
        solution = np.linalg.solve(system, np.vstack([Y, np.zeros((1, d))]))
        np.testing.assert_allclose(ours, K_new @ solution[:-1] + solution[-1], atol=1e-8)
        # and no direction lowers the objective
        alpha, b = solution[:-1], solution[-1]

        def objective(alpha, b, reg=reg):
            fit = np.sum((Y - K @ alpha - b) ** 2) / (2 * n)
            return fit + reg / 2 * np.trace(alpha.T @ K @ alpha)

        step = rng.standard_normal(alpha.shape), rng.standard_normal(d)
        best = objective(alpha, b)
        for t in (-1e-3, 1e-3):
            assert objective(alpha + t * step[0], b + t * step[1]) >= best - 1e-12


@given(seeds, st.integers(3, 12))
@settings(max_examples=20, deadline=None)
def test_leave_one_out_of_the_full_kernel_is_retraining(seed, n):
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((n, 2)), rng.standard_normal((n, 2))
    K = gram(X, kernel="gaussian", gamma=0.7)
    weights = [1e-3, 1.0]
    for reg, responses in zip(weights, LSSVMPath(K, Y).leave_one_out(weights), strict=True):
        for i in range(n):
            rest = np.flatnonzero(np.arange(n) != i)
            path = LSSVMPath(K[np.ix_(rest, rest)], Y[rest])
            expected = path.responses(K[[i]][:, rest], [reg * n / (n - 1)])[0, 0]
            np.testing.assert_allclose(responses[i], expected, atol=1e-9)


@pytest.mark.parametrize("decompose", [lambda K, Y: csi(K, Y, None, tol=0.0),
                                       lambda K, Y: incomplete_cholesky(K, tol=0.0)])  # fmt: skip
def test_a_complete_factor_gives_the_full_kernel_machine(decompose):
    rng = np.random.default_rng(1)
    X, new = rng.standard_normal((60, 3)), rng.standard_normal((20, 3))
    Y = np.stack([np.sin(X[:, 0]), X[:, 1] ** 2], axis=1)
    K = gram(X, kernel="gaussian", gamma=0.3)
    K_new = gram(new, X, kernel="gaussian", gamma=0.3)
    factor = decompose(K, Y)
    rows = factor.transform(K_new[:, factor.pivots])
    for reg in (1e-6, 1e-3):
        *_, responses = PrefixPath(factor.factor, Y).staged_responses(rows, reg)
        expected = LSSVMPath(K, Y).responses(K_new, [reg])[0]
        np.testing.assert_allclose(responses, expected, atol=1e-6)


@parametrize_with_checks(
    [CSILSSVM(), CSILSSVM(task="regression"), CSILSSVM(decomposition="cholesky")]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


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
    assert not hasattr(CSILSSVM("regression"), "decision_function")


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


def test_sparse_features_are_the_same_machine():
    X, y = classes(2)
    X = np.where(X > 0, X, 0.0)
    dense = CSILSSVM(gamma=0.1).fit(X, y)
    np.testing.assert_array_equal(
        CSILSSVM(gamma=0.1).fit(sparse.csr_matrix(X), y).predict(sparse.csr_matrix(X)),
        dense.predict(X),
    )


def test_regression_of_one_and_of_several_responses():
    X, Y = make_regression(120, 4, n_targets=2, noise=1.0, random_state=0)
    both = CSILSSVM("regression", kernel="linear", reg=1e-6, tol=0.0).fit(X, Y)
    assert both.predict(X).shape == Y.shape and both.score(X, Y) > 0.99
    assert len(both.pivots_) == 4
    reference = Ridge(alpha=120e-6).fit(X, Y)
    np.testing.assert_allclose(both.predict(X), reference.predict(X), rtol=1e-6)
    one = CSILSSVM("regression", kernel="linear", reg=1e-6, tol=0.0).fit(X, Y[:, 0])
    np.testing.assert_allclose(one.predict(X), reference.predict(X)[:, 0], rtol=1e-6)


def test_grid_search_over_everything_numeric():
    X, y = classes(3)
    assert is_classifier(CSILSSVM()) and is_regressor(CSILSSVM("regression"))
    grid = {"gamma": [0.01, 0.1], "reg": [1e-5, 1e-2], "decomposition": ["csi", "cholesky"]}
    search = GridSearchCV(CSILSSVM(max_rank=15), grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.8


def test_a_kernel_without_content_leaves_the_mean():
    X, y = np.zeros((10, 2)), np.arange(10.0)
    model = CSILSSVM("regression", kernel="linear").fit(X, y)
    assert len(model.pivots_) == 0 and list(model.staged_predict(X)) == []
    np.testing.assert_allclose(model.predict(X), 4.5)
    np.testing.assert_allclose(LSSVMPath(X @ X.T, y[:, None]).responses(X @ X.T, [1.0]), 4.5)


def test_constant_responses_are_predicted():
    X, _ = classes(2)
    with pytest.warns(UserWarning, match="constant"):
        model = CSILSSVM("regression").fit(X, np.full(len(X), 3.0))
    np.testing.assert_allclose(model.predict(X), 3.0)


def test_a_fitted_model_is_small_and_survives_pickling():
    X, y = classes(2, n=2000)
    model = CSILSSVM(gamma=0.1, max_rank=5).fit(X, y)
    packed = pickle.dumps(model)
    assert len(packed) < 20_000  # neither the factor of all points nor their features
    np.testing.assert_array_equal(pickle.loads(packed).predict(X), model.predict(X))


def test_wrong_parameters_are_named():
    X, y = classes(2)
    K = X @ X.T
    for call, match in [
        (lambda: CSILSSVM("ranking").fit(X, y), "task"),
        (lambda: CSILSSVM(decomposition="nystrom").fit(X, y), "decomposition"),
        (lambda: CSILSSVM(reg=0.0).fit(X, y), "reg"),
        (lambda: CSILSSVM(gamma=-1.0).fit(X, y), "gamma"),
        (lambda: CSILSSVM(kernel="cosine").fit(X, y), "kernel"),
        (lambda: CSILSSVM(kernel="precomputed").fit(X, y), "square"),
        (lambda: CSILSSVM().fit(X, np.full(len(X), "red")), "one class"),
        (lambda: PrefixPath(X, X[:, 0]), "two-dimensional"),
        (lambda: LSSVMPath(X, X), "kernel_matrix"),
        (lambda: LSSVMPath(K, X).responses(K, [0.0]), "reg"),
    ]:
        with pytest.raises(InputError, match=match):
            call()
