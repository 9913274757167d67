import numpy as np
import pandas as pd
import pytest

from kronbench.report import checks
from kronbench.report.estimates import half_width


def curve(values, **columns):
    return pd.DataFrame({"iteration": range(1, len(values) + 1), "risk": values, **columns})


def test_decreases_finds_the_one_rise_and_names_its_group():
    good = curve([4.0, 2.0, 1.0, 1.0], dataset="Ki")
    bad = curve([4.0, 2.0, 2.5, 1.0], dataset="IC")
    arguments = {"value": "risk", "over": "iteration", "by": ["dataset"]}
    assert checks.decreases(good, **arguments)[0]
    holds, measured = checks.decreases(pd.concat([good, bad]), **arguments)
    assert not holds
    assert measured == "largest relative rise 0.25 (dataset IC)"
    assert checks.decreases(pd.concat([good, bad]), **arguments, tolerance=0.3)[0]


def test_decreases_looks_at_the_mean_over_folds():
    rise, fall = curve([1.0, 2.0], dataset="Ki"), curve([5.0, 1.0], dataset="Ki")
    arguments = {"value": "risk", "over": "iteration", "by": ["dataset"]}
    assert not checks.decreases(rise, **arguments)[0]
    assert checks.decreases(pd.concat([rise, fall]), **arguments)[0]


def test_peaks_within():
    frame = curve([0.5, 0.7, 0.6, 0.5], reg=1.0)
    arguments = {"value": "risk", "over": "iteration", "by": ["reg"]}
    assert checks.peaks_within(frame, **arguments, limit=2)[0]
    assert not checks.peaks_within(frame, **arguments, limit=1)[0]
    assert checks.peaks_within(frame, **arguments, limit=1, slack=0.25)[0]
    with pytest.raises(checks.NotMeasured, match="up to iteration 0"):
        checks.peaks_within(frame, **arguments, limit=0)


def test_peaks_within_pairs_the_folds():
    frame = pd.concat([curve([0.5, 0.7], reg=1.0, fold=0), curve([0.5, 0.6], reg=1.0, fold=1)])
    arguments = {"value": "risk", "over": "iteration", "by": ["reg"], "limit": 1, "slack": 0.15}
    holds, measured = checks.peaks_within(frame, **arguments, spread={"over": ["fold"]})
    half = half_width([0.2, 0.1])
    assert holds
    assert f"by 0.15 (95 % interval {0.15 - half:.4g} to {0.15 + half:.4g}, 2 test" in measured


def test_within_at_least_at_most():
    frame = pd.DataFrame({"auc": [0.6, 0.7]})
    assert checks.within(frame, value="auc", target=0.66, tolerance=0.02)[0]
    assert not checks.within(frame, value="auc", target=0.68, tolerance=0.02)[0]
    assert checks.at_least(frame, value="auc", bound=0.6)[0]
    assert not checks.at_least(frame, value="auc", bound=0.61)[0]
    frame["dataset"] = ["e", "davis"]
    repeated = pd.concat([frame, frame.assign(auc=[0.8, 0.5])])
    holds, measured = checks.at_least(repeated, value="auc", bound=0.6, by=["dataset"])
    assert (holds, measured) == (True, "smallest 0.6, bound 0.6 (dataset davis)")
    assert not checks.at_least(repeated, value="auc", bound=0.6)[0]
    assert checks.at_most(frame, value="auc", bound=0.7)[0]
    assert not checks.at_most(frame, value="auc", bound=0.69)[0]


def test_reaches_and_mostly_at_least():
    frame = pd.DataFrame({"ratio": [0.5, 1.0, 2.0, None]})
    assert checks.reaches(frame, value="ratio", bound=2)[0]
    assert not checks.reaches(frame, value="ratio", bound=2.1)[0]
    assert checks.mostly_at_least(frame, value="ratio", bound=1, share=0.5) == (
        True,
        "2 of 4 rows; 1 rows without a number",
    )
    assert not checks.mostly_at_least(frame, value="ratio", bound=1, share=0.51)[0]


