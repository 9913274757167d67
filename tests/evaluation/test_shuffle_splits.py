import numpy as np
import pytest

from kronbench import InputError, PairData
from kronbench.evaluation.shuffle_splits import shuffle_split


@pytest.fixture
def pairs():
    rng = np.random.default_rng(4)
    rows, cols = np.nonzero(rng.random((30, 20)) < 0.4)
    return PairData(np.eye(30), np.eye(20), rows, cols)


def test_what_is_new_is_as_the_setting_says(pairs):
    new = {"A": (False, False), "B": (True, False), "C": (False, True), "D": (True, True)}
    for setting, sides in new.items():
        train, test = shuffle_split(pairs, setting, 0.25, 1)
        assert not np.intersect1d(train, test).size
        for side, is_new in zip((pairs.rows, pairs.cols), sides, strict=True):
            shared = np.isin(side[test], side[train])
            assert not shared.any() if is_new else shared.any()
        if setting != "D":
            assert len(train) + len(test) == len(pairs)


def test_a_number_of_vertices_is_taken_as_such(pairs):
    _, test = shuffle_split(pairs, "C", 3, 0)
    assert len(np.unique(pairs.cols[test])) == 3


def test_an_unknown_setting_is_refused(pairs):
    with pytest.raises(InputError, match="unknown"):
        shuffle_split(pairs, "E", 0.25, 0)
