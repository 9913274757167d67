"""Long tables set as the paper sets them: each number in its cell, once, and what is marked."""

import dataclasses

import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from kronbench.errors import InputError
from kronbench_suite.report import layout
from kronbench_suite.report.layout import (
    VALUE,
    Cell,
    arrange,
    distance,
    long_table,
    printed_columns,
)
from kronbench_suite.report.numbers import format_number
from kronbench_suite.runner.plans import load_plan
from tests.helpers import merged

TABLE = next(item for item in load_plan(merged("smoke")).items if item.layout)
LONG = pd.DataFrame(
    {
        "method": ["svm", "svm", "knn", "knn"],
        "dataset": ["b", "a", "b", "a"],
        "ours": [0.7512, 0.6, 0.75149, float("nan")],
        "paper": [0.8, 0.601, 0.7, 0.5],
        "±": [0.01, float("nan"), 0.02, float("nan")],
        "source": ["mirror", "surrogate", "mirror", "mirror"],
        "busy": [False, True, False, False],
    }
)
AUC = {"ours": "ours", "spread": "±", "decimals": 3, "best": "highest", "among": "method"}
PANEL = {"rows": ["method"], "columns": ["dataset"], "values": {"AUC": AUC}}


def laid_out(panel, table=LONG, printed=(), datasets=("a", "b"), skipped=()):
    item = dataclasses.replace(TABLE, layout=(panel,), datasets=datasets)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "read_printed", lambda item, dtype: printed)
        return arrange(item, table, skipped)


def test_methods_by_data_sets_as_a_hand_would_set_them():
    printed = pd.DataFrame(
        {"method": ["svm", "knn"], "a": ["0.601", "0.50"], "b": ["0.80", "0.7"]}
    )
    (grid,) = laid_out(
        PANEL | {"values": {"AUC": AUC | {"timed": True}}},
        printed=[printed],
        skipped=["knn was not run on a: too long"],
    )
    assert grid.stub == ("method",)
    assert grid.heads == [("a",), ("b",)]
    assert grid.labels == [("svm",), ("knn",)]
    assert grid.cells == [
        [
            Cell("0.600", printed="0.601", stamps=("surrogate", "busy"), numeric=True),
            Cell("0.751", "0.010", "0.80", best=True, mark="outside", numeric=True),
        ],
        [
            Cell(printed="0.50", numeric=True),
            Cell("0.751", "0.020", "0.7", best=True, mark="outside", numeric=True),
        ],
    ]
    assert grid.notes == ("Not run: knn was not run on a: too long.",)


def test_an_interval_says_whether_the_printed_number_is_outside_else_how_far_it_is():
    (grid,) = laid_out(PANEL, LONG.assign(**{"±": [0.11, 0.1, 0.01, None], "ours": 0.7}))
    # of 0.7: b printed 0.8 and a 0.601 for svm, 0.7 and 0.5 for knn
    assert [[cell.mark for cell in line] for line in grid.cells] == [["", ""], ["far", ""]]
    assert grid.shades == (("far", "more than 10 % away"),)
    narrow = LONG.assign(**{"±": [0.09, 0.1, 0.01, None], "ours": 0.7})
    (grid,) = laid_out(PANEL, narrow)
    assert [[cell.mark for cell in line] for line in grid.cells] == [["", "outside"], ["far", ""]]
    assert [mark for mark, _ in grid.shades] == ["outside", "far"]
    # a deviation is no interval
    panel = PANEL | {"values": {"AUC": AUC | {"spread": "deviation"}}}
    (grid,) = laid_out(panel, narrow.rename(columns={"±": "deviation"}))
    assert grid.cells[0][1].mark == "far"


def test_the_best_is_searched_within_each_data_set():
    (grid,) = laid_out(PANEL, LONG.fillna({"ours": 0.5}))
    assert [[cell.best for cell in line] for line in grid.cells] == [[True, True], [False, True]]


def test_what_is_level_with_the_best_is_bold_and_missing_numbers_say_why():
    score = {"ours": "ours", "spread": "±", "decimals": 2, "level": "best", "remark": "why"}
    panel = PANEL | {"values": {"AUC": score | {"among": "method"}}}
    table = pd.DataFrame(
        {
            "method": ["p", "q", "r", "s"] * 2,
            "dataset": ["a"] * 4 + ["b"] * 4,
            "ours": [0.5, 0.7, 0.3, None, 5.0, 7.0, None, None],
            "±": [0.1, 0.1, 0.9, None, None, 1.0, None, None],
            "best": [1, 1, 0, None, 0, 1, None, None],
            "why": [None, "of few pairs", None, "too long", None, None, "too long", "no labels"],
        }
    )
    (grid,) = laid_out(panel, table, skipped=["s was not run"])
    a, b = zip(*grid.cells, strict=True)
    assert [cell.best for cell in a] == [True, True, False, False]
    # from 0.3 - 0.1 to 0.7 + 0.1, where half of the intervals fit and the long one is cut
    assert [cell.bar for cell in a] == [(33, 50, 67), (67, 83, 100), (0, 17, 100), ()]
    assert [cell.key for cell in a] == ["0.5", "0.7", "0.3", ""]
    assert [cell.stamps for cell in a] == [(), ("noted",), (), ("not run",)]
    assert [cell.remark for cell in b] == ["", "", "too long", "no labels"]
    assert [cell.best for cell in b] == [False, True, False, False]
    assert b[0].bar[0] == b[0].bar[1] == b[0].bar[2]  # of one repetition
    assert grid.notes == ("Not run: r, s: too long; s: no labels.",)


