"""Scaling of each side by the vertices that train, and low-rank features of its kernel."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

from kronbench import PairData
from kronbench.evaluation import VertexKFold
from kronbench.linalg import dense, gram
from kronbench.models import KronRidge, VertexNystroem, VertexScaler


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


def test_vertex_effects_know_their_vertices_behind_it(problem):
    X, y = problem
    model = KronRidge(row_effect=2.0, col_effect=1.0)
    pipeline = make_pipeline(VertexScaler(), model).fit(X[:60], y[:60])
    scaled = VertexScaler().fit_transform(X[:60])
    test = PairData(scaled.row_features, scaled.col_features, X.rows, X.cols)
    expected = clone(model).fit(scaled, y[:60]).predict(test)
    np.testing.assert_allclose(pipeline.predict(X), expected)
    without = clone(model).set_params(row_effect=0, col_effect=0).fit(scaled, y[:60])
    assert not np.allclose(without.predict(test), expected)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_features_that_change_in_place_are_other_features(problem, form):
    X, _ = problem
    X = X.with_features(form(X.row_features), form(X.col_features))
    scaler = VertexScaler().fit(X)
    before = scaler.transform(X).row_features
    assert scaler.transform(X).row_features is before
    again = scaler.transform(X.with_features(X.row_features.copy(), X.col_features))
    assert again.row_features is before  # by their values, they are the same vertices
    values = X.row_features.data if sparse.issparse(X.row_features) else X.row_features
    values[:] = 2 * values
    found = scaler.transform(X).row_features
    assert found is not before
    expected = (dense(X.row_features) - scaler.row_mean_) / scaler.row_scale_
    np.testing.assert_allclose(dense(found), expected, rtol=1e-14)


def fingerprints(v, rng, bits=64):
    """Sparse bits, some of them common; every tenth vertex is the one before it again."""
    X = rng.random((v, bits)) < np.linspace(0.5, 0.05, bits)
    X[9::10] = X[8::10]
    return sparse.csr_array(X.astype(np.int8))


@pytest.fixture
def bits():
    rng = np.random.default_rng(0)
    X = PairData(fingerprints(50, rng), rng.normal(size=(8, 3)), *_drawn(rng, 50, 8, 200))
    return X, rng.normal(size=200)


def _drawn(rng, m, q, n):
    return np.divmod(rng.permutation(m * q)[:n], q)


KERNELS = {"row_kernel": "tanimoto", "col_kernel": "gaussian", "col_gamma": 0.2}


def test_at_full_rank_the_model_is_that_of_the_exact_kernels(bits):
    X, y = bits
    lowrank = VertexNystroem(**KERNELS, random_state=0)
    model = make_pipeline(lowrank, KronRidge(form="primal", reg=0.5, tol=1e-12, max_iter=1000))
    exact = KronRidge(**KERNELS, reg=0.5, tol=1e-12, max_iter=1000).fit(X, y)
    model.fit(X, y)
    assert lowrank.row_error_ < 1e-11
    assert lowrank.row_landmarks_.shape[0] < 50  # the twins need no landmark
    rng = np.random.default_rng(1)
    new = PairData(fingerprints(20, rng), rng.normal(size=(6, 3)), *_drawn(rng, 20, 6, 60))
    for pairs in (X, new):
        np.testing.assert_allclose(model.predict(pairs), exact.predict(pairs), atol=1e-8)


def test_the_error_told_is_the_largest_of_the_vertices_that_train(bits):
    X, _ = bits
    some = X[X.rows < 40]
    model = VertexNystroem(row_kernel="tanimoto", row_rank=12, random_state=0).fit(some)
    used = np.unique(some.rows)
    Phi = model.transform(some).row_features[used]
    left = gram(X.row_features[used], kernel="tanimoto") - Phi @ Phi.T
    assert np.abs(left).max() == pytest.approx(model.row_error_)
    assert np.trace(left) / len(used) == pytest.approx(model.row_trace_error_)
    assert 0.1 < model.row_error_ < 1
    assert np.linalg.eigvalsh(left).min() > -1e-12


def test_only_vertices_that_train_become_landmarks_and_a_side_may_stay(bits):
    X, y = bits
    pipeline = make_pipeline(
        VertexNystroem(row_kernel="tanimoto", row_rank=15, dtype="float32", random_state=0),
        KronRidge(form="primal"),
    )
    folds = VertexKFold(3, random_state=0)
    found = cross_val_predict(pipeline, X, y, cv=folds)
    for train, test in folds.split(X):
        model = VertexNystroem(row_kernel="tanimoto", row_rank=15, random_state=0).fit(X[train])
        known = dense(X.row_features)[np.unique(X.rows[train])]
        for landmark in dense(model.row_landmarks_):
            assert (known == landmark).all(axis=1).any()
        Z = model.transform(X[train])
        assert Z.col_features is X.col_features
        assert model.transform(X[test]).row_features is Z.row_features
        expected = clone(pipeline[-1]).fit(Z, y[train]).predict(model.transform(X[test]))
        np.testing.assert_allclose(found[test], expected, atol=1e-4)
