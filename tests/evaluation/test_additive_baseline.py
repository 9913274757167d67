"""Row and column effects."""

import numpy as np
import pytest

from kronbench import InputError, PairData
from kronbench.evaluation import additive_scores


def test_it_is_the_ridge_regression_on_indicators_of_vertices_of_which_new_ones_have_none(rng):
    test = PairData.complete(np.zeros((7, 1)), np.zeros((6, 1)))
    X = test[(test.rows < 6) & (test.cols < 5)][rng.permutation(30)[:20]]
    y = rng.normal(5, 1, 20)
    A = np.hstack([np.eye(7)[X.rows], np.eye(6)[X.cols]])
    effects = np.linalg.solve(A.T @ A + 2 * np.eye(13), A.T @ (y - y.mean()))
    expected = y.mean() + effects[:7][test.rows] + effects[7:][test.cols]
    np.testing.assert_allclose(additive_scores(X, y, test, reg=2.0), expected, rtol=1e-7)


def test_other_vertices_are_refused():
    X = PairData.complete(np.zeros((4, 1)), np.zeros((3, 1)))
    with pytest.raises(InputError, match="4 x 3 vertices and test over 3 x 3"):
        additive_scores(X, np.ones(12), PairData.complete(np.zeros((3, 1)), np.zeros((3, 1))))


def test_vertices_with_equal_sums_of_labels_are_tied(rng):
    X = PairData.complete(np.zeros((40, 1)), np.zeros((30, 1)))
    y = np.zeros((30, 40))
    for column in y:  # every column has 3 or 6 ones, somewhere
        column[rng.choice(40, rng.choice([3, 6]), replace=False)] = 1
    grid = np.zeros(len(X))
    grid[:] = y[X.cols, X.rows]
    known = X.rows < 36
    scores = additive_scores(X[known], grid[known], X[X.rows == 39])
    sums = np.bincount(X.cols[known], grid[known])
    assert len(np.unique(scores)) == len(np.unique(sums))
