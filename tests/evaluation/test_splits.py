"""The zero-shot split, one new side, and the four settings."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kronbench import InputError, PairData
from kronbench.evaluation import (
    SettingKFold,
    VertexDisjointKFold,
    VertexKFold,
    even_folds,
    n_two_thirds,
    shuffle_split,
    two_thirds,
)


def complete(m, q):
    return PairData.complete(np.zeros((m, 1)), np.zeros((q, 1)))


def some(share, seed, m, q):
    X = complete(m, q)
    return X[np.flatnonzero(np.random.default_rng(seed).random(len(X)) < share)]


seeds = st.integers(0, 1000)
pairs = st.builds(some, st.floats(0.3, 1.0), seeds, st.integers(2, 9), st.integers(2, 9))


@given(pairs, st.integers(2, 4), st.integers(2, 4), seeds)
def test_folds_share_no_vertex_and_test_blocks_partition(X, n_row_folds, n_col_folds, seed):
    splitter = VertexDisjointKFold(n_row_folds, n_col_folds, random_state=seed)
    try:
        splits = list(splitter.split(X))
    except InputError:  # a block is empty, or vertices are too few
        return
    assert len(splits) == splitter.get_n_splits() == n_row_folds * n_col_folds
    row_fold, col_fold = splitter.blocks(X)
    for k, (train, test) in enumerate(splits):
        assert not np.intersect1d(X.rows[train], X.rows[test]).size
        assert not np.intersect1d(X.cols[train], X.cols[test]).size
        # nothing that could train is left out; blocks are numbered along the rows
        a, b = divmod(k, n_col_folds)
        np.testing.assert_array_equal(test, np.flatnonzero((row_fold == a) & (col_fold == b)))
        np.testing.assert_array_equal(train, np.flatnonzero((row_fold != a) & (col_fold != b)))
    tested = np.concatenate([test for _, test in splits])
    np.testing.assert_array_equal(np.sort(tested), np.arange(len(X)))


@given(pairs, st.sampled_from("ABCD"), st.integers(2, 4), st.integers(1, 3), seeds)
def test_settings_hold_what_they_promise(X, setting, n_splits, n_repeats, seed):
    rng = np.random.default_rng(seed)
    splitter = SettingKFold(setting, n_splits, n_repeats, random_state=seed)
    try:
        splits = list(splitter.split(X, rng.integers(2, size=len(X))))
    except InputError:
        available = {"A": len(X), "B": len(np.unique(X.rows)), "C": len(np.unique(X.cols))}
        assert setting == "D" or available[setting] < n_splits
        return
    assert len(splits) == splitter.get_n_splits()
    n_tests = len(splits) // n_repeats
    for repeat in range(n_repeats):
        tests = [test for _, test in splits[repeat * n_tests : (repeat + 1) * n_tests]]
        np.testing.assert_array_equal(np.sort(np.concatenate(tests)), np.arange(len(X)))
    for train, test in splits:
        assert len(train)
        assert not np.intersect1d(train, test).size
        if setting in "BD":
            assert not np.intersect1d(X.rows[train], X.rows[test]).size
        if setting in "CD":
            assert not np.intersect1d(X.cols[train], X.cols[test]).size
        if setting != "D":  # nothing that could train is left out
            assert len(train) + len(test) == len(X)


@pytest.mark.parametrize("setting", "ABCD")
def test_repeats_differ_and_seeds_decide(setting):
    X, y = complete(12, 10), np.arange(120) % 2
    tests = [tuple(test) for _, test in SettingKFold(setting, 3, 2, random_state=0).split(X, y)]
    again = [tuple(test) for _, test in SettingKFold(setting, 3, 2, random_state=0).split(X, y)]
    other = [tuple(test) for _, test in SettingKFold(setting, 3, 2, random_state=1).split(X, y)]
    assert tests == again
    half = len(tests) // 2
    assert set(tests[:half]).isdisjoint(tests[half:])
    assert set(tests).isdisjoint(other)


def test_random_pairs_keep_the_share_of_two_labels():
    X = complete(10, 9)
    for rare in (15, 5):  # three, or the only one, for each of five parts
        y = np.repeat([0.0, 0.1], [90 - rare, rare])
        for _, test in SettingKFold("A", 5, n_repeats=4, random_state=0).split(X, y):
            assert (y[test] > 0).sum() == rare // 5


def test_sizes_of_training_and_test_sets():
    X = complete(9, 6)
    for setting in "ABCD":
        splitter = SettingKFold(setting, 3, random_state=0)
        train, test = next(splitter.split(X))
        sides = 2 if setting == "D" else 1  # pairs are rows times columns, which are counted
        assert len(test) / len(train) == splitter.test_over_train**sides, setting


@pytest.mark.parametrize(
    ("splitter", "message"),
    [
        (VertexKFold(1), "n_splits is 1: give a whole number, at least 2"),
        (VertexKFold(5, "cols"), "n_splits is 5, but only 4 col vertices"),
        (VertexKFold(2, "drugs"), "side='drugs' is unknown"),
        (SettingKFold("E"), "setting='E' is unknown"),
        (SettingKFold("A", 17), "n_splits is 17 for 16 pairs"),
        (SettingKFold("B", 5), "only 4 row vertices"),
        (SettingKFold("D", 2, 0), "n_repeats is 0"),
        (SettingKFold("A", 2, 1.5), r"n_repeats is 1\.5: give a whole number, at least 1"),
        *((SettingKFold(s, "3"), "n_splits is '3': give a whole number") for s in "ABCD"),
        *((SettingKFold(s, 2.5), r"n_splits is 2\.5: give a whole number") for s in "ABCD"),
        (VertexKFold(np.nan), "n_splits is nan: give a whole number"),
        (VertexDisjointKFold(3.0), r"n_row_folds is 3\.0: give a whole number"),
        (VertexDisjointKFold(1, 3), "n_row_folds is 1"),
        (VertexDisjointKFold(3, 5), "only 4 col vertices"),
    ],
)
def test_impossible_settings_are_one_sentence(splitter, message):
    with pytest.raises(InputError, match=message):
        next(splitter.split(complete(4, 4)))
    with pytest.raises(InputError, match="is a ndarray"):
        next(splitter.split(np.zeros((4, 2))))


def test_a_block_without_pairs_is_named():
    with pytest.raises(InputError, match=r"block \(\d, \d\) .* no (test|training) pairs"):
        next(VertexDisjointKFold(2, 2, random_state=0).split(complete(4, 4)[[0, 5]]))


def test_one_random_split_is_new_where_the_setting_says():
    rows, cols = np.nonzero(np.random.default_rng(4).random((30, 20)) < 0.4)
    X = PairData(np.eye(30), np.eye(20), rows, cols)
    new = {"A": (False, False), "B": (True, False), "C": (False, True), "D": (True, True)}
    for setting, sides in new.items():
        train, test = shuffle_split(X, setting, 0.25, 1)
        assert not np.intersect1d(train, test).size
        for side, is_new in zip((X.rows, X.cols), sides, strict=True):
            shared = np.isin(side[test], side[train])
            assert not shared.any() if is_new else shared.any()
        if setting != "D":
            assert len(train) + len(test) == len(X)
    _, test = shuffle_split(X, "C", 3, 0)
    assert len(np.unique(X.cols[test])) == 3
    with pytest.raises(InputError, match="unknown"):
        shuffle_split(X, "E", 0.25, 0)


@given(n=st.integers(0, 50), n_folds=st.integers(1, 7), seed=st.integers(0, 99))
def test_every_row_falls_into_one_part_of_the_right_size(n, n_folds, seed):
    rng = np.random.default_rng(seed)
    train, test = two_thirds(n, rng)
    np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(n))
    assert len(train) == n_two_thirds(n)
    assert 0 <= 3 * len(train) - 2 * n < 3
    sizes = np.bincount(even_folds(n, n_folds, rng), minlength=n_folds)
    assert len(sizes) == n_folds
    assert np.ptp(sizes) <= 1
