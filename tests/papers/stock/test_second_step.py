"""The kernel of a tree, and ridge regression over its leaves, against dense formulas."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

from kronbench.models import TwoStepRidge
from kronbench.papers.stock.measure.mini_batches import SecondStep, path_features


def random_tree(seed, size):
    rng = np.random.default_rng(seed)
    parents = np.array([-1, *(rng.integers(node) for node in range(1, size))])
    return parents, np.setdiff1d(np.arange(size), parents)


@given(st.integers(0, 10**6), st.integers(2, 30), st.floats(0.5, 20))
def test_inner_products_are_the_kernel_of_dijkstras_distances(seed, size, width):
    parents, leaves = random_tree(seed, size)
    edges = (np.ones(size - 1), (np.arange(1, size), parents[1:]))
    graph = sparse.csr_array(edges, shape=(size, size))
    distance = shortest_path(graph, directed=False, method="D")[np.ix_(leaves, leaves)]
    features = path_features(parents, leaves, width)
    np.testing.assert_allclose(
        (features @ features.T).toarray(), np.exp(-distance / width), atol=1e-12
    )


@given(st.integers(0, 10**6), st.integers(3, 30), st.floats(0.01, 10))
def test_the_second_step_on_a_tree_is_that_of_the_dense_kernel(seed, size, reg):
    parents, leaves = random_tree(seed, size)
    rng = np.random.default_rng(seed)
    features = path_features(parents, leaves, 10)
    G = (features @ features.T).toarray()
    H = np.linalg.solve(G + reg * np.eye(len(G)), G)
    F = rng.normal(size=(4, len(leaves)))
    step = SecondStep(features, reg)
    np.testing.assert_allclose((features @ step.weights(F).T).T, F @ H, atol=1e-9)
    columns = np.flatnonzero(rng.random(len(leaves)) < 0.6)
    y = rng.integers(len(leaves), size=4)
    error = np.sum((F[:, columns] @ H[columns] - np.eye(len(leaves))[y]) ** 2)
    assert step.squared_error(F[:, columns], columns, y) == pytest.approx(error, abs=1e-9)


def test_it_is_the_second_step_of_two_step_ridge_regression():
    parents, leaves = random_tree(3, 25)
    features = path_features(parents, leaves, 10)
    known, novel = features[:-3], features[-3:]
    rng = np.random.default_rng(3)
    X, Y, X_test = rng.normal(size=(12, 4)), rng.normal(size=(12, len(leaves) - 3)), np.eye(4)
    model = TwoStepRidge(reg_rows=0.3, reg_cols=0.7).fit_matrix(X, known, Y)
    F = X_test @ np.linalg.solve(X.T @ X + 0.3 * np.eye(4), X.T @ Y)
    predicted = (novel @ SecondStep(known, 0.7).weights(F).T).T
    np.testing.assert_allclose(predicted, model.predict_matrix(X_test, novel), atol=1e-9)
