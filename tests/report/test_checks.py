"""Checks of numbers and comparisons, each on both sides of a bound and in between.

None hides a number that is not finite, and none decides where repeats scatter.
"""

import inspect
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from kronbench.intervals import half_width, interval_factor
from kronbench_suite.report import checks
from kronbench_suite.report.outcomes import NotMeasured
from tests.report.corruptions import SOME, column_of

FOLDS = {"over": ["fold"], "test_over_train": 0.25}
HOLDS, UNDECIDED, CONTRADICTED = "holds", "undecided", "contradicted"


def found(check, frame, **arguments):
    """Verdict and text of a check."""
    result = check(frame, **arguments)
    return result.verdict, result.measured


def verdict(check, frame, **arguments):
    return check(frame, **arguments).verdict


def folds(values, **columns):
    return pd.DataFrame({"fold": range(len(values)), "auc": values, **columns})


def test_bounds_of_groups_are_bounds_of_their_means():
    frame = pd.DataFrame({"dataset": ["e", "davis"] * 2, "auc": [0.5, 0.75, 1.0, 0.5]})
    by = {"value": "auc", "by": ["dataset"]}
    smallest = (HOLDS, "smallest 0.625, bound 0.625 (dataset davis)")
    assert found(checks.at_least, frame, **by, bound=0.625) == smallest
    largest = (CONTRADICTED, "largest 0.75, bound 0.74 (dataset e)")
    assert found(checks.at_most, frame, **by, bound=0.74) == largest
    assert verdict(checks.at_least, frame, value="auc", bound=0.625) == CONTRADICTED
    # of no key: the mean of all, 0.6875
    assert verdict(checks.at_least, frame, value="auc", bound=0.68, by=[]) == HOLDS


@pytest.mark.parametrize(
    ("bound", "at_least", "at_most"),
    [
        (0.35, HOLDS, CONTRADICTED),
        (0.4, HOLDS, UNDECIDED),
        (0.6, UNDECIDED, UNDECIDED),
        (0.65, UNDECIDED, HOLDS),
        (0.7, CONTRADICTED, HOLDS),
    ],
)
def test_of_a_number_with_ends_the_interval_decides_and_not_its_middle(bound, at_least, at_most):
    frame = pd.DataFrame({"x": [0.6], "x_low": [0.4], "x_high": [0.65]})
    arguments = {"value": "x", "bound": bound}
    text = f"0.6 (known to lie in 0.4 to 0.65), bound {bound:g}"
    for check, extreme, expected in (
        (checks.at_least, "smallest", at_least),
        (checks.at_most, "largest", at_most),
    ):
        told = "; only a narrower interval would decide it" if expected == UNDECIDED else ""
        assert found(check, frame, **arguments) == (expected, f"{extreme} {text}{told}")
    # of several rows the outermost ends decide, and a row without ends is a number
    more = pd.concat([frame, pd.DataFrame({"x": [0.5]})], ignore_index=True)
    assert verdict(checks.at_least, more, value="x", bound=0.45) == UNDECIDED
    assert verdict(checks.at_least, more.tail(1), value="x", bound=0.45) == HOLDS


VALUES = [0.68, 0.70, 0.72, 0.70]
HALF = half_width(VALUES, 0.25)


@given(st.floats(0.5, 0.9), st.sampled_from([0.0, 0.5, 2.0]))
def test_within_is_both_bounds_at_once(target, width):
    tolerance = width * HALF
    frame, spread = folds(VALUES), {"value": "auc", "spread": FOLDS}
    sides = [
        verdict(checks.at_least, frame, **spread, bound=target - tolerance),
        verdict(checks.at_most, frame, **spread, bound=target + tolerance),
    ]
    both = verdict(checks.within, frame, **spread, target=target, tolerance=tolerance)
    # contradicted where one bound is, and held where both are
    worst = [CONTRADICTED, UNDECIDED, HOLDS]
    assert both == min(sides, key=worst.index)


PRINTED = pd.DataFrame(
    {
        "dataset": ["Ki", "IC", "E"],
        "ours": [1.0, 2.0, 9.0],
        "paper": [1.0, 4.0, None],
    }
)


