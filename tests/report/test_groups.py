"""Groups that lose no row, and differences that are paired along the repeats."""

import numpy as np
import pandas as pd

from kronbench.intervals import half_width
from kronbench.report.groups import by_repeat, paired, stated, table

FOLDS = {"over": ["fold"]}
TWO = pd.DataFrame(
    {
        "dataset": ["Ki", "Ki", "Ki", "Ki", "E", "E"],
        "method": ["old", "old", "new", "new", "old", "new"],
        "fold": [0, 1, 1, 0, 0, 1],
        "auc": [0.5, 0.75, 0.875, 0.5625, 0.5, 0.75],
    }
)


def test_differences_are_between_equal_repeats_whatever_the_order_of_the_rows():
    gained = paired(TWO[:4], "auc", "method", "old", "new", None, FOLDS)
    assert gained.to_dict() == {0: 0.0625, 1: 0.125}
    # without spread the means are compared, and there is one number
    assert paired(TWO[:4], "auc", "method", "old", "new", None, None).tolist() == [0.09375]


def test_each_side_stands_where_its_own_mean_is_best():
    frame = pd.DataFrame(
        {
            "method": ["old", "old", "new", "new"],
            "iteration": [1, 2, 1, 2],
            "auc": [0.5, 0.75, 0.625, 0.25],
        }
    )
    gained = paired(frame, "auc", "method", "old", "new", "iteration", None)
    assert gained.tolist() == [0.625 - 0.75]
    assert paired(frame, "auc", "method", "old", "new", None, None).tolist() == [0.4375 - 0.625]


def test_a_table_has_a_row_for_each_repeat_and_nan_where_it_stopped():
    frame = pd.DataFrame({"fold": [0, 0, 1], "iteration": [1, 2, 1], "auc": [0.5, 0.75, 0.25]})
    found = table(frame, "auc", FOLDS, "iteration")
    np.testing.assert_array_equal(found.to_numpy(), [[0.5, 0.75], [0.25, np.nan]])
    assert table(frame, "auc", None).to_numpy().tolist() == [[0.5]]
    assert by_repeat(frame, "auc", FOLDS).tolist() == [0.625, 0.25]
    assert by_repeat(frame, "auc", None).tolist() == [0.5]


def test_a_mean_is_stated_with_its_interval_or_says_that_it_has_none():
    values = pd.Series([0.25, 0.75])
    assert stated(values, None) == "0.5"
    assert stated(values[:1], FOLDS) == "0.25 (one split: no spread)"
    # Student's factor for two values is tan(0.475 pi) = 12.706, times 0.25
    assert stated(values, FOLDS) == "0.5 (95 % interval -2.677 to 3.677, 2 folds)"
    half = half_width(values, 0.0, 0.99)
    assert stated(values, {"over": ["trained_on"]}).endswith("2 repeats)")
    told = stated(values, {"over": ["split"], "level": 0.99})
    assert told == f"0.5 (99 % interval {0.5 - half:.4g} to {0.5 + half:.4g}, 2 splits)"
