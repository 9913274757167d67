"""Curves, two methods, one among many: paired along the repeats, in every group."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from kronbench.intervals import half_width
from kronbench.report import comparisons
from kronbench.report.outcomes import NotMeasured
from tests.report.test_checks import CONTRADICTED, FOLDS, HOLDS, UNDECIDED, found, verdict


def curve(values, **columns):
    return pd.DataFrame({"iteration": range(1, len(values) + 1), "risk": values, **columns})


def curves(folds, **columns):
    """The same for several folds."""
    return pd.concat(curve(values, fold=fold, **columns) for fold, values in enumerate(folds))


FALLS = {"value": "risk", "over": "iteration", "by": ["dataset"]}


def test_decreases_finds_the_one_rise_and_names_its_group():
    good = curve([4.0, 2.0, 1.0, 1.0], dataset="Ki")
    bad = curve([4.0, 2.0, 2.5, 1.0], dataset="IC")
    assert verdict(comparisons.decreases, good, **FALLS) == HOLDS
    text = "largest relative rise 0.25 (dataset IC)"
    both = pd.concat([good, bad])
    assert found(comparisons.decreases, both, **FALLS) == (CONTRADICTED, text)
    assert verdict(comparisons.decreases, both, **FALLS, tolerance=0.3) == HOLDS
    with pytest.raises(NotMeasured, match=r"fewer than two values of iteration \(dataset Ki\)"):
        comparisons.decreases(good[:1], **FALLS)


def test_decreases_looks_at_the_mean_over_folds():
    rise, fall = curve([1.0, 2.0], dataset="Ki"), curve([5.0, 1.0], dataset="Ki")
    assert verdict(comparisons.decreases, rise, **FALLS) == CONTRADICTED
    assert verdict(comparisons.decreases, pd.concat([rise, fall]), **FALLS) == HOLDS


@pytest.mark.parametrize(
    ("folds", "expected"),
    [
        ([[4.0, 2.0], [4.0, 2.1], [4.0, 1.9]], HOLDS),
        ([[2.0, 4.0], [2.0, 4.1], [2.0, 3.9]], CONTRADICTED),
        ([[4.0, 2.0], [4.0, 4.5], [4.0, 5.0]], UNDECIDED),
        ([[4.0, 2.0]], UNDECIDED),  # one split
    ],
)
def test_a_step_falls_where_its_whole_interval_does(folds, expected):
    frame = curves(folds, dataset="Ki")
    assert verdict(comparisons.decreases, frame, **FALLS, spread=FOLDS) == expected


def test_a_curve_at_zero_is_level_and_a_rise_from_zero_is_the_worst():
    assert verdict(comparisons.decreases, curve([1.0, 0.0, 0.0], dataset="Ki"), **FALLS) == HOLDS
    rise = curve([1.0, 0.0, 1e-9], dataset="Ki")
    assert verdict(comparisons.decreases, rise, **FALLS, tolerance=1e6) == CONTRADICTED
    level = curves([[1.0, 0.0, 0.0]] * 3, dataset="Ki")
    assert verdict(comparisons.decreases, level, **FALLS, spread=FOLDS) == HOLDS


PEAKS = {"value": "risk", "over": "iteration", "by": ["reg"]}


def test_peaks_within():
    frame = curve([0.5, 0.75, 0.625, 0.5], reg=1.0)
    arguments = PEAKS
    assert verdict(comparisons.peaks_within, frame, **arguments, limit=2) == HOLDS
    text = "best at iteration 2; after 1 better than up to it by 0.25 (reg 1.0)"
    late = found(comparisons.peaks_within, frame, **arguments, limit=1)
    assert late == (CONTRADICTED, text)
    assert verdict(comparisons.peaks_within, frame, **arguments, limit=1, slack=0.25) == HOLDS
    with pytest.raises(NotMeasured, match="up to iteration 0"):
        comparisons.peaks_within(frame, **arguments, limit=0)
    with pytest.raises(NotMeasured, match="the curve ends at iteration 4"):
        comparisons.peaks_within(frame, **arguments, limit=4)


@pytest.mark.parametrize(
    ("folds", "expected"),
    [
        ([[0.7, 0.5], [0.8, 0.61], [0.6, 0.39]], HOLDS),
        ([[0.5, 0.7], [0.61, 0.8], [0.39, 0.6]], CONTRADICTED),
        # the best mean is the early one, by chance alone: it may as well be the late one
        ([[0.9, 0.5], [0.5, 0.7], [0.5, 0.65]], UNDECIDED),
        ([[0.7, 0.5]], UNDECIDED),
    ],
)
def test_the_best_before_and_the_best_after_are_paired_by_folds(folds, expected):
    frame = curves(folds, reg=1.0)
    assert verdict(comparisons.peaks_within, frame, **PEAKS, limit=1, spread=FOLDS) == expected


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
    result = comparisons.gain(methods(GAINS), **PAIRED, bound=bound, spread=FOLDS)
    interval = f"0.02 (95 % interval {0.02 - HALF:.4g} to {0.02 + HALF:.4g}, 4 folds)"
    assert result.verdict == expected
    assert result.measured.startswith(f"smallest gain {interval} (dataset Ki)")
    assert result.intervals == 1
    # the folds' own differences, thirty times as large, have cancelled
    assert HALF < 0.02


def test_one_split_decides_no_gain():
    text = (
        "smallest gain 0.3 (one split: no spread) (dataset Ki); "
        "a second split would tell its chance"
    )
    one = methods([0.3])
    assert found(comparisons.gain, one, **PAIRED, bound=0, spread=FOLDS) == (UNDECIDED, text)
    # only folds that both have are compared: again one
    three = methods([0.3, 0.1, 0.1])
    three = three[(three["method"] == "new") | (three["fold"] == 0)]
    assert found(comparisons.gain, three, **PAIRED, bound=0, spread=FOLDS) == (UNDECIDED, text)
    assert verdict(comparisons.gain, one, **PAIRED, bound=0) == HOLDS


def test_a_mean_alone_decides_nothing_that_scatters():
    wide = {"bound": 0, "spread": FOLDS}
    assert verdict(comparisons.gain, methods([0.3, -0.2]), **PAIRED, **wide) == UNDECIDED
    assert verdict(comparisons.gain, methods([-0.3, 0.2]), **PAIRED, **wide) == UNDECIDED
    assert verdict(comparisons.gain, methods([0.02, 0.021, 0.019]), **PAIRED, **wide) == HOLDS
    lost = methods([-0.02, -0.021, -0.019])
    assert verdict(comparisons.gain, lost, **PAIRED, **wide) == CONTRADICTED


@given(st.lists(st.integers(-64, 64).map(lambda k: k / 128), min_size=2, max_size=6))
def test_one_side_never_exceeds_the_other_and_is_exceeded(gains):
    frame = methods(gains, spoiled=0.25)  # exact in binary, as the gains
    forth = verdict(comparisons.gain, frame, **PAIRED, bound=0, spread=FOLDS)
    back = PAIRED | {"low": "new", "high": "old"}
    back = verdict(comparisons.gain, frame, **back, bound=0, spread=FOLDS)
    assert (forth, back) in {
        (HOLDS, CONTRADICTED),
        (CONTRADICTED, HOLDS),
        (UNDECIDED, UNDECIDED),
        *([(HOLDS, HOLDS)] if not any(gains) else []),
    }


def test_gain_compares_best_values():
    frame = pd.DataFrame(
        {
            "inner": [10, 10, 100, 100],
            "iteration": [1, 2, 1, 2],
            "reg": [1, 1, 1, 1],
            "auc": [0.5, 0.75, 0.6875, 0.5625],
        }
    )
    arguments = {"value": "auc", "between": "inner", "low": 10, "high": 100, "by": ["reg"]}
    means = (HOLDS, "smallest gain 0 (reg 1)")
    assert found(comparisons.gain, frame, **arguments, bound=0) == means
    best = (CONTRADICTED, "smallest gain -0.0625 (reg 1)")
    assert found(comparisons.gain, frame, **arguments, over="iteration", bound=0) == best


@pytest.mark.parametrize("spread", [None, FOLDS])
def test_every_group_needs_both_sides(spread):
    frame = pd.concat([methods([0.1, 0.11]), methods([0.1], dataset="E")])
    frame = frame[(frame["method"] == "new") | (frame["dataset"] == "Ki")]
    with pytest.raises(NotMeasured, match=r"^without old \(dataset E\)$"):
        comparisons.gain(frame, **PAIRED, bound=0, spread=spread)
    with pytest.raises(NotMeasured, match=r"^without old \(dataset E\)$"):
        comparisons.close(frame, **PAIRED, tolerance=1, spread=spread)
    # a share of the groups is a share of those that were measured, all of them
    with pytest.raises(NotMeasured):
        comparisons.gain(frame, **PAIRED, bound=0, spread=spread, share=0.5)


@pytest.mark.parametrize(
    ("gains", "share", "expected"),
    [
        (([0.1] * 3, [-0.1] * 3), 0.5, HOLDS),
        (([0.1] * 3, [-0.1] * 3), 0.51, CONTRADICTED),
        (([0.1] * 3, [-0.1] * 3), 1.0, CONTRADICTED),
        (([0.1] * 3, [0.5, -0.3]), 0.5, HOLDS),
        (([0.1] * 3, [0.5, -0.3]), 1.0, UNDECIDED),
        (([-0.1] * 3, [0.5, -0.3]), 0.5, UNDECIDED),
        (([-0.1] * 3, [0.5, -0.3]), 1.0, CONTRADICTED),
    ],
)
def test_a_share_of_the_groups(gains, share, expected):
    frame = pd.concat(methods(values, dataset=str(i)) for i, values in enumerate(gains))
    result = comparisons.gain(frame, **PAIRED, bound=0, share=share, spread=FOLDS)
    assert result.verdict == expected
    good = sum(min(values) > 0 for values in gains)
    assert result.measured.startswith(f"{good} of 2 groups; " if share < 1 else "smallest")


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
    assert found(comparisons.close, frame, **arguments, tolerance=0.25) == (HOLDS, text)
    assert verdict(comparisons.close, frame, **arguments, tolerance=0.2) == CONTRADICTED
    small = frame[frame["size"] == 1]
    assert verdict(comparisons.close, small, **arguments, tolerance=0.125) == HOLDS


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
    assert verdict(comparisons.close, frame, **PAIRED, tolerance=tolerance, spread=FOLDS) == (
        expected
    )


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
    assert found(comparisons.leads, MANY, **LEADS) == (CONTRADICTED, text)
    assert verdict(comparisons.leads, MANY, **LEADS, slack=0.03) == HOLDS
    assert verdict(comparisons.leads, MANY[:3], **LEADS) == HOLDS
    with pytest.raises(NotMeasured, match="there is no other beside SVM"):
        comparisons.leads(MANY[MANY["method"] == "SVM"], **LEADS)


@pytest.mark.parametrize(("row", "name"), [(3, "SVM"), (4, "KNN"), (5, "SGD")])
def test_leads_asks_for_all_in_every_group(row, name):
    """Also for one that could not win: without it nobody knows."""
    with pytest.raises(NotMeasured, match=rf"^without {name} \(dataset E\)$"):
        comparisons.leads(MANY.drop(row), **LEADS)


def scattered(rows, noise):
    """A table with four folds: each row scatters on its own, with the same mean."""
    size = noise * np.linspace(1, 2, len(rows))
    return pd.concat(
        rows.assign(fold=fold, auc=rows["auc"] + sign * size)
        for fold, sign in enumerate([1, -1, 1, -1])
    )


@pytest.mark.parametrize(("noise", "lead", "loss"), [(1e-4, HOLDS, CONTRADICTED),
                                                     (0.5, UNDECIDED, UNDECIDED)])  # fmt: skip
def test_leads_and_led_by_whole_intervals(noise, lead, loss):
    won, lost = scattered(MANY[:3], noise), scattered(MANY[3:], noise)
    assert verdict(comparisons.leads, won, **LEADS, spread=FOLDS) == lead
    assert verdict(comparisons.leads, lost, **LEADS, spread=FOLDS) == loss
    assert verdict(comparisons.led, won, **LED, spread=FOLDS) == lead
    assert verdict(comparisons.led, lost, **LED, spread=FOLDS) == loss
    one = {"spread": FOLDS}
    assert verdict(comparisons.leads, MANY[:3].assign(fold=0), **LEADS, **one) == UNDECIDED
    assert verdict(comparisons.led, MANY[:3].assign(fold=0), **LED, **one) == UNDECIDED


def test_leads_at_the_best_position_of_each():
    rising, falling = curve([0.5, 0.8], reg=1.0), curve([0.79, 0.3], reg=2.0)
    frame = pd.concat([rising, falling]).assign(dataset="Ki")
    arguments = {"value": "risk", "among": "reg", "leader": 1.0, "by": ["dataset"]}
    assert verdict(comparisons.leads, frame, **arguments, over="iteration") == HOLDS
    # where each is best: 0.8 and 0.79
    near = arguments | {"over": "iteration", "slack": -0.02}
    assert verdict(comparisons.leads, frame, **near) == CONTRADICTED


def test_led_asks_for_one_that_is_ahead():
    assert verdict(comparisons.led, MANY[:3], **LED) == HOLDS
    text = "smallest lead over it -0.02 (by SVM; dataset E)"
    assert found(comparisons.led, MANY, **LED) == (CONTRADICTED, text)
    assert verdict(comparisons.led, MANY, **LED, slack=0.03) == HOLDS
    with pytest.raises(NotMeasured, match=r"^without KNN \(dataset E\)$"):
        comparisons.led(MANY.drop(4), **LED)
    with pytest.raises(NotMeasured, match="there is no other beside KNN"):
        comparisons.led(MANY[MANY["method"] == "KNN"], **LED)


def test_one_that_lacks_matters_only_where_nobody_is_ahead():
    assert verdict(comparisons.led, MANY[:3].drop(2), **LED) == HOLDS
    ahead = pd.concat([MANY[:3].drop(2), MANY[3:].assign(auc=[0.9, 0.7, 0.5])])
    assert verdict(comparisons.led, ahead, **LED) == HOLDS  # Ki has no SGD, and needs none
    with pytest.raises(NotMeasured, match=r"^without SVM \(dataset E\)$"):
        comparisons.led(MANY.drop(3), **LED)


def test_level_is_the_range_of_the_means():
    frame = pd.DataFrame(
        {"reg": [1, 2, 4] * 2, "fold": [0] * 3 + [1] * 3, "auc": [0.6, 0.7, 0.5, 0.7, 0.6, 0.8]}
    )
    arguments = {"value": "auc", "over": "reg", "by": []}
    # single folds differ by more than the means 0.65, 0.65 and 0.65
    assert verdict(comparisons.level, frame, **arguments, bound=1e-9) == HOLDS
    one = frame[frame["fold"] == 1]
    outside = (CONTRADICTED, "largest difference 0.2, between reg 4 and 2 ()")
    assert found(comparisons.level, one, **arguments, bound=0.1) == outside
    with pytest.raises(NotMeasured, match="fewer than two values of reg"):
        comparisons.level(frame[frame["reg"] == 1], **arguments, bound=1)


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        (0.02 + 1.01 * HALF, HOLDS),
        (0.02 + 0.99 * HALF, UNDECIDED),
        (0.02 - 0.99 * HALF, UNDECIDED),
        (0.02 - 1.01 * HALF, CONTRADICTED),
    ],
)
def test_level_by_the_whole_interval(bound, expected):
    arguments = {"value": "auc", "over": "method", "by": ["dataset"], "bound": bound}
    assert verdict(comparisons.level, methods(GAINS), **arguments, spread=FOLDS) == expected


@given(
    st.lists(st.integers(-64, 64).map(lambda k: k / 128), min_size=1, max_size=6),
    st.integers(-16, 16).map(lambda k: k / 64),
    st.integers(-8, 8),
)
def test_another_unit_of_values_and_bounds_changes_no_verdict(gains, bound, power):
    unit = 2.0**power
    frame = methods(gains, spoiled=0.25)
    scaled = frame.assign(auc=unit * frame["auc"])
    for check, arguments, key in (
        (comparisons.gain, PAIRED, "bound"),
        (comparisons.close, PAIRED, "tolerance"),
        (comparisons.leads, LEADS | {"leader": "new"}, "slack"),
        (comparisons.led, LED | {"name": "new"}, "slack"),
        (comparisons.level, {"value": "auc", "over": "method", "by": []}, "bound"),
    ):
        one, other = (
            verdict(check, rows, **arguments, **{key: size}, spread=FOLDS)
            for rows, size in ((frame, bound), (scaled, unit * bound))
        )
        assert one == other
