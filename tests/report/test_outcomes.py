"""Groups lose no row, repeats are paired, and the whole interval decides: one slack, and many."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from kronbench.intervals import half_width, interval_factor
from kronbench_suite.report.outcomes import Slack, by_repeat, outcome, paired, stated, table

SPREAD = {"over": ["fold"], "test_over_train": 0.25}
HOLDS, UNDECIDED, CONTRADICTED = "holds", "undecided", "contradicted"
# dyadic numbers, whose sums and multiples by powers of two have no rounding
dyadic = st.integers(-512, 512).map(lambda k: k / 64)
repeats = st.lists(dyadic, min_size=2, max_size=9).map(pd.Series)


SLACKS = {
    HOLDS: Slack(2, 1, 3, 7),
    UNDECIDED: Slack(0, -1, 1, 7),
    CONTRADICTED: Slack(-2, -3, -1, 7),
}


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.0, 0.2, HOLDS),  # it touches the bound from the claimed side
        (-np.nextafter(0, 1), 0.2, UNDECIDED),
        (-0.2, 0.0, UNDECIDED),  # and from the other
        (-0.2, -np.nextafter(0, 1), CONTRADICTED),
        (-np.inf, np.inf, UNDECIDED),
        (np.nan, np.nan, CONTRADICTED),
    ],
)
def test_the_whole_interval_is_on_one_side_or_nothing_is_decided(low, high, verdict):
    middle = 1.0 if np.isinf(high) else (low + high) / 2
    assert Slack(middle, low, high).verdict == verdict


def test_without_chance_the_number_decides_and_one_split_decides_nothing():
    assert Slack.of(pd.Series([0.1, 0.9]), -1e-9, None).verdict == CONTRADICTED
    assert Slack.of(pd.Series([0.1, 0.9]), -1e-9, None).miss == 0
    for distance in (-100.0, 0.0, 100.0):
        assert Slack.of(pd.Series([0.5]), distance, SPREAD).verdict == UNDECIDED
    assert Slack.of(pd.Series([0.5, 0.5]), 0.0, SPREAD).verdict == HOLDS


@given(repeats, dyadic)
def test_the_repeats_needed_would_decide_and_no_fewer(values, distance):
    found = Slack.of(values, distance, SPREAD)
    if found.verdict != UNDECIDED or np.isinf(found.needed):
        return
    deviation, count = values.std(ddof=1), int(found.needed)
    assert count > len(values)
    assert interval_factor(count, 0.25) * deviation <= abs(distance)
    assert interval_factor(count - 1, 0.25) * deviation > abs(distance)


def found(margins, share=1.0):
    return outcome([(margin, name, None) for name, margin in margins.items()], share)


@given(st.lists(st.sampled_from([HOLDS, UNDECIDED, CONTRADICTED]), min_size=1, max_size=6),
       st.sampled_from([0.25, 0.5, 0.6, 1.0]))  # fmt: skip
def test_a_share_is_decided_where_the_undecided_groups_cannot_matter(sides, share):
    verdict = found({str(i): SLACKS[side] for i, side in enumerate(sides)}, share).verdict
    ends = {  # all ways in which the undecided ones can end
        sum(end) >= share * len(sides)
        for end in itertools.product(
            *({HOLDS: [1], CONTRADICTED: [0], UNDECIDED: [0, 1]}[side] for side in sides)
        )
    }
    assert verdict == {(True,): HOLDS, (False,): CONTRADICTED}.get(tuple(ends), UNDECIDED)


def test_the_group_that_decides_is_named():
    margins = {
        "sure": Slack(5, 4, 6),
        "near": Slack(1, 0.5, 1.5),
        "open": Slack(0.2, -1, 1.4, 9),
        "far": Slack(-3, -4, -2),
    }
    assert found(margins).measured == "far"
    del margins["far"]
    assert found(margins).measured == "open; about 9 repeats would decide it"
    del margins["open"]
    held = found(margins)
    assert (held.verdict, held.measured) == (HOLDS, "near")
    assert found({"none": Slack.exact(np.nan)}).verdict == CONTRADICTED


def test_the_chance_of_a_share_is_that_of_too_many_misses():
    def chance(groups, share):
        return found({str(i): Slack(1, 0, 2, miss=0.025) for i in range(groups)}, share).chance

    assert chance(20, 1.0) == 0.025  # shared among all
    assert chance(20, 0.5) == pytest.approx(stats.binom.sf(10, 20, 0.025))
    assert chance(3, 0.6) == pytest.approx(stats.binom.sf(1, 3, 0.025))
    assert found({"": Slack.exact(1)}).chance == 0


ONE_SPLIT = Slack(1, -np.inf, np.inf)


@pytest.mark.parametrize(
    ("margins", "text"),
    [
        ([Slack(1, -1, 3, 40), Slack(1, -2, 4, 1200)], "about 1,200 repeats would decide it"),
        ([Slack(1, -1, 3, 40), ONE_SPLIT], "a second split would tell its chance"),
        (
            [Slack(1, -1, 3, np.inf)],
            "no number of repeats of such splits would decide it: repetitions of the protocol "
            "would, for these data",
        ),
        ([Slack(1, -1, 3, 40), Slack(5, 4, 6, 2)], "about 40 repeats would decide it"),
    ],
)  # fmt: skip
def test_an_undecided_claim_says_what_would_decide_it(margins, text):
    open_one = outcome([(margin, "measured", None) for margin in margins])
    assert (open_one.verdict, open_one.measured) == (UNDECIDED, f"measured; {text}")


FOLDS = {"over": ["fold"]}


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