def test_agrees_ignores_what_was_not_printed():
    frame = pd.DataFrame(
        {
            "dataset": ["Ki", "IC", "E"],
            "ours": [1, 2, 9],
            "paper": [1, 4, None],
            "source": "mirror",
        }
    )
    frame["±"] = [0.1, 0.25, np.nan]
    assert checks.agrees(frame, tolerance=2)[0]
    assert "2 ± 0.25 of 2" in checks.agrees(frame, tolerance=2, interval="±")[1]
    with pytest.raises(checks.NotMeasured, match="nothing is printed"):
        checks.agrees(frame[frame["dataset"] == "E"], tolerance=1)
    holds, measured = checks.agrees(frame, tolerance=1)
    assert not holds
    assert measured == "largest difference 2 of 2 numbers (IC)"


@pytest.mark.parametrize(("bound", "holds"), [(0.1, True), (0.3, False)])
def test_gain(bound, holds):
    frame = pd.DataFrame(
        {
            "dataset": ["Ki", "Ki", "IC", "IC"],
            "inner": [10, 100, 10, 100],
            "auc": [0.5, 0.7, 0.5, 0.9],
        }
    )
    result = checks.gain(
        frame, value="auc", between="inner", low=10, high=100, by=["dataset"], bound=bound
    )
    assert result == (holds, "smallest gain 0.2 (one split: no spread) (dataset Ki)")


def test_gain_compares_best_values_of_groups_that_have_both():
    frame = pd.DataFrame(
        {
            "inner": [10, 10, 100, 100, 10],
            "iteration": [1, 2, 1, 2, 1],
            "reg": [1, 1, 1, 1, 2],
            "auc": [0.5, 0.75, 0.6875, 0.5625, 0.125],
        }
    )
    arguments = {"value": "auc", "between": "inner", "low": 10, "high": 100, "by": ["reg"]}
    nothing = "(one split: no spread) (reg 1)"
    assert checks.gain(frame, **arguments, bound=0) == (True, f"smallest gain 0 {nothing}")
    holds, measured = checks.gain(frame, **arguments, over="iteration", bound=0)
    assert (holds, measured) == (False, f"smallest gain -0.0625 {nothing}")
    with pytest.raises(checks.NotMeasured, match="no group has both 10 and 100"):
        checks.gain(frame[frame["reg"] == 2], **arguments, bound=0)


def test_close_is_about_both_signs():
    frame = pd.DataFrame(
        {
            "size": [1, 1, 2, 2],
            "method": ["KK", "TS", "KK", "TS"],
            "auc": [0.5, 0.625, 0.75, 0.5],
        }
    )
    arguments = {"value": "auc", "between": "method", "low": "KK", "high": "TS", "by": ["size"]}
    found = checks.close(frame, **arguments, tolerance=0.25)
    assert found == (True, "largest difference -0.25 (one split: no spread) (size 2)")
    assert not checks.close(frame, **arguments, tolerance=0.2)[0]
    assert checks.close(frame[frame["size"] == 1], **arguments, tolerance=0.125)[0]
    with pytest.raises(checks.NotMeasured, match="no group has both"):
        checks.close(frame[frame["method"] == "KK"], **arguments, tolerance=1)


def test_leads():
    frame = pd.DataFrame(
        {
            "dataset": ["Ki", "Ki", "E", "E", "E"],
            "method": ["SVM", "KNN", "SVM", "KNN", "SGD"],
            "auc": [0.8, 0.7, 0.7, 0.72, 0.5],
        }
    )
    arguments = {"value": "auc", "among": "method", "leader": "SVM", "by": ["dataset"]}
    holds, measured = checks.leads(frame, **arguments)
    assert not holds
    assert measured == "smallest lead -0.02 (one split: no spread) (over KNN; dataset E)"
    assert checks.leads(frame, **arguments, slack=0.03)[0]
    with pytest.raises(checks.NotMeasured, match="there is no SVM beside another"):
        checks.leads(frame[frame["method"] == "KNN"], **arguments)