def test_matches_printed_ignores_what_was_not_printed():
    frame = PRINTED
    assert verdict(checks.matches_printed, frame, tolerance=2) == HOLDS
    text = "largest difference 2 of 2 numbers (IC)"
    assert found(checks.matches_printed, frame, tolerance=1) == (CONTRADICTED, text)
    with pytest.raises(NotMeasured, match="nothing is printed"):
        checks.matches_printed(frame[frame["dataset"] == "E"], tolerance=1)


def test_matches_printed_says_how_many_test_sets_would_decide():
    frame = PRINTED.assign(**{"±": [0.1, 0.6, np.nan], "sets": [9, 9, 9]})
    arguments = {"tolerance": 1.6, "interval": "±", "repeats": "sets"}
    deviation = 0.6 / interval_factor(9)
    needed = next(k for k in range(2, 99) if interval_factor(k) * deviation <= 0.4)
    measured = checks.matches_printed(frame, **arguments).measured
    assert measured.endswith(f"; about {needed} repeats would decide it")
    # folds that share training points never come below a width
    measured = checks.matches_printed(frame, **arguments, test_over_train=0.25).measured
    assert "; no number of repeats of such splits would decide it: " in measured
    del arguments["repeats"]
    assert checks.matches_printed(frame, **arguments).verdict == UNDECIDED


@pytest.mark.parametrize(("tolerance", "expected"), [(0.4, UNDECIDED), (0.6, HOLDS)])
def test_the_interval_of_folds_keeps_its_width(tolerance, expected):
    """It comes with the correction for shared pairs, which the check keeps."""
    frame = PRINTED[:1].assign(**{"±": 0.5, "sets": 9})
    arguments = {"interval": "±", "repeats": "sets", "test_over_train": 0.25}
    assert verdict(checks.matches_printed, frame, tolerance=tolerance, **arguments) == expected


REPEATED = {"among": "method", "by": ["dataset"], "interval": "±", "repeats": "repetitions"}


@pytest.mark.parametrize(
    ("ours", "printed_numbers", "expected"),
    [
        (0.75, [0.77, 0.85], HOLDS),
        (0.75, [0.77, 0.71], UNDECIDED),  # it may be the other one's as well
        (0.75, [0.77, 0.77], HOLDS),  # which is printed for both
        (0.75, [0.81, 0.85], CONTRADICTED),  # beyond the interval and the rounding
        (0.75, [0.81, 0.75], CONTRADICTED),
        (np.nan, [0.77, 0.85], CONTRADICTED),
    ],
)
def test_a_printed_number_comes_out_as_one_more_repetition_of_one_method(
    ours, printed_numbers, expected
):
    # 0.045 for one more repetition, and half a unit of the last digit
    half = 0.045 * interval_factor(10) / interval_factor(10, 1.0)
    frame = pd.DataFrame({"method": ["a", "b"], "dataset": "Ki", "ours": [ours, 0.9], "±": half,
                          "repetitions": 10, "paper": printed_numbers})  # fmt: skip
    assert verdict(checks.one_more_repetition, frame, names=["a"], **REPEATED) == expected


def test_what_a_printed_number_is_rounded_by_may_be_a_column():
    # a rank of 1 each time, and 2 printed: half a rank is 0.32 doublings of it, and not enough
    frame = pd.DataFrame({"method": "a", "dataset": "Ki", "ours": [0.0], "±": 0.0,
                          "repetitions": 40,
                          "paper": [1.0], "half": np.log2(1 + 0.5 / 2)})  # fmt: skip
    arguments = REPEATED | {"names": ["a"], "rounding": "half"}
    assert verdict(checks.one_more_repetition, frame, **arguments) == CONTRADICTED
    near = frame.assign(ours=np.log2(1.7))
    assert verdict(checks.one_more_repetition, near, **arguments) == HOLDS
    del arguments["rounding"]  # then it is half a unit of 1.0
    assert verdict(checks.one_more_repetition, near, **arguments) == CONTRADICTED


