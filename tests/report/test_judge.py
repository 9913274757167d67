"""Claims judged on the tables of a run: verdicts, causes, reasons, and what is not tested."""

import numpy as np
import pandas as pd
import pytest

from kronbench.intervals import half_width
from kronbench_suite.report import judge
from tests.helpers import seal
from tests.report.test_report import claim, curves, write_results

UNTESTED = "not tested"


def results(plan, name="figure-3", *, frame=None, source="mirror", **more):
    """Tables of an item, and the numbers that its picture would show: all of them."""
    item = plan.item("airola", name)
    frame = curves() if frame is None else frame
    write_results(item, frame, source=source, **more)
    rows = [frame.assign(dataset=part, source=source) for part in item.parts]
    pd.concat(rows).to_csv(item.output("csv"), index=False)
    seal(item.output("csv"))


def verdict(plan, entry, **more):
    """The verdict of an entry on curves of an AUC of 0.6."""
    results(plan, **more)
    (result,) = judge.judge_all([entry], plan)
    return result


def found(plan, entry, **more):
    result = verdict(plan, entry, **more)
    return result.verdict, result.cause, result.measured


WITHIN = {"kind": "within", "value": "auc", "tolerance": 0.01}


def test_a_claim_holds_or_is_contradicted_by_its_numbers(plan):
    assert found(plan, claim(**WITHIN, target=0.6)) == ("holds", "", "0.6 against 0.6 ± 0.01")
    assert found(plan, WRONG) == ("contradicted", "unknown", f"{MEASURED}; cause unknown")
    assert verdict(plan, WRONG).chance == 0


@pytest.mark.parametrize(
    ("again", "expected", "remark"),
    [
        ([None] * 2, "holds", ""),
        (
            [0.605, None],
            "holds",
            "; the same with sums in another order, which moves 80 of the rows",
        ),
        (
            [0.8, None],
            "undecided",
            ", but with sums in another order 0.7 against 0.6 ± 0.01: rounding decides",
        ),
    ],
)
def test_a_verdict_that_another_order_of_sums_changes_is_none(plan, again, expected, remark):
    frame = curves()
    halves = np.resize(again, len(frame)).astype(float)
    measured = found(plan, claim(**WITHIN, target=0.6), frame=frame.assign(auc_reversed=halves))
    assert (measured[0], measured[2]) == (expected, "0.6 against 0.6 ± 0.01" + remark)
    if again[0] == 0.8:  # nor is a contradiction
        right = claim(**WITHIN, target=0.7)
        measured = found(plan, right, frame=frame.assign(auc_reversed=halves))
        assert measured[0] == "undecided"


def test_a_number_that_is_not_finite_is_no_matter_of_rounding(plan):
    frame = curves().assign(auc_reversed=0.7)
    frame.loc[frame.index[0], "auc"] = np.nan
    assert found(plan, claim(**WITHIN, target=0.7), frame=frame)[0] == "contradicted"


WRONG = claim(**WITHIN, target=0.7)
MEASURED = "0.6 against 0.7 ± 0.01"


def because(**shown_by):
    """A reason; three rows of the largest risks, unless others are named."""
    shown_by = {"where": "iteration == 1 and reg == 1", "value": "risk"} | shown_by
    return WRONG | {"because": {"cause": "setting", "text": "It stops.", "shown_by": shown_by}}


@pytest.mark.parametrize(
    ("shown_by", "shown"),
    [
        ({"where": "iteration == 1"}, "risk: 10"),  # equal ones are told once
        ({"where": "iteration in (1, 2, 4, 5)"}, "risk: 10, 5, 2.5, 2"),
        ({"where": "iteration <= 5"}, "risk: 2 to 10, 40 rows"),
        (
            {"where": "iteration in (1, 2)", "by": "iteration"},
            "mean risk by iteration: 1 10, 2 5",
        ),
        ({"item": "figure-4", "where": "reg == 1", "value": "auc"}, "auc: 0.75"),
        ({"where": "reg == 1", "reads": "measurements", "value": "peak_mib"}, "peak_mib: 1"),
    ],
)
def test_a_reason_is_said_with_the_numbers_that_show_it(plan, shown_by, shown):
    results(plan, "figure-4", frame=curves(auc=0.75))
    text = f"{MEASURED}; It stops. ({shown_by.get('item', 'figure-3')}, {shown})"
    assert found(plan, because(**shown_by)) == ("contradicted", "setting", text)


@pytest.mark.parametrize(
    "shown_by",
    [{"where": "reg == 1024"}, {"value": "deviation"}, {"where": "deviation > 0"}],
    ids=["rows", "column", "column of the query"],
)
def test_a_reason_that_no_row_shows_here_is_not_said(plan, shown_by):
    text = f"{MEASURED}; cause unknown: no row of figure-3 shows it at this scale"
    assert found(plan, because(**shown_by)) == ("contradicted", "unknown", text)


