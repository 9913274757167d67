import pandas as pd
import pytest

from kronbench.report import checks


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
        "2 of 4 rows",
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
    assert checks.agrees(frame, tolerance=2)[0]
    holds, measured = checks.agrees(frame, tolerance=1)
    assert not holds
    assert measured == "largest difference 2 of 2 numbers (IC, mirror)"


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
    assert result == (holds, "smallest gain 0.2 (dataset Ki)")


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
    assert checks.gain(frame, **arguments, bound=0) == (True, "smallest gain 0 (reg 1)")
    holds, measured = checks.gain(frame, **arguments, over="iteration", bound=0)
    assert (holds, measured) == (False, "smallest gain -0.0625 (reg 1)")
    with pytest.raises(checks.NotMeasured, match="no group has both 10 and 100"):
        checks.gain(frame[frame["reg"] == 2], **arguments, bound=0)


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
    assert (holds, measured) == (False, "smallest lead over the next -0.02 (dataset E)")
    assert checks.leads(frame, **arguments, slack=0.03)[0]
    with pytest.raises(checks.NotMeasured, match="there is no SVM"):
        checks.leads(frame[frame["method"] == "KNN"], **arguments)


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


def test_ratio_at_the_largest_size_that_both_have():
    frame = pd.DataFrame(
        {
            "method": ["fast", "fast", "fast", "slow", "slow"],
            "n": [10, 20, 40, 10, 20],
            "seconds": [1.0, 2.0, 4.0, 10.0, 80.0],
        }
    )
    arguments = {"value": "seconds", "over": "n", "between": "method"}
    arguments |= {"slow": "slow", "fast": "fast"}
    holds, measured = checks.ratio_at_largest(frame, **arguments, bound=40)
    assert (holds, measured) == (True, "80 against 2 at n 20: ratio 40, bound 40")
    assert not checks.ratio_at_largest(frame, **arguments, bound=41)[0]
    with pytest.raises(checks.NotMeasured, match="no n has both slow and fast"):
        checks.ratio_at_largest(frame[frame["n"] == 40], **arguments, bound=1)
