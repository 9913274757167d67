import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _safe_indexing, indexable, resample, shuffle

from kronbench import InputError, PairData
from kronbench.models import KronSVM


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