TIMES = pd.DataFrame(
    {"dataset": ["Ki", "Ki", "E", "E"], "method": ["slow", "fast"] * 2, "source": "mirror"}
)
SPEED = {"value": "seconds", "between": "method", "slow": "slow", "fast": "fast"}


@pytest.mark.parametrize(
    ("seconds", "busy", "expected"),
    [
        ([30, 1, 30, 1], [1, 0, 1, 0], "holds"),  # 30 / 2.5 is above the bound
        ([24, 1, 30, 1], [1, 0, 1, 0], UNTESTED),
        ([30, 1, 30, 1], [0, 1, 1, 0], "holds"),
        ([24, 1, 30, 1], [1, 1, 0, 0], UNTESTED),
        ([1, 1, 30, 1], [0, 1, 0, 0], "contradicted"),  # 2.5 is below it
        ([5, 1, 30, 1], [0, 1, 0, 0], UNTESTED),
        ([24, 1, 5, 1], [1, 0, 0, 0], "contradicted"),  # by the calm group alone
    ],
)
def test_a_busy_row_counts_where_no_load_explains_the_verdict(seconds, busy, expected):
    rows = TIMES.assign(seconds=seconds, busy=[bool(row) for row in busy])
    entry = claim(kind="ratio", by=["dataset"], bound=10, **SPEED) | {"timing": True}
    found = judge.judge(entry, rows, "smoke", waiting=0.2)  # 2 / (1 - 0.2) = 2.5
    assert found.verdict == expected
    assert ("at most 2.5 times" in found.measured) == (expected != UNTESTED)
    # as a quotient of times in one column, which load may make too small as well
    quotient = pd.Series(seconds[::2], dtype=float) / seconds[1::2]
    rows = pd.DataFrame({"dataset": ["Ki", "E"], "source": "mirror", "speed": quotient})
    rows["busy"] = [any(busy[:2]), any(busy[2:])]
    check = claim(kind="at_least", value="speed", bound=10)
    entry = check | {"timing": True}
    assert judge.judge(entry, rows, "smoke", waiting=0.2).verdict == expected
    # without a record of the waiting, only calm rows count
    found = judge.judge(entry, rows, "smoke")
    assert (found.verdict, found.measured) == (UNTESTED, "the machine was busy")
    # nor does it matter how busy other rows were, or all of them for what is no time
    calm = claim(kind="at_least", value="speed", bound=0, where="not busy") | {"timing": True}
    assert judge.judge(calm, rows.assign(busy=[False, True]), "smoke").verdict == "holds"
    untimed = "holds" if quotient.min() >= 10 else "contradicted"
    assert judge.judge(check, rows, "smoke").verdict == untimed


def test_a_claim_over_draws_tells_the_verdict_for_new_data_beside_its_own(rng):
    rows = pd.DataFrame(
        {"repetition": range(10), "source": "mirror", "dataset": "Ki",
         "auc": 0.6 + 0.05 * rng.standard_normal(10)}
    )  # fmt: skip
    entry = claim(
        kind="at_least", value="auc", bound=0.57, spread={"over": ["repetition"], "new_data": 0.25}
    )  # fmt: skip
    found = judge.judge(entry, rows, "smoke")
    wide = half_width(rows["auc"], 0.25)  # corrected for the points that repetitions share
    mean = rows["auc"].mean()
    assert found.verdict == "holds"
    assert f"for new data undecided: smallest {mean:.4g} (95 % interval {mean - wide:.4g}" in (
        found.measured
    )
    assert "10 repetitions)" in found.measured


def test_a_claim_on_missing_rows_or_surrogates_is_not_tested(plan):
    entry = claim(**WITHIN, target=0.6, where="reg == 1024")
    assert verdict(plan, entry).verdict == UNTESTED
    entry = claim(**WITHIN, target=0.7) | {"not_at": [plan.scale]}
    sizes = f"the sizes of scale '{plan.scale}' are too small for it"
    assert found(plan, entry) == (UNTESTED, "", sizes)
    entry = claim(**WITHIN, target=0.6)
    result = verdict(plan, entry, source="surrogate")
    assert (result.verdict, result.measured) == (UNTESTED, "surrogate data: E, GPCR, IC, Ki")
    assert result.surrogate


