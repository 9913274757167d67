"""Printed numbers beside ours: which belong together, and what is marked."""

import pandas as pd
import pytest

from kronbench.report.layout import distance, long_table, printed_columns


def test_columns_belong_together_by_their_names():
    columns = ["dataset", "ours", "paper", "CSI", "paper CSI", "paper Cholesky"]
    assert printed_columns(columns) == {"ours": "paper", "CSI": "paper CSI"}
    # two machines, and other texts than the paper's
    beside = ["seconds", "paper seconds", "F1", "printed F1"]
    assert printed_columns(beside, timed=["seconds"]) == {}


@pytest.mark.parametrize(
    ("ours", "mark", "by"),
    [
        (100.0, "", ""),
        (101.0, "", "+1"),
        (98.9, "apart", "−1.1"),
        (110.0, "apart", "+10"),
        (110.5, "far", "+10"),
        (211.0, "far", "+111"),
        (0.0, "far", "−100"),
        (float("nan"), "", ""),
    ],
)
def test_a_difference_is_marked_and_told(ours, mark, by):
    ((first, second),) = long_table(pd.DataFrame({"ours": [ours], "paper": [100]}))
    assert (first.mark, first.by) == (mark, by)
    assert (second.text, second.mark, second.by) == ("100", "", "")


@pytest.mark.parametrize(
    ("ours", "printed", "rounding", "mark"),
    [
        (0.004, 0.0, 0.005, ""),  # of a printed 0.00
        (0.006, 0.0, 0.005, "far"),
        (0.14, 0.1, 0.05, ""),
        (0.14, 0.1, 0.005, "far"),
        (101.0, 100.0, 0.0, ""),
        (102.0, 100.0, 0.5, "apart"),
    ],
)
def test_a_number_that_rounds_to_the_printed_one_is_not_apart(ours, printed, rounding, mark):
    assert distance(ours, printed, rounding=rounding) == mark


def test_an_interval_decides_what_is_marked():
    table = pd.DataFrame(
        {"ours": [0.5, 0.5, 0.5], "paper": [0.6, 0.6, 0.6], "±": [0.11, 0.09, None]}
    )
    assert [row[0].mark for row in long_table(table)] == ["", "outside", "far"]
    table.columns = ["F1", "paper F1", "F1 ±"]
    assert [row[0].mark for row in long_table(table)] == ["", "outside", "far"]
    assert distance(0.5, 0.6, rounding=0.11, half=0.09) == ""


def test_a_column_of_differences_is_not_repeated():
    table = pd.DataFrame({"ours": [0.5], "paper": [0.7], "difference": [-0.2], "note": [None]})
    ((ours, _, difference, note),) = long_table(table)
    assert (ours.mark, ours.by, difference.text) == ("far", "", "−0.2")
    assert not note.numeric
    assert note.text == ""
