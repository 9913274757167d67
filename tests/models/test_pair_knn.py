"""Nearest neighbours of pairs against searches on concatenated features."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.neighbors import KNeighborsClassifier

from kronbench import InputError, PairData
from kronbench.models.pair_knn import PairKNN, PairSklearnKNN
from tests.models.kron_problems import concatenated


def random_pairs(rng, m, q, n, features, repeats=False):
    cells = rng.choice(m * q, size=n, replace=repeats)
    return PairData(rng.normal(size=(m, features[0])), rng.normal(size=(q, features[1])),
                    *np.divmod(cells, q))  # fmt: skip


def scikit_learns(train, y, test, n_neighbors):
    """Scores by a search on concatenated features."""
    model = KNeighborsClassifier(n_neighbors).fit(concatenated(train), y)
    return 2 * model.predict_proba(concatenated(test))[:, 1] - 1


def ordered_search(train, y, test, n_neighbors):
    """Definition: the first K of all training pairs ordered by (distance, row, column, position).

    Distances are small integers here, so that ties are exact.
    """
    scores = []
    for x in concatenated(test):
        distance = ((concatenated(train) - x) ** 2).sum(axis=1)
        order = np.lexsort((np.arange(len(train)), train.cols, train.rows, distance))
        scores.append(y[order[:n_neighbors]].mean())
    return np.array(scores)


@settings(deadline=None, max_examples=60)
@given(
    m=st.integers(1, 12),
    q=st.integers(1, 12),
    share=st.floats(0.05, 1.0),
    features=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    seed=st.integers(0, 10_000),
)
def test_equal_to_scikit_learn_without_ties(m, q, share, features, seed):
    rng = np.random.default_rng(seed)
    n = max(2, round(share * m * q))
    if n > m * q:
        return
    train, test = random_pairs(rng, m, q, n, features), random_pairs(rng, 5, 4, 20, features)
    y = rng.permutation(np.append([1, -1], rng.choice([1, -1], n - 2)))
    for k in {1, (n + 1) // 2, n}:
        ours = PairKNN(n_neighbors=k).fit(train, y).decision_function(test)
        np.testing.assert_allclose(ours, scikit_learns(train, y, test, k), atol=1e-12)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 30))
def test_ties_and_repeated_pairs_go_to_the_lower_pair(seed, k):
    rng = np.random.default_rng(seed)
    train = PairData(rng.integers(0, 3, (6, 1)), rng.integers(0, 3, (5, 1)),
                     rng.integers(0, 6, 40), rng.integers(0, 5, 40))  # fmt: skip
    test = PairData.complete(np.arange(3)[:, None], np.arange(3)[:, None])
    y = rng.permutation(np.repeat([1, -1], 20))
    np.testing.assert_allclose(
        PairKNN(n_neighbors=k).fit(train, y).decision_function(test),
        ordered_search(train, y, test, k),
    )


def test_one_search_serves_every_number_of_neighbours():
    rng = np.random.default_rng(0)
    train = random_pairs(rng, 30, 20, 300, (2, 3), repeats=True)
    test = random_pairs(rng, 15, 10, 60, (2, 3))
    y = rng.choice([1, -1], 300)
    numbers = [50, 1, 7, 300, 7]
    path = PairKNN().fit(train, y).decision_path(test, numbers)
    for column, k in enumerate(numbers):
        single = PairKNN(n_neighbors=k).fit(train, y).decision_function(test)
        np.testing.assert_array_equal(path[:, column], single)
    for wrong, message in ((301, "301"), (2.5, r"n_neighbors is 2\.5 .* give a whole number")):
        with pytest.raises(InputError, match=message):
            PairKNN().fit(train, y).decision_path(test, [1, wrong])
    with pytest.raises(InputError, match="n_neighbors is 301 with 300"):
        PairKNN(n_neighbors=301).fit(train, y)


def test_blocks_of_vertices_do_not_change_the_result(monkeypatch):
    rng = np.random.default_rng(1)
    train = random_pairs(rng, 30, 20, 300, (2, 3))
    test = random_pairs(rng, 40, 50, 1000, (2, 3))
    model = PairKNN(n_neighbors=9).fit(train, rng.choice([1, -1], 300))
    whole = model.decision_function(test)
    monkeypatch.setattr("kronbench.models.pair_knn._BLOCK_BYTES", 8 * 30 * 7)
    np.testing.assert_array_equal(model.decision_function(test), whole)


def test_far_test_pairs_after_near_ones():
    """The bound taken over from the last pair is far too small for the next, or zero."""
    rng = np.random.default_rng(2)
    train = random_pairs(rng, 20, 20, 200, (1, 1))
    y = rng.choice([1, -1], 200)
    row_features = np.array([[train.row_features[train.rows[0], 0]], [1e6], [0.0], [-1e3]])
    col_features = np.array([[train.col_features[train.cols[0], 0]], [1e9], [-5.0]])
    test = PairData.complete(row_features, col_features)
    near = test.cols != 1  # at 1e9 distances of one row are equal in double precision
    ours = PairKNN(n_neighbors=3).fit(train, y).decision_function(test)
    theirs = scikit_learns(train, y, test, 3)
    np.testing.assert_allclose(ours[near], theirs[near], atol=1e-12)
    np.testing.assert_allclose(
        PairKNN(n_neighbors=200).fit(train, y).decision_function(test), y.mean()
    )


def test_scikit_learns_own_search_finds_the_same(monkeypatch):
    rng = np.random.default_rng(3)
    train, test = random_pairs(rng, 30, 20, 300, (2, 3)), random_pairs(rng, 15, 10, 60, (2, 3))
    y = rng.choice([1, -1], 300)
    monkeypatch.setattr("kronbench.models.pair_knn._BLOCK_BYTES", 8 * 100 * 7)
    model = PairSklearnKNN(n_neighbors=7).fit(train, y)
    path = model.decision_path(test, [7, 1, 50])
    np.testing.assert_allclose(PairKNN().fit(train, y).decision_path(test, [7, 1, 50]), path)
    np.testing.assert_allclose(model.decision_function(test), path[:, 0])
    with pytest.raises(InputError, match="301"):
        model.decision_path(test, [301])


def test_few_pairs_among_more_cells_than_32_bits_count():
    rng = np.random.default_rng(4)
    features = rng.normal(size=(70_000, 2))
    rows = rng.integers(0, 70_000, 100, dtype=np.int32)
    cols = rng.integers(69_000, 70_000, 100, dtype=np.int32)
    train, y = PairData(features, features, rows, cols), rng.choice([1, -1], 100)
    test = PairData(features, features, rows[::-1], cols)
    ours = PairKNN(n_neighbors=3).fit(train, y).decision_function(test)
    np.testing.assert_allclose(ours, scikit_learns(train, y, test, 3))


def test_more_than_the_index_holds_is_one_sentence(monkeypatch):
    n = 50_000
    X = PairData(np.arange(n)[:, None], np.arange(n)[:, None], np.arange(n), np.arange(n))
    y = np.where(np.arange(n) % 2, 1, -1)
    with pytest.raises(InputError, match="50000 x 50000 vertices: PairKNN indexes at most"):
        PairKNN().fit(X, y)
    monkeypatch.setattr("kronbench.models.pair_knn._MOST_PAIRS", 99)
    with pytest.raises(InputError, match="at most 99 pairs"):
        PairKNN().fit(X[:100], y[:100])


@pytest.mark.parametrize("estimator", [PairKNN(), PairSklearnKNN()], ids=repr)
@pytest.mark.parametrize("scale", [1e160, 1e-170])
def test_distances_beyond_double_precision_are_refused(estimator, scale):
    rng = np.random.default_rng(0)
    X = random_pairs(rng, 30, 20, 300, (2, 3))
    X = X.with_features(X.row_features, scale * X.col_features)
    with pytest.raises(InputError, match=r"col_features has .* scale the features"):
        estimator.fit(X, rng.choice([1, -1], 300))