def test_leads_at_the_best_position_of_each():
    rising, falling = curve([0.5, 0.8], reg=1.0), curve([0.79, 0.3], reg=2.0)
    frame = pd.concat([rising, falling]).assign(dataset="Ki")
    arguments = {"value": "risk", "among": "reg", "leader": 1.0, "by": ["dataset"]}
    assert checks.leads(frame, **arguments, over="iteration")[0]
    # where each is best: 0.8 and 0.79
    assert not checks.leads(frame, **arguments, over="iteration", slack=-0.02)[0]


def test_led_asks_for_one_that_is_ahead():
    frame = pd.DataFrame(
        {
            "dataset": ["Ki"] * 3 + ["E"] * 2,
            "method": ["SVM", "KNN", "SGD", "KNN", "SGD"],
            "auc": [0.8, 0.7, 0.5, 0.72, 0.7],
        }
    )
    arguments = {"value": "auc", "among": "method", "name": "KNN", "by": ["dataset"]}
    assert checks.led(frame[frame["dataset"] == "Ki"], **arguments)[0]
    holds, measured = checks.led(frame, **arguments)
    assert not holds
    assert measured == ("smallest lead over it -0.02 (one split: no spread) (by SGD; dataset E)")
    assert checks.led(frame, **arguments, slack=0.03)[0]
    with pytest.raises(checks.NotMeasured, match="there is no KNN beside another"):
        checks.led(frame[frame["method"] == "SVM"], **arguments)


def test_level_is_the_range_of_the_means():
    frame = pd.DataFrame(
        {"reg": [1, 2, 4] * 2, "fold": [0] * 3 + [1] * 3, "auc": [0.6, 0.7, 0.5, 0.7, 0.6, 0.8]}
    )
    arguments = {"value": "auc", "over": "reg", "by": []}
    # single folds differ by more than the means 0.65, 0.65 and 0.65
    assert checks.level(frame, **arguments, bound=1e-9, spread={"over": ["fold"]})[0]
    holds, measured = checks.level(frame[frame["fold"] == 1], **arguments, bound=0.1)
    assert not holds
    assert measured.startswith(
        "largest difference 0.2 (one split: no spread), between reg 4 and 2"
    )
    with pytest.raises(checks.NotMeasured, match="fewer than two values of reg"):
        checks.level(frame[frame["reg"] == 1], **arguments, bound=1)


def test_scales_fits_the_exponent_of_each_curve():
    n = [10, 20, 40]
    frame = pd.concat(
        pd.DataFrame({"method": name, "n": n, "seconds": [size**power for size in n]})
        for name, power in (("line", 1), ("square", 2))
    )
    arguments = {"value": "seconds", "over": "n", "by": ["method"]}
    assert checks.scales(frame, **arguments, low=0.9, high=2.1) == (
        True,
        "exponent 1.00 (method line); 2.00 (method square)",
    )
    assert not checks.scales(frame, **arguments, low=0.9, high=1.9)[0]
    with pytest.raises(checks.NotMeasured, match="fewer than two values of n"):
        checks.scales(frame[frame["n"] == 10], **arguments, low=0, high=3)


def ratios():
    return pd.DataFrame(
        {
            "method": ["fast", "fast", "fast", "slow", "slow"],
            "n": [10, 20, 40, 10, 20],
            "seconds": [1.0, 2.0, 4.0, 10.0, 80.0],
        }
    )


RATIO = {"value": "seconds", "between": "method", "slow": "slow", "fast": "fast"}


def test_ratio_at_the_largest_size_that_both_have():
    frame, arguments = ratios(), RATIO | {"at_largest": "n"}
    holds, measured = checks.ratio(frame, **arguments, bound=40)
    assert (holds, measured) == (True, "80 against 2 at n 20: ratio 40, bound 40")
    assert not checks.ratio(frame, **arguments, bound=41)[0]
    with pytest.raises(checks.NotMeasured, match="no n has both slow and fast"):
        checks.ratio(frame[frame["n"] == 40], **arguments, bound=1)


def test_ratio_in_each_group_with_the_range_of_the_repeats():
    frame = ratios().assign(seconds_low=lambda rows: rows["seconds"] / 2)
    frame["seconds_high"] = 2 * frame["seconds"]
    holds, measured = checks.ratio(frame, **RATIO, by=["n"], bound=11)
    assert not holds
    assert measured == "10 against 1: ratio 10 (repeats 2.5 to 40), bound 11 (n 10)"
    assert checks.ratio(frame, **RATIO, by=["n"], bound=10)[0]


