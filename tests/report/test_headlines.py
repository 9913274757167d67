"""The figure that brings the numbers of other items together."""

import dataclasses

import matplotlib
import numpy as np
import pandas as pd
import pytest

from kronbench_suite.report.style import STYLE
from kronbench_suite.runner.plans import load_plan
from kronbench_suite.studies.performance.plot import headlines
from tests.helpers import merged

ITEM = load_plan(merged("smoke")).item("performance", "figure-3")
BLAS = {"item": "p/rates", "ours": {"where": "method == 'gemm'"}, "value": "gflops"}
FAST = {
    "name": "fast",
    "quantity": "seconds",
    "item": "p/table",
    "where": "n == 100",
    "value": "took",
    "printed": 40,
    "theirs": {"where": "way == 'slow'"},
    "ours": {"where": "way == 'fast'"},
    "operations": "1e9 * n",
}
NUMBERS = pd.DataFrame(
    {
        "of": ["p/table"] * 4 + ["p/rates"],
        "way": ["slow", "fast", "slow", "fast", None],
        "n": [100, 100, 400, 400, None],
        "took": [20.0, 5.0, 160.0, 20.0, None],
        "auc, s": [1.0, 2.0, 1.0, 2.0, None],
        "said": [None, ">3d", None, None, None],
        "method": [None] * 4 + ["gemm"],
        "gflops": [None] * 4 + [50.0],
        "busy": False,
        "dataset": "e",
        "source": "mirror",
    }
)


def tabulate(*entries, numbers=NUMBERS):
    options = {"rate": BLAS, "headlines": list(entries)}
    item = dataclasses.replace(ITEM, plot_options=options)
    return headlines.tabulate(numbers, item, None), item


def test_theirs_ours_and_the_blas_time():
    (row,) = tabulate(FAST)[0].to_dict("records")
    assert row["seconds, printed"] == 40
    assert row["seconds, by the paper's method"] == 20
    assert row["seconds, by our best"] == 5
    assert row["times faster than printed"] == 8
    assert row["the paper's method, times faster than printed"] == 2
    assert row["times faster than the paper's method"] == 4
    assert row["seconds at the BLAS rate"] == pytest.approx(2)  # 100 GFlop at 50 GFlop/s
    assert row["seconds over these"] == pytest.approx(2.5)


def test_printed_bounds_expressions_and_exponents():
    bound = FAST | {"printed": "said", "ours": {**FAST["ours"], "value": "took + `auc, s`"}}
    growth = FAST | {"quantity": "exponent of seconds", "over": "n", "printed": 1.5}
    del growth["where"], growth["operations"]
    table, item = tabulate(bound, growth)
    assert table["seconds, printed"].tolist()[0] == 3 * 86400
    assert table["printed is a bound"].tolist() == [True, False]
    assert table["seconds, by our best"][0] == 7
    assert table["exponent of seconds, by our best"][1] == pytest.approx(1)
    assert table["exponent of seconds, by the paper's method"][1] == pytest.approx(1.5)
    with matplotlib.rc_context(STYLE):
        figure = headlines.draw(table, item)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts[:4] == list(headlines.RATIOS)
    assert texts[4:7] == ["> 13\N{THIN SPACE}000", "> 37\N{THIN SPACE}000", "2.9"]


def test_what_was_not_measured_is_missing_and_doubts_are_said():
    without = NUMBERS[NUMBERS["way"] != "slow"].assign(busy=True, source="surrogate")
    table, item = tabulate(FAST, FAST | {"where": "n == 7"}, numbers=without)
    (row,) = table.to_dict("records")  # the second has nothing of ours
    assert np.isnan(row["seconds, by the paper's method"])
    assert (row["busy"], row["source"], row["dataset"]) == (True, "surrogate", "e")
    with matplotlib.rc_context(STYLE):
        panel = headlines.draw(table, item).axes[0]
    assert panel.get_yticklabels()[0].get_text() == "fast (surrogate data, busy machine)"