@pytest.mark.parametrize(
    ("where", "lacking"),
    [
        ("dataset in ('Ki', 'Checker+', 'E')", "Checker+"),
        ("dataset == 'Ki' and reg in (1, 2, 4)", "2, 4"),
        ("reg == 1 or reg == 7", "7"),
    ],
)
def test_a_claim_needs_every_value_that_it_names(plan, where, lacking):
    entry = claim(kind="at_least", value="auc", bound=0, where=where)
    assert found(plan, entry) == (UNTESTED, "", f"without {lacking}")


OTHER = {"airola": "a later release of the labels"}


def test_a_claim_of_the_paper_on_other_data_is_not_tested(plan):
    entry = claim(**WITHIN, target=0.7)
    text = "other data: Ki: a later release of the labels"
    assert found(plan, entry, other_data=OTHER) == (UNTESTED, "", text)
    # it is other data for one paper, not for all
    assert verdict(plan, entry, other_data={"stock": "none"}).verdict == "contradicted"
    # and what we say of them ourselves is judged
    ours = entry | {"whose": "ours"}
    assert verdict(plan, ours, other_data=OTHER).verdict == "contradicted"


@pytest.mark.parametrize(
    "check",
    [
        {"kind": "at_least", "bound": 0.65, "by": ["dataset"]},
        {"kind": "gain", "between": "reg", "low": 1, "high": 2, "by": ["dataset"], "bound": 0.1},
        {"kind": "beaten", "among": "reg", "name": 1, "by": ["dataset"]},
        {"kind": "leads", "among": "reg", "leader": 2, "by": ["dataset"]},
    ],
)
@pytest.mark.parametrize(
    ("column", "count", "text"),
    [
        ("on_edge", 1, "; 1 selection lies at an end of its grid"),
        ("on edge", 2, "; 2 selections lie at an end of their grid"),
        ("on_edge", np.nan, ""),
    ],
)
def test_selections_are_counted_over_the_rows_that_decide(check, column, count, text):
    """Ki decides: it has the smaller AUC, no other leads; three selections of E say nothing."""
    frame = pd.DataFrame(
        {
            "dataset": ["Ki", "Ki", "E", "E"], "reg": [1, 2, 1, 2], "auc": [0.6, 0.6, 0.7, 0.9],
            column: [0, count, 1, 2], "source": "mirror",
        }
    )  # fmt: skip
    judged = judge.judge(claim(value="auc", **check), frame, "smoke")
    assert judged.measured.endswith(f"dataset Ki){text}")


def test_a_claim_may_compare_items(plan):
    part = plan.item("airola", "figure-4").parts[0]
    results(plan, "figure-4", frame=curves(auc=0.7))
    entry = claim(
        kind="gain", value="auc", between="item", low="figure-3", high="figure-4",
        by=["dataset", "reg"], bound=0.09,
        where=f"dataset == '{part}'",
    ) | {"also": ["figure-4"]}  # fmt: skip
    result = verdict(plan, entry)
    assert result.verdict == "holds", result.measured
    assert result.measured.startswith("smallest gain 0.1 ")
    # other data behind one of them are other data
    results(plan, "figure-4", frame=curves(auc=0.7), other_data=OTHER)
    assert verdict(plan, entry).verdict == UNTESTED


RIGHT_AND_WRONG = {"right": {"holds": 2}, "wrong": {"contradicted": 2}}


@pytest.mark.parametrize(
    ("check", "alone"),
    [
        ({"kind": "one_more_repetition", "names": ["a", "b"], "repeats": "repetitions"}, "a"),
        ({"kind": "matches_printed", "tolerance": 0.05}, "a"),
        # ours are nearer to the wrong numbers than so much
        ({"kind": "matches_printed", "tolerance": 0.25}, None),
    ],
)
def test_the_control_judges_right_and_wrong_numbers_of_each_claim(plan, monkeypatch, check, alone):
    """Wrong ones may stand beside the rows of a claim; what a claim lacks here is no control."""
    rows = pd.DataFrame(
        {"dataset": "Ki", "method": ["a", "b"], "ours": [0.7, 0.9], "±": 0.01, "repetitions": 10,
         "paper": [0.7, 0.9], "source": "mirror"}
    )  # fmt: skip
    monkeypatch.setattr(judge, "rows_of", lambda claim, plan: rows)
    check |= {"among": "method", "by": ["dataset"], "interval": "±"}
    found = judge.control([claim(**check)], plan)
    if alone is None:
        assert found[check["kind"]]["wrong"] == {"holds": 2}
        return
    assert found == {check["kind"]: RIGHT_AND_WRONG}
    assert judge.control([claim(**check, where="dataset == 'E'")], plan) == {}
    if "names" not in check:  # its other method is not among its rows
        one = judge.control([claim(**check, where="method == 'a'")], plan)[check["kind"]]
        assert one == {"right": {"holds": 1}, "wrong": {"contradicted": 1}}
