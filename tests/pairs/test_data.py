import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import BaggingClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _safe_indexing, indexable, resample, shuffle

from kronbench import InputError, PairData
from kronbench.models import KronSVM
from kronbench.pairs.data import known_vertices


def test_scikit_learn_indexes_pairs():
    data = PairData.complete(np.eye(4), np.eye(5))
    assert indexable(data, np.zeros(20))[0] is data
    with pytest.raises(ValueError, match=r"\[20, 4\]"):
        indexable(data, np.zeros(4))
    mask = np.arange(20) % 2 == 0
    for index in ([0, 3], np.array([0, 3]), slice(0, 4, 3), mask, mask.tolist()):
        part = _safe_indexing(data, index)
        expected = np.arange(20)[index]
        np.testing.assert_array_equal(part.rows * 5 + part.cols, expected)
        assert part.row_features is data.row_features
    assert len(data[[]]) == 0
    part, number = shuffle(data, np.arange(20), random_state=0)
    np.testing.assert_array_equal(part.rows * 5 + part.cols, number)
    part, number = resample(data, np.arange(20), n_samples=7, random_state=0)
    np.testing.assert_array_equal(part.rows * 5 + part.cols, number)


def test_what_would_not_be_pairs_is_refused_with_what_to_do():
    data = PairData.complete(np.eye(4), np.eye(5))
    y = np.arange(20) % 2
    for fit in (
        lambda: StandardScaler().fit(data),
        lambda: BaggingClassifier(KronSVM()).fit(data, y),
        lambda: np.array([data, data]),
    ):
        with pytest.raises(InputError, match=r"not an array of features.*VertexScaler"):
            fit()
    for index in ((slice(None), 0), (0, 1), (..., 0)):
        with pytest.raises(InputError, match="one dimension: index its pairs"):
            data[index]
    with pytest.raises(InputError, match="index has 2 dimensions: give positions or a mask"):
        data[[[1, 2], [3, 4]]]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((np.eye(2), np.eye(3), [0, 2], [0, 0]), "rows holds the index 2, out of range for 2"),
        ((np.eye(2), np.eye(3), [0, 1], [0, -1]), "cols holds the index -1"),
        ((np.eye(2), np.eye(3), [0], [0, 1]), "rows has 1 entries and cols has 2"),
        ((np.eye(2), np.eye(3), [0.5], [0]), "rows has dtype float64: give integers"),
        ((np.array([[np.nan]]), np.eye(3), [0], [0]), "row_features holds NaN"),
        ((np.eye(2), np.array([["a"]]), [0], [0]), "col_features has dtype <U1"),
        ((np.ones(2), np.eye(3), [0], [0]), "row_features has 1 dimension"),
    ],
)
def test_bad_input_is_one_sentence(arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        PairData(*arguments)


def test_indices_are_kept_in_one_type():
    for dtype in ("int8", "uint8", "uint64", ">i4"):
        X = PairData(np.eye(3), np.eye(2), np.array([0, 2], dtype), np.array([1, 1], dtype))
        assert X.rows.dtype == X.cols.dtype == X[1:].rows.dtype == np.intp
        np.testing.assert_array_equal(X.rows, [0, 2])
    X = PairData(np.eye(3), np.eye(2), np.array([0, 2], "int32"), np.array([1, 1], "int8"))
    assert (X.rows.dtype, X.cols.dtype) == (np.int32, np.intp)


def over(features, ids=None, rows=None):
    rows = range(features.shape[0]) if rows is None else rows
    data = PairData(features, np.ones((1, 1)), rows, np.zeros(len(rows), int))
    data.row_ids = ids
    return data


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_a_vertex_is_known_by_its_values(form, dtype):
    known = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [3.0, 4.0]])
    given = np.array([[3, 4], [0, 1], [1, 1], [-0.0, 0]]).astype(dtype)
    match = known_vertices(over(form(given)), over(known), "row")
    np.testing.assert_array_equal(match, [3, 2, -1, 1])
    match = known_vertices(over(known), over(form(given)), "row")
    np.testing.assert_array_equal(match, [-1, 3, 1, 0])
    if form is sparse.csr_array:  # a stored zero, and columns in another order
        odd = sparse.csr_array(
            (np.array([0, 4, 3], dtype), np.array([0, 1, 0]), [0, 1, 3]), shape=(2, 2)
        )
        np.testing.assert_array_equal(known_vertices(over(odd), over(known), "row"), [1, 3])
        np.testing.assert_array_equal(odd.data, [0, 4, 3])  # as it was given


def test_vertices_of_equal_features_are_positions_or_ids_or_new():
    known = np.array([[1.0], [2.0], [1.0]])
    for same in (known, known.copy()):  # nothing is in doubt: it is the array of the fit
        np.testing.assert_array_equal(known_vertices(over(same), over(known), "row"), [0, 1, 2])
    some = np.array([[2.0], [1.0]])
    with warnings.catch_warnings(action="error"):  # the second occurs in no pair
        match = known_vertices(over(some, rows=(0,)), over(known), "row")
    np.testing.assert_array_equal(match, [1, -1])
    with pytest.warns(UserWarning, match="^1 row vertices have the features of several .* or ids"):
        match = known_vertices(over(some, rows=(0, 1, 1)), over(known), "row")
    np.testing.assert_array_equal(match, [1, -1])
    ids = over(known, ("a", "b", "c"))
    match = known_vertices(over(some, ("b", "c"), rows=(0, 1)), ids, "row")
    np.testing.assert_array_equal(match, [1, 2])
    # an id with other features, or of another vertex with the same, is a new vertex
    match = known_vertices(over(some, ("a", "d"), rows=(0, 1)), ids, "row")
    np.testing.assert_array_equal(match, [-1, -1])
    match = known_vertices(over(known.copy(), ("c", "b", "d")), ids, "row")
    np.testing.assert_array_equal(match, [2, 1, -1])
    np.testing.assert_array_equal(known_vertices(over(known), ids, "row"), [0, 1, 2])
