"""Splits by similarity: the promise, against every two vertices of test and training pairs."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.model_selection import cross_val_score

from kronbench import InputError, PairData
from kronbench.evaluation import SimilarityKFold
from kronbench.linalg import gram
from kronbench.models import KronRidge


def problem(seed, share=1.0):
    """Fingerprints of 14 rows and 11 columns, some nearly the same, and some of their pairs."""
    rng = np.random.default_rng(seed)
    sides = []
    for n in (14, 11):
        centres = rng.random((n, 12)) < 0.5
        bits = centres[rng.integers(0, n, n)] ^ (rng.random((n, 12)) < 0.06)
        sides.append(bits.astype(float))
    X = PairData.complete(*sides)
    return X[np.flatnonzero(rng.random(len(X)) < share)]


@given(
    seed=st.integers(0, 10**6),
    threshold=st.floats(0.2, 1.0),
    side=st.sampled_from(["rows", "cols", "both"]),
    n_splits=st.integers(2, 4),
    share=st.floats(0.4, 1.0),
)
def test_no_test_vertex_is_as_similar_as_the_threshold_to_one_that_trains(
    seed, threshold, side, n_splits, share
):
    X = problem(seed, share)
    splitter = SimilarityKFold(
        threshold, side, n_splits, row_kernel="tanimoto", col_kernel="tanimoto", random_state=seed
    )
    try:
        splits, leaks = list(splitter.split(X)), splitter.leak(X)
    except InputError:  # too few clusters, or an empty block
        return
    sides = ["rows", "cols"] if side == "both" else [side]
    assert len(splits) == splitter.get_n_splits() == n_splits ** len(sides)
    tested = np.concatenate([test for _, test in splits])
    np.testing.assert_array_equal(np.sort(tested), np.arange(len(X)))
    for name in sides:
        features, vertices = getattr(X, f"{name[:-1]}_features"), getattr(X, name)
        S = gram(features, kernel="tanimoto")
        left = [
            S[np.ix_(np.unique(vertices[test]), np.unique(vertices[train]))].max()
            for train, test in splits
        ]
        assert max(left) < threshold
        assert leaks[name].vertices == len(np.unique(vertices))
        # where all pairs are there, what is told is what is left, and no more
        assert leaks[name].largest < threshold
        if len(X) == 14 * 11:
            assert leaks[name].largest == pytest.approx(max(left))
        else:
            assert leaks[name].largest >= max(left)


def test_folds_are_as_even_as_the_clusters_let_them_be():
    S = np.kron(np.eye(4), np.ones((3, 3)))  # four clusters of three
    X = PairData.complete(S, np.eye(2))
    splits = list(SimilarityKFold(0.5, "rows", 2, random_state=0).split(X))
    assert [len(test) for _, test in splits] == [12, 12]
    assert SimilarityKFold(0.5, "rows", 2, random_state=0).leak(X)["rows"] == (12, 4, 0.0)


def test_a_similarity_has_no_scale(rng):
    X = problem(1)
    D = X.row_features * rng.uniform(0.1, 10, (14, 1))
    D[3] = 0  # like nothing
    scaled = PairData(D, X.col_features, X.rows, X.cols)
    products = PairData(D @ D.T, X.col_features, X.rows, X.cols)
    cosines = SimilarityKFold(0.8, n_splits=2, row_kernel="linear", random_state=0)
    one, other = cosines.leak(scaled), SimilarityKFold(0.8, n_splits=2, random_state=0)
    assert one["rows"][:2] == other.leak(products)["rows"][:2]
    assert one["rows"].largest == pytest.approx(other.leak(products)["rows"].largest)


def test_repeats_divide_anew_and_scikit_learn_takes_them():
    X = problem(2)
    y = np.sign(X.row_features[X.rows, 0] * X.col_features[X.cols, 0] - 0.5)
    splitter = SimilarityKFold(0.9, "rows", 2, 2, row_kernel="tanimoto", random_state=0)
    (_, a), _, (_, b), _ = splitter.split(X)
    assert len(a) != len(b) or (a != b).any()
    assert len(cross_val_score(KronRidge(), X, y, cv=splitter)) == 4


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"threshold": 1.5}, "at most 1"),
        ({"threshold": 0}, "positive"),
        ({"side": "row"}, "side='row' is unknown"),
        ({"n_splits": 1}, "n_splits is 1"),
        ({"n_repeats": 0}, "n_repeats is 0"),
        ({"row_kernel": "precomputed"}, "not a matrix of similarities"),
        ({"threshold": 1e-6}, "form 1 cluster, and n_splits is 5"),
    ],
)
def test_bad_parameters_are_one_sentence(options, sentence):
    splitter = SimilarityKFold(**{"row_kernel": "tanimoto"} | options)
    with pytest.raises(InputError, match=sentence):
        list(splitter.split(problem(0)))
