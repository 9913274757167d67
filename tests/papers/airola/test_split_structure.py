import numpy as np

from kronbench.datasets import load
from kronbench.runner.job import run_experiment

SPEC = {"fold": 4, "fraction": 0.5, "seed": 3, "time_cap": 1}


def test_drawn_blocks_are_those_of_the_split():
    frame = run_experiment("airola.split_structure", SPEC, load("nr", policy="surrogate"), "nr")
    test = frame[frame["role"] == "test"]
    train = frame[frame["role"] == "train"]
    assert len(set(zip(test["row_fold"], test["col_fold"], strict=True))) == 1
    assert len(set(zip(train["row_fold"], train["col_fold"], strict=True))) == 4
    assert not set(train["row"]) & set(test["row"])
    assert not set(train["col"]) & set(test["col"])
    # Sorted by fold, a fold is an interval of positions.
    for side in ("row", "col"):
        folds = frame.drop_duplicates(side).sort_values(side)[f"{side}_fold"].to_numpy()
        assert np.all(np.diff(folds) >= 0)