def test_values_are_heads_or_labels_and_absent_lines_are_said():
    values = {"here": {"ours": "ours", "decimals": 1}, "there": {"ours": "paper", "decimals": 1}}
    (grid,) = laid_out(
        {"rows": ["method"], "columns": ["dataset", VALUE], "values": values}, LONG.drop(index=3)
    )
    assert grid.heads == [("a", "here"), ("a", "there"), ("b", "here"), ("b", "there")]
    assert grid.spans(0) == [("a", 2), ("b", 2)]
    assert len(grid.spans(1)) == 4
    assert [cell.stamps for cell in grid.cells[1]] == [("not run",)] * 2 + [()] * 2
    (grid,) = laid_out({"rows": [VALUE, "method"], "columns": ["dataset"], "values": values})
    assert grid.labels == [("here", "svm"), ("here", "knn"), ("there", "svm"), ("there", "knn")]
    assert grid.stubs()[0] == [("here", 2), ("svm", 1)]


def test_a_method_that_comes_late_stands_where_it_follows():
    table = pd.DataFrame(
        {"method": ["x", "z", "x", "y", "z"], "dataset": list("aabbb"), "ours": 1.0}
    )
    (grid,) = laid_out({"rows": ["method"], "columns": ["dataset"], "values": {"ours": {}}}, table)
    assert grid.labels == [("x",), ("y",), ("z",)]
    # a group has its own order
    panel = {"rows": ["dataset", "method"], "columns": [VALUE], "values": {"ours": {}}}
    (grid,) = laid_out(panel, table.iloc[::-1])
    assert grid.labels == [("a", "z"), ("a", "x"), ("b", "z"), ("b", "y"), ("b", "x")]


def test_data_sets_have_the_names_of_the_papers_in_lines_and_heads():
    table = LONG.replace({"dataset": {"a": "gpcr", "b": "uscode"}})
    for down, across in (("method", "dataset"), ("dataset", "method")):
        panel = {"rows": [down], "columns": [across], "values": {"AUC": AUC}}
        (grid,) = laid_out(panel, table, datasets=("gpcr", "uscode"))
        named = grid.heads if across == "dataset" else grid.labels
        assert named == [("GPCR",), ("United States Code",)]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rows": ["source"]}, r"distinguish 2 lines of its table \(source mirror, dataset b\)"),
        ({"rows": ["setting"]}, "names the column 'setting'; its table has: method, dataset"),
        ({"values": {"x": {"ours": "hers"}}}, "names the column 'hers'"),
        ({"values": {"ours": {}, "paper": {}}}, "puts 2 values into a cell: name 'value' among"),
    ],
)  # fmt: skip
def test_a_layout_that_cannot_be_set_is_refused(change, sentence):
    panel = PANEL | {"values": {"ours": {}}}
    with pytest.raises(InputError, match=sentence):
        laid_out(panel | change)


@settings(max_examples=25, deadline=None)
@given(
    lines=st.dictionaries(
        st.tuples(st.sampled_from("ABC"), st.sampled_from(["x", "y"]), st.sampled_from("uvw")),
        st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.integers(-9, 9)),
        min_size=1,
    ),
    order=st.permutations(["setting", "method", "dataset", VALUE]),
    down=st.integers(1, 3),
)
def test_each_number_stands_in_one_cell_whatever_the_layout(lines, order, down):
    keys = ["setting", "method", "dataset"]
    table = pd.DataFrame([[*key, *pair] for key, pair in lines.items()], columns=[*keys, "f", "k"])
    panel = {"rows": order[:down], "columns": order[down:], "values": {"f": {}, "k": {}}}
    (grid,) = laid_out(panel, table, datasets=())
    found = {}
    for label, cells in zip(grid.labels, grid.cells, strict=True):
        for head, cell in zip(grid.heads, cells, strict=True):
            place = dict(zip(order, (*label, *head), strict=True))
            if cell.stamps != ("not run",):
                found[*(place[key] for key in keys), place[VALUE]] = cell.text
    expected = {}
    for key, (f, k) in lines.items():
        expected |= {(*key, "f"): format_number(f), (*key, "k"): format_number(k)}
    assert found == expected


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