@pytest.mark.parametrize(("repetitions", "expected"), [(18, UNDECIDED), (19, CONTRADICTED)])
def test_few_repetitions_that_are_all_alike_do_not_contradict(repetitions, expected):
    # of 20 repetitions in any order the one that differs is the last with a chance of 1 in 20
    frame = pd.DataFrame({"method": "a", "dataset": "Ki", "ours": [0.7], "±": 0.0,
                          "repetitions": repetitions,
                          "paper": [0.8]})  # fmt: skip
    assert verdict(checks.one_more_repetition, frame, names=["a"], **REPEATED) == expected
    same = frame.assign(paper=0.7)
    assert verdict(checks.one_more_repetition, same, names=["a"], **REPEATED) == HOLDS


def test_a_swapped_number_rarely_comes_out_and_a_true_one_is_rarely_contradicted():
    rng = np.random.default_rng(3)
    wrong, right = Counter(), Counter()
    for _ in range(100):
        truth = rng.uniform(0.6, 0.9, 5)
        means = truth + 0.01 * rng.standard_normal((10, 5))
        names = [f"m{i}" for i in range(5)]
        # our means, beside one more repetition of each method, printed to two digits
        frame = pd.DataFrame(
            {
                "method": names,
                "dataset": "Ki",
                "ours": means.mean(0),
                "±": interval_factor(10) * means.std(0, ddof=1),
                "repetitions": 10,
                "paper": (truth + 0.01 * rng.standard_normal(5)).round(2),
            }
        )
        pairings = checks.swapped(frame, frame, "one_more_repetition", REPEATED | {"names": names})
        for pairing, found in pairings:
            (right if pairing == "right" else wrong)[found] += 1
    assert wrong[HOLDS] < 0.1 * wrong.total() < wrong[CONTRADICTED]
    assert right[CONTRADICTED] < 0.06 * right.total()
    assert right[HOLDS] > 0.3 * right.total()


def test_all_groups_share_the_level_and_a_false_one_rarely_holds():
    rng = np.random.default_rng(4)
    found = {0.0: Counter(), -1.0: Counter()}
    arguments = {"value": "auc", "by": ["group"], "bound": 0, "spread": {"over": ["repetition"]}}
    for _ in range(200):
        frame = pd.DataFrame(
            {"group": np.repeat(range(12), 6), "repetition": np.tile(range(6), 12)}
        )
        noise = rng.standard_normal(len(frame))
        # all at the edge; then one at the edge, which is all that is false, and the others sure
        found[0.0][verdict(checks.at_least, frame.assign(auc=noise), **arguments)] += 1
        sure = np.where(frame["group"] == 0, noise, 100 + noise)
        found[-1.0][verdict(checks.at_least, frame.assign(auc=sure), **arguments)] += 1
    # unshared intervals would contradict 1 - 0.975^12 = 26 % of the first
    assert found[0.0][CONTRADICTED] < 0.06 * 200
    assert 0 < found[-1.0][HOLDS] < 0.06 * 200


@pytest.mark.parametrize(
    ("share", "expected"), [(1.0, CONTRADICTED), (0.6, HOLDS), (0.7, CONTRADICTED)]
)
def test_a_share_of_the_groups_has_the_leader_before_each_other(share, expected):
    # c is ahead of the leader in one of three groups, b in none: shares are of groups, not pairs
    auc = {"a": [0.8, 0.8, 0.8], "b": [0.7, 0.7, 0.7], "c": [0.6, 0.6, 0.9]}
    frame = pd.DataFrame(auc).rename_axis("group").stack().rename_axis(["group", "method"])
    arguments = {"value": "auc", "among": "method", "leader": "a", "by": ["group"], "share": share}
    frame = frame.rename("auc").reset_index()
    assert verdict(checks.leads, frame, **arguments) == expected


