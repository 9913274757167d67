"""Rivals of the kernel methods against their formulas and against scikit-learn."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kronbench.evaluation import roc_auc, shuffle_split
from kronbench.pairs import PairData
from kronbench_suite.studies.rivals.measure import network_rivals
from kronbench_suite.studies.rivals.measure.concatenated_rivals import (
    PairKNNRegressor,
    PairMLP,
    PairSGDRegressor,
    PairSVM,
)
from kronbench_suite.studies.rivals.measure.network_rivals import NRLMF, WNNGIP
from kronbench_suite.studies.rivals.measure.pair_rivals import features


def similarities(rng, *sizes):
    points = [rng.standard_normal((size, 3)) for size in sizes]
    return [np.exp(-np.square(P[:, None] - P).sum(axis=2)) for P in points]


@pytest.fixture
def pairs():
    """Three quarters of the pairs of 9 x 7 vertices; row 8 and columns 5 and 6 are new."""
    rng = np.random.default_rng(0)
    X = PairData.complete(*similarities(rng, 9, 7))
    X = X[rng.permutation(63)[:47]]
    new = (X.rows == 8) | (X.cols >= 5)
    return X, np.where(~new & (rng.random(47) < 0.4), 1.0, -1.0)


def test_factors_descend_along_the_gradient_of_the_papers_objective(pairs):
    X, y = pairs
    model = NRLMF(rank=3, reg=0.3, alpha=0.7, beta=0.2, importance=4.0, others=0.6, n_neighbors=2)
    problem = model._problem(X, y)
    rng = np.random.default_rng(1)
    U, V = rng.standard_normal((9, 3)), rng.standard_normal((7, 3))
    # the objective as it is printed, a sum over pairs and over edges of the graphs
    labels = dict(zip(zip(X.rows, X.cols, strict=True), y, strict=True))
    expected = 0.0
    for i in range(9):
        for j in range(7):
            logit = U[i] @ V[j]
            weight = {1.0: 4.0, -1.0: 1.0, None: 0.6}[labels.get((i, j))]
            expected += weight * np.log(1 + np.exp(logit))
            expected -= 4.0 * logit * (labels.get((i, j)) == 1.0)
    for F, K, weight in ((U, X.row_features, 0.7), (V, X.col_features, 0.2)):
        expected += 0.3 / 2 * np.sum(F**2)
        for i in range(len(K)):
            others = sorted(set(range(len(K))) - {i}, key=lambda k: -K[i, k])
            edges = (K[i, k] * np.sum((F[i] - F[k]) ** 2) for k in others[:2])
            expected += weight / 4 * sum(edges)
    assert problem.loss(U, V) == pytest.approx(expected)
    for side, at in ((0, U), (1, V)):
        factors = [U, V]

        def loss(flat, side=side, factors=factors, shape=at.shape):
            factors[side] = flat.reshape(shape)
            return problem.loss(*factors)

        numerical = approx_fprime(at.ravel(), loss, 1e-6)
        np.testing.assert_allclose(problem.gradient(side, U, V).ravel(), numerical, atol=1e-4)


def test_factors_end_where_both_gradients_are_zero(monkeypatch):
    rng = np.random.default_rng(2)
    X = PairData.complete(*similarities(rng, 6, 5))
    y = np.where((X.rows + X.cols) % 3 == 0, 1.0, -1.0)  # each vertex has an interaction
    monkeypatch.setattr(network_rivals, "_CONVERGED", 0.0)
    model = NRLMF(rank=2, n_neighbors=2, step=0.5, max_iter=3000, random_state=0).fit(X, y)
    factors = model.row_factors_, model.col_factors_
    for side in (0, 1):
        slope = model._problem(X, y).gradient(side, *factors)
        np.testing.assert_allclose(slope, 0, atol=1e-6)
    np.testing.assert_allclose(model.predict(X), (factors[0] @ factors[1].T).ravel())


def test_a_new_vertex_has_the_mean_factors_of_its_neighbours(pairs):
    X, y = pairs
    model = NRLMF(rank=3, n_neighbors=2, random_state=0).fit(X, y)
    U, known = model.row_factors_, np.unique(X.rows[y > 0])
    assert 8 not in known
    nearest = known[np.argsort(-X.row_features[8, known])[:2]]
    expected = np.average(U[nearest], axis=0, weights=X.row_features[8, nearest])
    np.testing.assert_allclose(U[8], expected)


def test_wnn_gip_solves_the_kronecker_system_of_its_kernels(pairs):
    X, y = pairs
    model = WNNGIP(decay=0.6, alpha=0.3, reg=0.7).fit(X, y)
    Y = np.zeros((9, 7))
    Y[X.rows[y > 0], X.cols[y > 0]] = 1
    # profiles of rows without an interaction first, then those of columns
    for S, P in ((X.row_features, Y), (X.col_features, Y.T)):
        known = np.flatnonzero(P.any(axis=1))
        for new in set(range(len(P))) - set(known):
            order = known[np.argsort(-S[new, known])]
            P[new] = sum(0.6**k * P[other] for k, other in enumerate(order))
    kernels = []
    for S, P in ((X.row_features, Y), (X.col_features, Y.T)):
        squares = np.square(P[:, None] - P).sum(axis=2)
        profile_kernel = np.exp(-squares / np.square(P).sum(axis=1).mean())
        kernels.append(0.3 * S + 0.7 * profile_kernel)
    K = np.kron(*kernels)
    scores = K @ np.linalg.solve(K + 0.7 * np.eye(63), Y.ravel())
    complete = PairData.complete(X.row_features, X.col_features)
    np.testing.assert_allclose(model.predict(complete), scores, atol=1e-9)


def number_pairs(copies=1):
    """400 and 200 pairs of 30 x 20 vertices, of which so many are equal, with numbers."""
    rng = np.random.default_rng(3)
    sides = [rng.standard_normal((n // copies, 3)).repeat(copies, axis=0) for n in (30, 20)]
    X = PairData.complete(*sides)
    y = 5 + 3 * X.row_features[X.rows, 0] - 2 * X.col_features[X.cols, 1] + rng.normal(size=600)
    order = rng.permutation(600)
    return X[order[:400]], y[order[:400]], X[order[400:]]


def test_nearest_neighbours_are_those_of_scikit_learn():
    X, y, test = number_pairs()
    path = PairKNNRegressor().fit(X, y).decision_path(test, [30, 1, 4])
    for scores, number in zip(path.T, (30, 1, 4), strict=True):
        np.testing.assert_array_equal(PairKNNRegressor(number).fit(X, y).predict(test), scores)
        expected = KNeighborsRegressor(number).fit(features(X), y).predict(features(test))
        np.testing.assert_allclose(scores, expected)


def test_pairs_that_are_equally_far_come_in_their_order():
    X, y, test = number_pairs(copies=2)
    squares = np.square(features(test)[:, None] - features(X)).sum(axis=2)
    order = np.argsort(np.round(squares, 5), axis=1, kind="stable")
    scores = PairKNNRegressor(3).fit(X, y).predict(test)
    np.testing.assert_allclose(scores, y[order[:, :3]].mean(axis=1))


def test_descent_on_squared_errors_ends_at_ridge_regression():
    X, y, test = number_pairs()
    ridge = make_pipeline(StandardScaler(), Ridge(alpha=40.0)).fit(features(X), y)
    model = PairSGDRegressor(reg=40.0, n_updates=400_000, random_state=0).fit(X, y)
    np.testing.assert_allclose(
        model.predict(test), ridge.predict(features(test)), atol=0.02 * y.std()
    )


def test_decision_values_of_the_network_are_the_logits_of_its_probabilities():
    X, y, test = number_pairs()
    model = PairMLP(width=5, max_iter=20, random_state=0).fit(X, np.sign(y - 5))
    scaler, network = model.model_.named_steps.values()
    hidden = scaler.transform(features(test)) @ network.coefs_[0] + network.intercepts_[0]
    logits = np.maximum(hidden, 0) @ network.coefs_[1] + network.intercepts_[1]
    np.testing.assert_allclose(model.predict(test), logits.ravel(), rtol=1e-4, atol=1e-5)
    again = PairMLP(**model.get_params()).fit(X, np.sign(y - 5))
    np.testing.assert_array_equal(again.predict(test), model.predict(test))


LEARNERS = {
    "NRLMF": NRLMF(rank=10, random_state=0),
    "WNN-GIP": WNNGIP(),
    "MLP": PairMLP(random_state=0),
    "SVM": PairSVM(),
    "SGD": PairSGDRegressor(100.0, 10_000, random_state=0),
    "KNN": PairKNNRegressor(5),
}


@pytest.mark.parametrize("setting", ["A", "B", "C", "D"])
@pytest.mark.parametrize("name", LEARNERS)
def test_classes_and_numbers_of_new_vertices_are_ranked(name, setting):
    rng = np.random.default_rng(4)
    X = PairData.complete(*similarities(rng, 50, 40))
    # high where both vertices are near the first of their side, by what only they tell
    numbers = X.row_features[X.rows, 0] + 0.7 * X.col_features[X.cols, 0]
    numbers += rng.normal(0, 0.05, len(X))
    positive = numbers > np.quantile(numbers, 0.8)
    train, test = shuffle_split(X, setting, 0.25, 0)
    labels = [np.where(positive, 1.0, -1.0)] if name not in ("SGD", "KNN") else []
    labels += [numbers] if name in ("MLP", "SVM", "SGD", "KNN") else []
    for y in labels:
        model = clone(LEARNERS[name]).fit(X[train], y[train])
        assert roc_auc(np.where(positive, 1, -1)[test], model.predict(X[test])) > 0.8
