"""Published splits: their files, what leaks through them."""

import numpy as np
import pytest

from kronbench import InputError, datasets
from kronbench.datasets import published_folds, registry
from kronbench.datasets.drug_target import affinities

ALL = [(name, fold) for name in datasets.names() for fold in registry.find(name).folds]


@pytest.mark.parametrize(("name", "number"), ALL)
def test_folds_have_the_setting_and_the_leak_that_are_registered(real, name, number):
    data = real(name)
    entry = registry.find(name).folds[number]
    fold = datasets.folds(name, number, policy="real", data=data)
    parts = np.concatenate([fold.train, fold.test])
    assert len(np.unique(parts)) == len(parts)
    assert len(parts) == len(fold.rows)  # DeepDTA's are partitions of the known pairs
    assert entry["counts"] == {"train": [*map(len, fold.parts)], "test": len(fold.test)}
    tested = [np.unique(index[fold.test]) for index in (fold.rows, fold.cols)]
    new = len(fold.new_rows) == len(tested[0]), len(fold.new_cols) == len(tested[1])
    assert new == (fold.setting == "B", fold.setting == "C")
    assert np.isfinite(affinities(data)[fold.rows, fold.cols]).all()
    found = fold.leak(data["drug_similarity"], data["target_similarity"]).shares
    assert found == pytest.approx(entry["leak"], abs=6e-5)


def test_leak_by_hand():
    similarity = np.array([[1, 1, 0.5], [1, 1, 0.5], [0.5, 0.5, 1]])  # 0 and 1 are twins
    rows, cols = np.repeat([0, 1, 2], 3), np.tile([0, 1, 2], 3)
    fold = published_folds.PublishedFold(
        *("small", "one", "", "B", rows, cols),
        *((np.array([1, 2, 7, 8]),), np.array([3, 4, 5]), "mirror", None),
    )
    leak = fold.leak(similarity, np.eye(3))
    assert leak.rows.tolist() == [True]  # row 1 has the twin 0
    assert leak.cols.tolist() == [False]  # column 0 is new
    assert leak.pairs.tolist() == [False, True, True]
    assert leak.shares == {"rows": 1.0, "cols": 0.0, "pairs": 2 / 3}


@pytest.mark.parametrize("number", registry.find("davis").folds)
def test_a_stand_in_has_the_same_setting(number):
    data = datasets.load("davis", policy="surrogate")
    fold = datasets.folds("davis", number, policy="surrogate", data=data)
    assert fold.source == "surrogate"
    assert len(fold.parts) == 5
    new = len(fold.new_rows) > 0, len(fold.new_cols) > 0
    assert new == (fold.setting == "B", fold.setting == "C")
    again = datasets.folds("davis", number, policy="surrogate", data=data)
    np.testing.assert_array_equal(fold.test, again.test)


@pytest.mark.parametrize("policy", ["auto", "real"])
def test_files_that_are_not_at_hand(alone, monkeypatch, policy):
    monkeypatch.setattr(datasets.fetch, "_addresses", lambda entry, bases: [])
    data = datasets.load("davis", policy="surrogate")
    object.__setattr__(data, "source", "mirror")
    with pytest.raises(InputError, match=r"train_fold_setting1\.txt: .*put the file"):
        datasets.folds("davis", "deepdta-1", policy=policy, data=data)