def test_at_least_a_share_of_the_rows():
    frame = pd.DataFrame({"ratio": [0.5, 1.0, 2.0, None]})
    most = {"value": "ratio", "bound": 1}
    text = "2 of 4 rows; 1 rows without a number"
    assert found(checks.mostly_at_least, frame, **most, share=0.5) == (HOLDS, text)
    assert found(checks.mostly_at_least, frame, **most, share=0.51) == (CONTRADICTED, text)
    some = {"value": "ratio", "share": 0.01}
    assert verdict(checks.mostly_at_least, frame, **some, bound=2) == HOLDS
    assert verdict(checks.mostly_at_least, frame, **some, bound=2.1) == CONTRADICTED


def test_scales_fits_the_exponent_of_each_curve():
    n = [10, 20, 40]
    frame = pd.concat(
        pd.DataFrame({"method": name, "n": n, "seconds": [size**power for size in n]})
        for name, power in (("line", 1), ("square", 2))
    )
    arguments = {"value": "seconds", "over": "n", "by": ["method"]}
    holds, measured = found(checks.scales, frame, **arguments, low=0.9, high=2.1)
    assert holds == HOLDS
    assert measured == (
        "exponent 1.00, between neighbours 1.00 to 1.00 (method line); "
        "2.00, between neighbours 2.00 to 2.00 (method square)"
    )
    assert verdict(checks.scales, frame, **arguments, low=0.9, high=1.9) == CONTRADICTED
    assert verdict(checks.scales, frame, **arguments, low=1.1, high=2.1) == CONTRADICTED
    with pytest.raises(NotMeasured, match="fewer than two values of n"):
        checks.scales(frame[frame["n"] == 10], **arguments, low=0, high=3)


RATIOS = pd.DataFrame(
    {
        "method": ["fast", "fast", "fast", "slow", "slow"],
        "n": [10, 20, 40, 10, 20],
        "seconds": [1.0, 2.0, 4.0, 10.0, 80.0],
    }
)
RATIO = {"value": "seconds", "between": "method", "slow": "slow", "fast": "fast"}


def test_ratio_at_the_largest_size_that_both_have():
    frame, arguments = RATIOS, RATIO | {"at_largest": "n"}
    text = "slow 80, fast 2 at n 20: ratio 40, bound 40"
    assert found(checks.ratio, frame, **arguments, bound=40) == (HOLDS, text)
    assert verdict(checks.ratio, frame, **arguments, bound=41) == CONTRADICTED
    with pytest.raises(NotMeasured, match="no n has both slow and fast"):
        checks.ratio(frame[frame["n"] == 40], **arguments, bound=1)


@pytest.mark.parametrize(
    ("bound", "expected"),
    [(4.99, HOLDS), (5.01, UNDECIDED), (19.99, UNDECIDED), (20.01, CONTRADICTED)],
)
def test_the_quotients_of_the_repeats_decide(bound, expected):
    frame = RATIOS[:4].query("n == 10")
    frame = frame.assign(
        seconds_low=frame["seconds"] / np.sqrt(2), seconds_high=frame["seconds"] * np.sqrt(2)
    )
    result = checks.ratio(frame, **RATIO, bound=bound)
    assert result.verdict == expected
    assert result.measured.startswith("slow 10, fast 1: ratio 10 (repeats 5 to 20), ")
    assert result.chance == 0  # no share of them misses the truth by chance


def test_ratio_in_each_group_and_of_none_that_lacks_a_side():
    both = RATIOS.query("n < 40")
    text = "slow 10, fast 1: ratio 10, bound 11 (n 10)"
    assert found(checks.ratio, both, **RATIO, by=["n"], bound=11) == (CONTRADICTED, text)
    assert verdict(checks.ratio, both, **RATIO, by=["n"], bound=10) == HOLDS
    with pytest.raises(NotMeasured, match=r"^without slow \(n 40\)"):
        checks.ratio(RATIOS, **RATIO, by=["n"], bound=10)


def curve(values, **columns):
    return pd.DataFrame({"iteration": range(1, len(values) + 1), "risk": values, **columns})


PEAKS = {"value": "risk", "over": "iteration", "by": ["reg"]}


