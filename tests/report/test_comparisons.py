"""Curves, two methods, one among many: paired along the repeats, in every group."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from kronbench.intervals import half_width
from kronbench.report import checks
from kronbench.report.outcomes import NotMeasured
from tests.report.test_checks import CONTRADICTED, FOLDS, HOLDS, UNDECIDED, found, verdict


def curve(values, **columns):
    return pd.DataFrame({"iteration": range(1, len(values) + 1), "risk": values, **columns})


PEAKS = {"value": "risk", "over": "iteration", "by": ["reg"]}


def test_peaks_within():
    frame = curve([0.5, 0.75, 0.625, 0.5], reg=1.0)
    arguments = PEAKS
    assert verdict(checks.peaks_within, frame, **arguments, limit=2) == HOLDS
    text = "best at iteration 2; after 1 better than up to it by 0.25 (reg 1.0)"
    late = found(checks.peaks_within, frame, **arguments, limit=1)
    assert late == (CONTRADICTED, text)
    assert verdict(checks.peaks_within, frame, **arguments, limit=1, slack=0.25) == HOLDS
    with pytest.raises(NotMeasured, match="up to iteration 0"):
        checks.peaks_within(frame, **arguments, limit=0)
    with pytest.raises(NotMeasured, match="the curve ends at iteration 4"):
        checks.peaks_within(frame, **arguments, limit=4)


def methods(gains, spoiled=0.3, dataset="Ki"):
    """Two methods on folds of very different difficulty."""
    folds = np.arange(len(gains))
    base = 0.5 + spoiled * (folds % 3)
    sides = [("old", base), ("new", base + np.asarray(gains))]
    return pd.concat(
        pd.DataFrame({"method": name, "fold": folds, "auc": auc, "dataset": dataset})
        for name, auc in sides
    )


PAIRED = {"value": "auc", "between": "method", "low": "old", "high": "new", "by": ["dataset"]}
GAINS = [0.01, 0.02, 0.03, 0.02]
HALF = half_width(GAINS, 0.25)


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        (0.02 - 1.01 * HALF, HOLDS),
        (0.02 - 0.99 * HALF, UNDECIDED),
        (0.02 + 0.99 * HALF, UNDECIDED),
        (0.02 + 1.01 * HALF, CONTRADICTED),
    ],
)
def test_the_interval_of_a_gain_is_that_of_paired_differences(bound, expected):
    result = checks.gain(methods(GAINS), **PAIRED, bound=bound, spread=FOLDS)
    interval = f"0.02 (95 % interval {0.02 - HALF:.4g} to {0.02 + HALF:.4g}, 4 folds)"
    assert result.verdict == expected
    assert result.measured.startswith(f"smallest gain {interval} (dataset Ki)")
    assert result.intervals == 1
    # the folds' own differences, thirty times as large, have cancelled
    assert HALF < 0.02


@given(st.lists(st.integers(-64, 64).map(lambda k: k / 128), min_size=2, max_size=6))
def test_one_side_never_exceeds_the_other_and_is_exceeded(gains):
    frame = methods(gains, spoiled=0.25)  # exact in binary, as the gains
    forth = verdict(checks.gain, frame, **PAIRED, bound=0, spread=FOLDS)
    back = PAIRED | {"low": "new", "high": "old"}
    back = verdict(checks.gain, frame, **back, bound=0, spread=FOLDS)
    assert (forth, back) in {
        (HOLDS, CONTRADICTED),
        (CONTRADICTED, HOLDS),
        (UNDECIDED, UNDECIDED),
        *([(HOLDS, HOLDS)] if not any(gains) else []),
    }


@pytest.mark.parametrize("spread", [None, FOLDS])
def test_every_group_needs_both_sides(spread):
    frame = pd.concat([methods([0.1, 0.11]), methods([0.1], dataset="E")])
    frame = frame[(frame["method"] == "new") | (frame["dataset"] == "Ki")]
    with pytest.raises(NotMeasured, match=r"^without old \(dataset E\)$"):
        checks.gain(frame, **PAIRED, bound=0, spread=spread)
    with pytest.raises(NotMeasured, match=r"^without old \(dataset E\)$"):
        checks.close(frame, **PAIRED, tolerance=1, spread=spread)
    # a share of the groups is a share of those that were measured, all of them
    with pytest.raises(NotMeasured):
        checks.gain(frame, **PAIRED, bound=0, spread=spread, share=0.5)


def test_close_is_about_both_signs():
    frame = pd.DataFrame(
        {
            "size": [1, 1, 2, 2],
            "method": ["KK", "TS", "KK", "TS"],
            "auc": [0.5, 0.625, 0.75, 0.5],
        }
    )
    arguments = {"value": "auc", "between": "method", "low": "KK", "high": "TS", "by": ["size"]}
    text = "largest difference -0.25 (size 2)"
    assert found(checks.close, frame, **arguments, tolerance=0.25) == (HOLDS, text)
    assert verdict(checks.close, frame, **arguments, tolerance=0.2) == CONTRADICTED
    small = frame[frame["size"] == 1]
    assert verdict(checks.close, small, **arguments, tolerance=0.125) == HOLDS


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("tolerance", "expected"),
    [
        (0.02 + 1.01 * HALF, HOLDS),
        (0.02 + 0.99 * HALF, UNDECIDED),
        (0.02 - 0.99 * HALF, UNDECIDED),
        (0.02 - 1.01 * HALF, CONTRADICTED),
    ],
)
def test_close_by_the_whole_interval(sign, tolerance, expected):
    frame = methods([sign * gain for gain in GAINS])
    assert verdict(checks.close, frame, **PAIRED, tolerance=tolerance, spread=FOLDS) == (expected)


MANY = pd.DataFrame(
    {
        "dataset": ["Ki"] * 3 + ["E"] * 3,
        "method": ["SVM", "KNN", "SGD"] * 2,
        "auc": [0.8, 0.7, 0.5, 0.7, 0.72, 0.5],
    }
)
LEADS = {"value": "auc", "among": "method", "leader": "SVM", "by": ["dataset"]}
LED = {"value": "auc", "among": "method", "name": "KNN", "by": ["dataset"]}


def test_leads():
    text = "smallest lead -0.02 (over KNN; dataset E)"
    assert found(checks.leads, MANY, **LEADS) == (CONTRADICTED, text)
    assert verdict(checks.leads, MANY, **LEADS, slack=0.03) == HOLDS
    assert verdict(checks.leads, MANY[:3], **LEADS) == HOLDS
    with pytest.raises(NotMeasured, match="there is no other beside SVM"):
        checks.leads(MANY[MANY["method"] == "SVM"], **LEADS)


@pytest.mark.parametrize(("row", "name"), [(3, "SVM"), (4, "KNN"), (5, "SGD")])
def test_leads_asks_for_all_in_every_group(row, name):
    """Also for one that could not win: without it nobody knows."""
    with pytest.raises(NotMeasured, match=rf"^without {name} \(dataset E\)$"):
        checks.leads(MANY.drop(row), **LEADS)


def test_led_asks_for_one_that_is_ahead():
    assert verdict(checks.beaten, MANY[:3], **LED) == HOLDS
    text = "smallest lead over it -0.02 (by SVM; dataset E)"
    assert found(checks.beaten, MANY, **LED) == (CONTRADICTED, text)
    with pytest.raises(NotMeasured, match=r"^without KNN \(dataset E\)$"):
        checks.beaten(MANY.drop(4), **LED)
    with pytest.raises(NotMeasured, match="there is no other beside KNN"):
        checks.beaten(MANY[MANY["method"] == "KNN"], **LED)


def test_level_is_the_range_of_the_means():
    frame = pd.DataFrame(
        {"reg": [1, 2, 4] * 2, "fold": [0] * 3 + [1] * 3, "auc": [0.6, 0.7, 0.5, 0.7, 0.6, 0.8]}
    )
    arguments = {"value": "auc", "over": "reg", "by": []}
    # single folds differ by more than the means 0.65, 0.65 and 0.65
    assert verdict(checks.flat_along, frame, **arguments, bound=1e-9) == HOLDS
    one = frame[frame["fold"] == 1]
    outside = (CONTRADICTED, "largest difference 0.2, between reg 4 and 2 ()")
    assert found(checks.flat_along, one, **arguments, bound=0.1) == outside
    with pytest.raises(NotMeasured, match="fewer than two values of reg"):
        checks.flat_along(frame[frame["reg"] == 1], **arguments, bound=1)