def test_only_the_rows_that_a_verdict_rests_on_are_read():
    rows = checks.ratio.rows_read(ratios(), **RATIO, at_largest="n", bound=1)
    assert rows["seconds"].tolist() == [80.0, 2.0]
    # a number that is not finite elsewhere does not matter
    frame = ratios()
    frame.loc[frame["n"] == 10, "seconds"] = np.nan
    assert checks.ratio(frame, **RATIO, at_largest="n", bound=40)[0]


def test_vanishing_is_of_size_not_of_sign():
    frame = pd.DataFrame({"method": ["a", "b"], "residual": [1e-12, -2.0]})
    assert checks.vanishes(frame, value="residual", tolerance=1e-9) == (
        False,
        "largest 2, bound 1e-09 (b)",
    )
    assert checks.vanishes(frame[:1], value="residual", tolerance=1e-9)[0]
    assert not checks.nowhere_vanishes(frame, value="residual", tolerance=1e-9)[0]
    assert checks.nowhere_vanishes(frame[1:], value="residual", tolerance=1e-9)[0]


def paired(gains, spoiled=0.3):
    """Two methods on folds of very different difficulty."""
    folds = np.arange(len(gains))
    base = 0.5 + spoiled * (folds % 3)
    sides = [("old", base), ("new", base + np.asarray(gains))]
    return pd.concat(
        pd.DataFrame({"method": name, "fold": folds, "auc": auc, "dataset": "Ki"})
        for name, auc in sides
    )


PAIRED = {"value": "auc", "between": "method", "low": "old", "high": "new", "by": ["dataset"]}
FOLDS = {"over": ["fold"], "test_over_train": 0.25}


def test_an_interval_is_that_of_paired_differences():
    gains = [0.01, 0.02, 0.03, 0.02]
    holds, measured = checks.gain(paired(gains), **PAIRED, bound=0.02 - 1e-12, spread=FOLDS)
    half = half_width(gains, 0.25)
    expected = f"0.02 (95 % interval {0.02 - half:.4g} to {0.02 + half:.4g}, 4 test sets)"
    assert (holds, measured) == (True, f"smallest gain {expected} (dataset Ki)")
    # the folds' own differences, thirty times as large, have cancelled
    assert half < 0.02


def test_a_mean_decides_and_significance_is_asked_for():
    wide = paired([0.3, -0.2])
    assert checks.gain(wide, **PAIRED, bound=0, spread=FOLDS)[0]
    assert not checks.gain(wide, **PAIRED, bound=0, spread=FOLDS, significant=True)[0]
    # a wide interval makes nothing hold that the means contradict
    assert not checks.gain(paired([-0.3, 0.2]), **PAIRED, bound=0, spread=FOLDS)[0]
    sure = paired([0.02, 0.021, 0.019])
    assert checks.gain(sure, **PAIRED, bound=0, spread=FOLDS, significant=True)[0]
    with pytest.raises(checks.NotMeasured, match="one split: no spread"):
        checks.gain(paired([0.3]), **PAIRED, bound=0, spread=FOLDS, significant=True)


def test_only_folds_that_both_have_are_compared():
    frame = paired([0.1, 0.1, 0.1])
    frame = frame[(frame["method"] == "new") | (frame["fold"] == 1)]
    holds, measured = checks.gain(frame, **PAIRED, bound=0.1 - 1e-12, spread=FOLDS)
    assert holds
    assert measured == "smallest gain 0.1 (one split: no spread) (dataset Ki)"


def test_a_share_of_the_groups():
    frame = pd.concat(
        paired([gain]).assign(dataset=name) for name, gain in (("a", 0.1), ("b", -0.1))
    )
    assert checks.gain(frame, **PAIRED, bound=0, share=0.5)[0]
    assert not checks.gain(frame, **PAIRED, bound=0, share=0.51)[0]
    assert not checks.gain(frame, **PAIRED, bound=0)[0]
