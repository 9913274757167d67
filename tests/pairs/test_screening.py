"""The best of all pairs against a sort of all, in blocks of any size."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from kronbench import InputError, PairData
from kronbench.models import KronRidge
from kronbench.pairs import screen, screening


class Table:
    """A model whose predictions are entries of a matrix."""

    def __init__(self, S):
        self.S = S

    def predict(self, X):
        return self.S[X.rows, X.cols]


def vertices(shape, rows=(), cols=()):
    return PairData(np.zeros((shape[0], 1)), np.zeros((shape[1], 1)), rows, cols)


def sorted_by_hand(S, known, top, per_row, smallest):
    """All pairs in order of their scores, rows and columns; then the first few of each row."""
    sign = 1 if smallest else -1
    found, count = [], dict.fromkeys(range(len(S)), 0)
    for _, i, j in sorted((sign * S[i, j], i, j) for i, j in np.ndindex(S.shape)):
        if (i, j) not in known and (per_row is None or count[i] < per_row):
            count[i] += 1
            found.append((i, j))
    return found[:top]


@settings(max_examples=200, deadline=None)
@given(
    st.integers(1, 9).flatmap(
        lambda q: st.lists(
            st.lists(st.integers(-2, 2), min_size=q, max_size=q), min_size=1, max_size=9
        )
    ),
    st.none() | st.integers(1, 30),
    st.none() | st.integers(1, 4),
    st.booleans(),
    st.integers(1, 5),
    st.integers(1, 5),
    st.integers(0, 80),
    st.randoms(use_true_random=False),
)
def test_it_is_a_sort_of_all_pairs_with_ties_in_blocks_of_any_size(
    S, top, per_row, smallest, height, width, n_known, random
):
    S = np.array(S, float)
    cells = random.sample(list(np.ndindex(S.shape)), min(n_known, S.size))
    X = vertices(S.shape, *np.array(cells, dtype=int).reshape(-1, 2).T)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(screening, "_BLOCK", (height, width))
        best, scores = screen(Table(S), X, top, per_row, smallest=smallest)
    found = list(zip(best.rows.tolist(), best.cols.tolist(), strict=True))
    assert found == sorted_by_hand(S, set(cells), top, per_row, smallest)
    np.testing.assert_array_equal(scores, S[best.rows, best.cols])


def test_training_pairs_are_left_out_of_those_that_a_model_ranks():
    rng = np.random.default_rng(0)
    X = PairData.complete(rng.normal(size=(40, 3)), rng.normal(size=(30, 2)))
    known = X[rng.permutation(len(X))[:700]]
    model = KronRidge(row_kernel="gaussian", row_gamma=0.3, row_effect=0.5)
    model.fit(known, rng.normal(size=700))
    best, scores = screen(model, known, top=50)
    cells = known.rows * 30 + known.cols
    others = X[np.setdiff1d(np.arange(len(X)), cells)]
    expected = model.predict(others)
    order = np.argsort(-expected)[:50]
    np.testing.assert_allclose(scores, expected[order], rtol=1e-10)
    np.testing.assert_array_equal(best.rows, others.rows[order])
    np.testing.assert_array_equal(best.cols, others.cols[order])


def test_of_no_vertices_there_is_no_pair():
    best, scores = screen(Table(np.zeros((0, 2))), vertices((0, 2)))
    assert (len(best), len(scores)) == (0, 0)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"top": 0}, "top=0: give a whole number of at least 1"),
        ({"per_row": 1.5}, "per_row=1.5: give a whole"),
        ({"model": Table(np.array([[np.nan, 1]]))}, "some predictions are not finite"),
    ],
)
def test_what_cannot_be_ranked_is_one_sentence(options, sentence):
    given = {"model": Table(np.zeros((1, 2))), "X": vertices((1, 2)), **options}
    with pytest.raises(InputError, match=sentence):
        screen(**given)