def test_peaks_within():
    frame = curve([0.5, 0.75, 0.625, 0.5], reg=1.0)
    assert verdict(checks.peaks_within, frame, **PEAKS, limit=2) == HOLDS
    text = "best at iteration 2; after 1 better than up to it by 0.25 (reg 1.0)"
    late = found(checks.peaks_within, frame, **PEAKS, limit=1)
    assert late == (CONTRADICTED, text)
    assert verdict(checks.peaks_within, frame, **PEAKS, limit=1, tolerance=0.25) == HOLDS
    with pytest.raises(NotMeasured, match="up to iteration 0"):
        checks.peaks_within(frame, **PEAKS, limit=0)
    with pytest.raises(NotMeasured, match="the curve ends at iteration 4"):
        checks.peaks_within(frame, **PEAKS, limit=4)


def methods(gains, dataset="Ki"):
    """Two methods on folds of very different difficulty."""
    folds = np.arange(len(gains))
    base = 0.5 + 0.3 * (folds % 3)
    sides = [("old", base), ("new", base + np.asarray(gains))]
    frames = (
        pd.DataFrame({"method": name, "fold": folds, "auc": auc, "dataset": dataset})
        for name, auc in sides
    )
    return pd.concat(frames).sample(frac=1, random_state=0)  # the order of rows says nothing


PAIRED = {"value": "auc", "between": "method", "low": "old", "high": "new", "by": ["dataset"]}
GAINS = [0.01, 0.02, 0.03, 0.02]
HALF_GAIN = half_width(GAINS, 0.25)


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        (0.02 - 1.01 * HALF_GAIN, HOLDS),
        (0.02 - 0.99 * HALF_GAIN, UNDECIDED),
        (0.02 + 0.99 * HALF_GAIN, UNDECIDED),
        (0.02 + 1.01 * HALF_GAIN, CONTRADICTED),
    ],
)
def test_the_interval_of_a_gain_is_that_of_paired_differences(bound, expected):
    result = checks.gain(methods(GAINS), **PAIRED, bound=bound, spread=FOLDS)
    interval = f"0.02 (95 % interval {0.02 - HALF_GAIN:.4g} to {0.02 + HALF_GAIN:.4g}, 4 folds)"
    assert result.verdict == expected
    assert result.measured.startswith(f"smallest gain {interval} (dataset Ki)")
    assert result.chance == pytest.approx(0.025)
    # the folds' own differences, thirty times as large, have cancelled
    assert HALF_GAIN < 0.02
    # without spread the means are compared
    alone = verdict(checks.gain, methods(GAINS), **PAIRED, bound=bound)
    assert alone == (HOLDS if bound < 0.02 else CONTRADICTED)


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
    assert verdict(checks.leads, MANY, **LEADS, tolerance=0.03) == HOLDS
    assert verdict(checks.leads, MANY[:3], **LEADS) == HOLDS
    with pytest.raises(NotMeasured, match="there is no other beside SVM"):
        checks.leads(MANY[MANY["method"] == "SVM"], **LEADS)
    # also for one that could not win: without it nobody knows
    for row, name in ((3, "SVM"), (4, "KNN"), (5, "SGD")):
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


