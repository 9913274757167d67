"""Products of a design whose vertices have sparse features, and the models that take them."""

import numba
import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse

from kronbench import InputError, PairData
from kronbench.models import KronNewton, KronRidge, KronSVM, VertexScaler
from kronbench.models._ridge_path import products
from kronbench.pairs import sparse_design
from kronbench.pairs.sparse_design import SparseDesign, sparse_pays

ROUNDING = {np.float64: 1e-13, np.float32: 1e-5}


def sparse_features(rng, shape, dtype, binary):
    """Features as a user may have them, of any order, and the same dense; the first row is empty.

    Some entries are stored zeros, some are two summands, and indices have 64 bits.
    """
    count = rng.integers(0, 3 * shape[1] // 2, shape[0])
    count[0] = 0
    cols = [rng.integers(0, shape[1], size) for size in count]
    if binary:
        cols = [np.unique(of_row)[::-1] for of_row in cols]
    ends = np.cumsum([0, *map(len, cols)]).astype(np.int64)
    indices = np.concatenate(cols).astype(np.int64)
    values = rng.integers(-2, 3, len(indices)).astype(dtype)
    features = sparse.csr_array((np.ones_like(values) if binary else values, indices, ends), shape)
    features.indices, features.indptr = indices, ends
    return features, features.toarray()


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dtype, sides = draw(st.sampled_from([np.float64, np.float32])), []
    which = draw(st.sampled_from([(True, False), (False, True), (True, True)]))
    for is_sparse in which:
        shape = draw(st.integers(1, 40)), draw(st.integers(1, 30))
        if is_sparse:
            sides.append(sparse_features(rng, shape, dtype, draw(st.booleans())))
        else:
            sides.append([rng.standard_normal(shape).astype(dtype)] * 2)
    n = draw(st.integers(1, 200))
    index = [rng.integers(0, len(dense), n).astype(np.int32) for _, dense in sides]
    entries = draw(st.sampled_from([1, 40, 1 << 18]))
    return *zip(*sides, strict=True), index, dtype, entries, rng


@pytest.mark.parametrize("n_threads", [1, 2])
@given(problem=problems())
def test_products_and_adjoints_are_those_of_the_dense_design(n_threads, problem):
    if n_threads > numba.config.NUMBA_NUM_THREADS:
        pytest.skip("numba has one thread")
    sides, dense, index, dtype, entries, rng = problem
    X = products(*(side.astype(float) for side in dense), *index)
    with pytest.MonkeyPatch.context() as patch:
        # Several blocks of vertices, and a thread for any work
        patch.setattr(sparse_design, "_ENTRIES_OF_A_BLOCK", entries)
        patch.setattr(sparse_design, "WORTH_A_THREAD", 1e-3)
        numba.set_num_threads(n_threads)
        try:
            A = SparseDesign(*sides, *index)
            assert (A.shape, A.dtype) == (X.shape, dtype)
            w, u = (rng.integers(-9, 10, size).astype(dtype) for size in A.shape[::-1])
            scores, coef = A.matvec(w), A.rmatvec(u)
        finally:
            numba.set_num_threads(1)
    for found, matrix, v in ((scores, X, w), (coef, X.T, u)):
        assert found.dtype == dtype
        error, scale = np.abs(found - matrix @ v), np.abs(matrix) @ np.abs(v)
        np.testing.assert_array_less(error, ROUNDING[dtype] * (scale + 1))
    size = np.abs(u) @ (np.abs(X) @ np.abs(w))
    assert abs(float(u @ scores) - float(coef @ w)) <= ROUNDING[dtype] * (size + 1)


MODELS = {
    "ridge": KronRidge(form="primal", max_iter=500),
    "few iterations": KronRidge(form="primal", solver="minres", max_iter=8),
    "svm": KronSVM(form="primal"),
    "logistic": KronNewton(loss="logistic", form="primal", solver="pcg", fit_intercept=True),
}


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_fits_are_those_to_dense_features_without_a_dense_copy(monkeypatch, model, binary, side):
    rng = np.random.default_rng(0)
    features, dense = sparse_features(rng, (90, 30), np.float64, binary)
    others, n = rng.standard_normal((12, 14)), 600
    index, y = (rng.integers(0, 90, n), rng.integers(0, 12, n)), rng.choice([-1.0, 1.0], n)
    order = slice(None, None, 1 - 2 * side)
    X, expected = (PairData(*(one, others)[order], *index[order]) for one in (features, dense))
    # Without deviations of zero the scaler divides, and without means it would be the same.
    scaler = VertexScaler(rows=side == 0, cols=side == 1).fit(X)
    scales = (scaler.row_scale_, scaler.col_scale_)[side]
    expected = expected.with_features(*(dense / scales, others)[order])
    trained = np.arange(n) < 500
    model.fit(expected[trained], y[trained])
    expected = model.decision_function(expected)

    def refuse(self, *args, **kwargs):
        assert 90 not in self.shape, "a dense copy of the features is made"
        return toarray(self, *args, **kwargs)

    toarray = sparse.csr_array.toarray
    monkeypatch.setattr(sparse.csr_array, "toarray", refuse)
    monkeypatch.setattr(sparse_design, "LIST_OPERATION", 0)
    X = scaler.transform(X)
    scores = model.fit(X[trained], y[trained]).decision_function(X)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_sparse_features_are_made_dense_where_that_is_cheaper_and_fits():
    rng, shape = np.random.default_rng(0), (400, 200)
    wide, T = sparse.random_array(shape, density=0.1, rng=rng, format="csr"), np.ones((50, 3))
    few = np.arange(50), np.arange(50)
    everything = np.divmod(np.arange(400 * 50), 50)
    assert sparse_pays(wide, rng.standard_normal((50, 40)), *few, "auto")
    assert not sparse_pays(wide, T, *everything, "auto")
    assert not sparse_pays(wide, rng.standard_normal((50, 40)), *few, "dense")
    assert not sparse_pays(wide.toarray(), T, *everything, "auto")
    million = sparse.csr_array((1 << 20, 1 << 10))  # 8 GiB if it were dense
    assert sparse_pays(million, T, np.arange(9), np.arange(9), "auto")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_refused(value):
    with pytest.raises(InputError, match="row_features holds NaN or infinite values"):
        PairData(sparse.csr_array([[0.0, value]]), [[1.0]], [0], [0])
