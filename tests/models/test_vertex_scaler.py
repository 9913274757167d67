"""Scaling of each side by the vertices that train."""

import numpy as np
import pytest
from scipy import sparse

from kronbench import PairData
from kronbench.linalg import dense
from kronbench.models import VertexScaler


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = PairData.complete(rng.normal(3, 5, (12, 3)), rng.normal(-1, 0.1, (9, 2)))
    X = X[rng.permutation(108)[:80]]
    return X, rng.normal(size=80)


def test_each_vertex_that_trains_counts_once(problem):
    X, _ = problem
    some = X[X.rows < 5]
    scaler = VertexScaler().fit(some[np.r_[0, 0, 0, : len(some)]])
    used = X.row_features[:5]
    np.testing.assert_allclose(scaler.row_mean_, used.mean(axis=0))
    np.testing.assert_allclose(scaler.row_scale_, used.std(axis=0))
    expected = (X.row_features - used.mean(axis=0)) / used.std(axis=0)
    np.testing.assert_allclose(scaler.transform(X).row_features, expected)


def test_sparse_features_stay_sparse_and_a_side_may_stay_as_it_is(problem):
    X, _ = problem
    sides = sparse.csr_array(X.row_features), X.col_features
    scaled = VertexScaler(cols=False).fit_transform(PairData(*sides, X.rows, X.cols))
    assert scaled.col_features is X.col_features
    np.testing.assert_allclose(
        scaled.row_features.toarray(), X.row_features / X.row_features.std(axis=0)
    )


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_features_that_change_in_place_are_other_features(problem, form):
    X, _ = problem
    X = X.with_features(form(X.row_features), form(X.col_features))
    scaler = VertexScaler().fit(X)
    before = scaler.transform(X).row_features
    again = scaler.transform(X.with_features(X.row_features.copy(), X.col_features))
    # By their values, they are the same vertices.
    np.testing.assert_array_equal(dense(again.row_features), dense(before))
    values = X.row_features.data if sparse.issparse(X.row_features) else X.row_features
    values[:] = 2 * values
    found = scaler.transform(X).row_features
    assert (dense(found) != dense(before)).any()
    expected = (dense(X.row_features) - scaler.row_mean_) / scaler.row_scale_
    np.testing.assert_allclose(dense(found), expected, rtol=1e-14)
