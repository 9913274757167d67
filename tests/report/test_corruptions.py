"""Every check can fail: each kind on a table for which it holds, and on corruptions of it."""

import inspect

import numpy as np
import pandas as pd
import pytest

from kronbench.report import checks
from tests.report.corruptions import NOT_FINITE, SOME, column_of, corrupted

N = [10, 20, 40]
CURVE = pd.DataFrame({"reg": 1, "iteration": [1, 2, 3, 4], "risk": [4.0, 2.0, 1.5, 1.0]})
AREAS = pd.DataFrame(
    {
        "dataset": ["Ki", "Ki", "E", "E"],
        "method": ["SVM", "KNN"] * 2,
        "auc": [0.8, 0.7, 0.75, 0.6],
        "paper": [0.8, 0.7, 0.75, 0.6],
    }
)
TIMES = pd.DataFrame({"method": "SVM", "n": N, "seconds": [1.0, 2.1, 4.2]})
OLD = {"value": "auc", "by": ["dataset"]}
# A table for which each check holds, and its arguments.
EXAMPLES = {
    "decreases": (CURVE, {"value": "risk", "over": "iteration", "by": ["reg"]}),
    "peaks_within": (
        CURVE.assign(risk=[0.6, 0.8, 0.7, 0.65]),
        {"value": "risk", "over": "iteration", "by": ["reg"], "limit": 2},
    ),
    "within": (AREAS, {"value": "auc", "target": 0.7125, "tolerance": 0.01}),
    "agrees": (AREAS, {"ours": "auc", "tolerance": 0.01}),
    "vanishes": (AREAS.assign(auc=1e-12), {"value": "auc", "tolerance": 1e-9}),
    "nowhere_vanishes": (AREAS, {"value": "auc", "tolerance": 1e-9}),
    "at_least": (AREAS, {"value": "auc", "bound": 0.6}),
    "at_most": (AREAS, {"value": "auc", "bound": 0.8}),
    "reaches": (AREAS, {"value": "auc", "bound": 0.8}),
    "mostly_at_least": (AREAS, {"value": "auc", "bound": 0.65, "share": 0.75}),
    "gain": (AREAS, OLD | {"between": "method", "low": "KNN", "high": "SVM", "bound": 0.1 - 1e-9}),
    "close": (
        AREAS,
        OLD | {"between": "method", "low": "KNN", "high": "SVM", "tolerance": 0.16},
    ),
    "leads": (AREAS, OLD | {"among": "method", "leader": "SVM"}),
    "led": (AREAS, OLD | {"among": "method", "name": "KNN"}),
    "level": (AREAS, OLD | {"over": "method", "bound": 0.16}),
    "scales": (
        TIMES,
        {"value": "seconds", "over": "n", "by": ["method"], "low": 0.9, "high": 1.1},
    ),
    "ratio": (
        AREAS,
        OLD | {"between": "method", "slow": "SVM", "fast": "KNN", "bound": 1.1},
    ),
}


def kinds():
    return [name for name, check in inspect.getmembers(checks) if hasattr(check, "rows_read")]


def test_every_check_has_an_example():
    assert sorted(EXAMPLES) == sorted(kinds())


@pytest.mark.parametrize("kind", kinds())
def test_a_check_holds_and_can_fail(kind):
    frame, arguments = EXAMPLES[kind]
    check = getattr(checks, kind)
    assert check(frame, **arguments)[0] is True
    failed = {
        name
        for name, spoiled in corrupted(frame, column_of(arguments))
        if check(spoiled, **arguments)[0] is False
    }
    assert "all not a number" in failed
    assert kind in SOME or failed.issuperset(NOT_FINITE)
    assert failed.difference(NOT_FINITE), "no finite corruption makes it fail"


@pytest.mark.parametrize("kind", kinds())
def test_an_empty_selection_is_not_measured(kind):
    frame, arguments = EXAMPLES[kind]
    with pytest.raises(checks.NotMeasured):
        getattr(checks, kind)(frame[:0], **arguments)


@pytest.mark.parametrize("kind", sorted(set(kinds()) - SOME))
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_no_row_hides_a_number_that_is_not_finite(kind, number):
    frame, arguments = EXAMPLES[kind]
    column = column_of(arguments)
    for row in range(len(frame)):
        spoiled = frame.copy()
        spoiled.loc[row, column] = number
        holds, measured = getattr(checks, kind)(spoiled, **arguments)
        assert holds is False
        assert measured.startswith(f"1 of {len(frame)} numbers are not finite")


def test_a_missing_key_is_a_group_of_its_own():
    frame = AREAS.assign(dataset=["Ki", "Ki", None, None], auc=[0.8, 0.7, 0.5, 0.6])
    assert not checks.leads(frame, **EXAMPLES["leads"][1])[0]
    assert not checks.gain(frame, **EXAMPLES["gain"][1])[0]