AREAS = pd.DataFrame(
    {
        "dataset": ["Ki", "Ki", "E", "E"],
        "method": ["SVM", "KNN"] * 2,
        "auc": [0.8, 0.7, 0.75, 0.6],
        "paper": [0.8, 0.7, 0.75, 0.6],
    }
)
TIMES = pd.DataFrame({"method": "SVM", "n": [10, 20, 40], "seconds": [1.0, 2.1, 4.2]})
OLD = {"value": "auc", "by": ["dataset"]}
SIDES = OLD | {"between": "method", "low": "KNN", "high": "SVM"}
# A table for which each check holds, and its arguments.
EXAMPLES = {
    "peaks_within": (curve([0.6, 0.8, 0.7, 0.65], reg=1), PEAKS | {"limit": 2}),
    "within": (AREAS, {"value": "auc", "target": 0.7125, "tolerance": 0.01}),
    "matches_printed": (AREAS.assign(ours=AREAS["auc"]), {"tolerance": 0.01}),
    "one_more_repetition": (
        AREAS.assign(ours=AREAS["auc"], repetitions=10, **{"±": 0.001}),
        {"among": "method", "names": ["SVM", "KNN"], "by": ["dataset"]}
        | {"interval": "±", "repeats": "repetitions"},
    ),
    "at_least": (AREAS, {"value": "auc", "bound": 0.59}),
    "at_most": (AREAS, {"value": "auc", "bound": 0.81}),
    "mostly_at_least": (AREAS, {"value": "auc", "bound": 0.65, "share": 0.75}),
    "gain": (AREAS, SIDES | {"bound": 0.09}),
    "close": (AREAS, SIDES | {"tolerance": 0.16}),
    "leads": (AREAS, OLD | {"among": "method", "leader": "SVM"}),
    "beaten": (AREAS, OLD | {"among": "method", "name": "KNN"}),
    "flat_along": (AREAS, OLD | {"over": "method", "bound": 0.16}),
    "scales": (
        TIMES,
        {"value": "seconds", "over": "n", "by": ["method"], "low": 0.9, "high": 1.1},
    ),
    "ratio": (
        AREAS,
        OLD | {"between": "method", "slow": "SVM", "fast": "KNN", "bound": 1.1},
    ),
}


def test_every_check_has_an_example_for_which_it_holds():
    assert EXAMPLES.keys() == checks.CHECKS.keys()
    for kind, (frame, arguments) in EXAMPLES.items():
        assert checks.CHECKS[kind](frame, **arguments).verdict == HOLDS, kind


@pytest.mark.parametrize("kind", sorted(set(checks.CHECKS) - SOME))
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_no_row_hides_a_number_that_is_not_finite(kind, number):
    frame, arguments = EXAMPLES[kind]
    column = column_of(arguments)
    for row in range(len(frame)):
        spoiled = frame.copy()
        spoiled.loc[row, column] = number
        found = checks.CHECKS[kind](spoiled, **arguments)
        assert found.verdict == CONTRADICTED
        assert found.measured.startswith(f"1 of {len(frame)} numbers not finite")


WITH_SPREAD = [
    kind
    for kind in sorted(checks.CHECKS)
    if "spread" in inspect.signature(checks.CHECKS[kind]).parameters
]


def scattered(kind, noise):
    """The example with four folds; each row scatters on its own, about the same mean."""
    frame, arguments = EXAMPLES[kind]
    column = column_of(arguments)
    size = noise * np.linspace(1, 2, len(frame))
    folds = [
        frame.assign(fold=fold, **{column: frame[column] + sign * size})
        for fold, sign in enumerate([1, -1, 1, -1])
    ]
    return pd.concat(folds, ignore_index=True), {**arguments, "spread": FOLDS}


@pytest.mark.parametrize("kind", WITH_SPREAD)
def test_what_holds_on_average_is_undecided_where_it_scatters(kind):
    frame, arguments = scattered(kind, 1e-6)
    found = checks.CHECKS[kind](frame, **arguments)
    assert found.verdict == HOLDS
    assert found.chance > 0
    frame, arguments = scattered(kind, 3.0)
    found = checks.CHECKS[kind](frame, **arguments)
    assert found.verdict == UNDECIDED
    assert "would decide it" in found.measured
    # one split decides nothing
    frame, arguments = scattered(kind, 0.0)
    found = checks.CHECKS[kind](frame[frame["fold"] == 0], **arguments)
    assert found.verdict == UNDECIDED
    assert found.measured.endswith("a second split would tell its chance")
    # and a fold that is not finite contradicts, however few the others are
    frame.loc[0, column_of(arguments)] = np.nan
    assert checks.CHECKS[kind](frame, **arguments).verdict == CONTRADICTED


def test_a_missing_key_is_a_group_of_its_own():
    frame = AREAS.assign(dataset=["Ki", "Ki", None, None], auc=[0.8, 0.7, 0.5, 0.6])
    for kind in ("leads", "gain"):
        assert checks.CHECKS[kind](frame, **EXAMPLES[kind][1]).verdict == CONTRADICTED
